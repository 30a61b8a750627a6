"""What type inference knows of unannotated torch code: annotated releases, stripped, and asked back.

    python tests/benchmarks/kinds.py --engine names                           the ten annotated releases below
    python tests/benchmarks/kinds.py --engine ty --engine pyright --environments DIR --torch venv
    python tests/benchmarks/kinds.py sbi==0.27.0 path/to/package --files 40 --seed 1
    python tests/benchmarks/kinds.py --findings                               findings that remain without annotations
    ... --docstrings keep --json kinds.json --answers answers.jsonl

Parameter and return annotations say what is true (typed/annotation.py: tensor, tensors, module, device, host); then all
annotations and comments are taken away, and with ``--docstrings strip`` the docstrings. An engine says what each
parameter and each result is. Recall is over the places of a kind, precision over the claims of a kind; a place whose
annotation does not tell, or contradicts another one (typed/contradictions.py), counts for neither. An engine that tells
certain claims from conventional ones has more lines: the certain ones alone. ``--torch`` is a virtual environment with
torch, whose packages the engines may import; without it they have their own, bare one. ``--files N``: only so many
drawn files of a release are asked about, with the whole release around them. What an engine has to be is told in
typed/engine.py. ``--answers`` writes each place with what it is and what was claimed, for those who look for causes.

``--findings`` asks no engine: it lints each release with its annotations and without them, and counts the default
findings that remain, by rule and line (typed/remaining.py). It prints those that are lost and those that are new.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from downloads import DEFAULT_CACHE, checked_cache
from linting import linted_files
from mutants import release_of
from typed.annotation import KINDS, Kind
from typed.checkers import PyreflyInfer, Pyright, Ty, is_module_of
from typed.definitions import Place
from typed.engine import ByParameterName, Engine, Graded, Score, added, asked_truth, scores
from typed.interpreters import Interpreter
from typed.places import read_files, stripped, typed
from typed.remaining import Remaining, remaining

ANNOTATED = {
    "torchmetrics": "1.9.0",
    "torchtune": "0.6.1",
    "anomalib": "2.7.0",
    "lightly": "1.6.0",
    "sbi": "0.27.0",
    "deepinv": "0.5.0",
    "torchjd": "0.18.0",
    "tensordict": "0.15.3",
    "sentence-transformers": "6.2.0",
    "pytorch-forecasting": "1.8.0",
}
"""Annotated releases, chosen before anything was measured on them; none is in releases.py."""


def engines(options: argparse.Namespace) -> Iterator[Engine]:
    """Those that were named."""
    environments = options.environments
    for name in options.engine:
        if name == "names":
            yield ByParameterName()
        elif name in ("ty", "pyright", "pyrefly", "jedi", "astroid"):
            if environments is None:
                raise SystemExit(f"--engine {name} needs --environments (see typed/checkers.py)")
            bare = environments / "bare"
            python = options.torch or bare
            if name in ("jedi", "astroid"):
                packages = next((python / "lib").glob("python*/site-packages"), None) if options.torch else None
                yield Interpreter(name, environments, packages, options.seconds)
            else:
                made = {"ty": Ty, "pyright": Pyright, "pyrefly": PyreflyInfer}[name]
                yield made(environments, python, options.seconds)
        else:
            try:
                yield from importlib.import_module(f"kinds_{name}").engines()
            except ModuleNotFoundError as error:
                raise SystemExit(f"--engine {name}: {error}") from None


def drawn(paths: list[str], count: int, seed: int) -> list[str]:
    """So many of the paths, the same for the same seed; all for 0."""
    order = sorted(paths, key=lambda path: hashlib.sha256(f"{seed}\0{path}".encode()).digest())
    return sorted(order[:count] if count else order)


def cpu_seconds() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


@dataclass
class Measured:
    """One engine over the releases so far."""

    engine: str
    wall: float = 0.0
    cpu: float = 0.0
    places: int = 0
    parameters: dict[Kind, Score] = field(default_factory=lambda: {kind: Score(0, 0, 0) for kind in KINDS})
    results: dict[Kind, Score] = field(default_factory=lambda: {kind: Score(0, 0, 0) for kind in KINDS})
    certain_parameters: dict[Kind, Score] = field(default_factory=lambda: {kind: Score(0, 0, 0) for kind in KINDS})
    certain_results: dict[Kind, Score] = field(default_factory=lambda: {kind: Score(0, 0, 0) for kind in KINDS})
    """Of the claims that rest on no convention, where the engine tells them apart."""

    @property
    def sides(self) -> dict[str, dict[Kind, Score]]:
        told = {"parameters": self.parameters, "results": self.results}
        if any(score.claimed for score in self.certain_parameters.values()):
            told |= {"  certain": self.certain_parameters, "  cert. res.": self.certain_results}
        return told


def measure(
    asked_engines: list[Engine], releases: list[tuple[str, Path]], options: argparse.Namespace
) -> list[Measured]:
    """Every engine over all releases."""
    measured = [Measured(engine.name) for engine in asked_engines]
    if options.answers:
        options.answers.write_text("", encoding="utf-8")
    for name, directory in releases:
        files = read_files(directory, linted_files(directory))
        known = typed(files)
        bare = {path: stripped(text, options.docstrings == "keep") for path, text in files.items()}
        told = {place.path for place in known.truth}
        asked = drawn([path for path in bare if path in told], options.files, options.seed)
        truth = asked_truth(known, asked)
        is_module_of(bare)
        for engine, one in zip(asked_engines, measured, strict=True):
            started, burnt = time.perf_counter(), cpu_seconds()
            claims = engine.infer(bare, asked)
            certain = engine.certain if isinstance(engine, Graded) else ()
            wall, cpu = time.perf_counter() - started, cpu_seconds() - burnt
            one.wall, one.cpu, one.places = one.wall + wall, one.cpu + cpu, one.places + len(truth)
            one.parameters = added(one.parameters, scores(truth, claims, results=False))
            one.results = added(one.results, scores(truth, claims, results=True))
            sure = {place: kind for place, kind in claims.items() if place in certain}
            one.certain_parameters = added(one.certain_parameters, scores(truth, sure, results=False))
            one.certain_results = added(one.certain_results, scores(truth, sure, results=True))
            if options.answers:
                write_answers(options.answers, {"engine": engine.name, "release": name}, truth, claims)
            size = f"{len(asked):4} files {len(truth):6} places {len(claims):6} claims"
            print(f"{engine.name:14} {name:28} {size} {wall:6.0f} s {cpu:6.0f} cpu s", file=sys.stderr, flush=True)
    return measured


def write_answers(
    file: Path, about: Mapping[str, str], truth: Mapping[Place, Kind], claims: Mapping[Place, Kind]
) -> None:
    """Appends a line of JSON for each place whose annotation tells a kind."""
    with file.open("a", encoding="utf-8") as out:
        for place, kind in truth.items():
            if kind != "mixed":
                out.write(json.dumps({**about, **place._asdict(), "is": kind, "claim": claims.get(place)}) + "\n")


def print_findings(releases: list[tuple[str, Path]], options: argparse.Namespace) -> None:
    """Of each release and in all: the findings with annotations, how many of them remain, and which do not."""
    found: dict[str, Remaining] = {}
    for name, directory in releases:
        files = read_files(directory, linted_files(directory))
        found[name] = one = remaining(files, options.docstrings == "keep")
        for sign, findings in (("-", one.lost), ("+", one.new)):
            for place in sorted(findings.elements()):
                print(f"{sign} {name} {place.path}:{place.line} {place.code}", flush=True)
    for name, own in [*((name, [one]) for name, one in found.items()), ("all", list(found.values()))]:
        annotated, both, new = (sum(count) for count in zip(*(_counts(one) for one in own), strict=True))
        print(f"{name:28} {annotated:5} findings, {both:5} remain ({100 * both / max(annotated, 1):5.1f} %), {new} new")


def _counts(one: Remaining) -> tuple[int, int, int]:
    return one.annotated.total(), one.both.total(), one.new.total()


def print_table(measured: list[Measured], torch: bool) -> None:
    """Precision and recall in per cent, with the number of places that are so."""
    print(f"{'engine':20} {'of':12} " + " ".join(f"{kind + ' P/R (n)':>19}" for kind in KINDS) + f" {'cpu s':>7}")
    for one in measured:
        name = one.engine + (" +torch" if torch else "")
        for side, of in one.sides.items():
            cells = " ".join(f"{_cell(of[kind]):>19}" for kind in KINDS)
            print(f"{name:20} {side:12} {cells} {one.cpu:7.0f}")


def _cell(score: Score) -> str:
    precision = "-" if score.precision is None else f"{100 * score.precision:.0f}"
    recall = "-" if score.recall is None else f"{100 * score.recall:.0f}"
    return f"{precision}/{recall} ({score.true})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="name==version, or a directory")
    parser.add_argument(
        "--engine", action="append", metavar="NAME", help="names, ty, pyrefly, pyright, jedi, astroid, ..."
    )
    parser.add_argument("--findings", action="store_true", help="count the findings that remain; no engine is asked")
    parser.add_argument("--environments", type=Path, metavar="DIR", help="where the engines are installed")
    parser.add_argument("--torch", type=Path, metavar="VENV", help="an environment with torch")
    parser.add_argument("--docstrings", choices=["strip", "keep"], default="strip")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="drawn files of each release [default: all]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=900.0, help="for one release [default: %(default)s]")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="every place with its answer, as lines of JSON")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    options = parser.parse_args()
    options.engine = options.engine or ["names"]
    cache = checked_cache(options.cache)
    given = options.releases or [f"{name}=={version}" for name, version in ANNOTATED.items()]
    releases = [release_of(one, cache) for one in given]
    if options.findings:
        print_findings(releases, options)
        return
    measured = measure(list(engines(options)), releases, options)
    if not any(one.places for one in measured):
        raise SystemExit("no file annotates anything")
    print_table(measured, options.torch is not None)
    if options.json:
        about = {"torch": options.torch is not None, "docstrings": options.docstrings, "files": options.files}
        options.json.write_text(
            json.dumps([about | asdict(one) for one in measured], indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
