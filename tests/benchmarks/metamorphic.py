"""Findings do not depend on how a program is written: rewritings that change nothing are linted beside the original.

    python -m tests.benchmarks.metamorphic [--generated 200] [--seed 0] [--minutes M] [--keep DIRECTORY]
    python -m tests.benchmarks.metamorphic RELEASE_DIRECTORY_OR_FILE ... [--files 200]

Compared are the findings shown by default, by code, definition and the text of what is flagged. What a rewriting says
otherwise is told with the file; the table counts programs, findings, and those that went, came, or are told of another
expression. Where a rewriting makes definitions or files, their findings count as those of the definition that they were
a part of. What may change:

- by annotations as seen, or removed: findings may come, and others go (:mod:`tests.benchmarks.rewriting.annotating`);
- by helpers and a second file: a finding about two places in different definitions is told of the call between them, or
  has another code (DEV104 is of one definition, DEV405 of two), and DEV308 asks whether *this* definition reads its
  parameter;
- by no other rewriting anything.

Generated programs are run on the CPU as well, before and after: what they give is to be the same. A rewriting that
leaves its program as it was, and one of which the program runs otherwise, end the measure with an error.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from devlint.configuration.config import Configuration, Overrides
from devlint.finding import Finding
from devlint.pipeline.planning import Planner
from devlint.pipeline.workers import run as analyse
from devlint.server.buffer_tree import BufferTree
from tests.benchmarks.generating.files import batches
from tests.benchmarks.rewriting import annotating, extracting, running, splitting, texts, wrapping
from tests.benchmarks.rewriting.program import Program, Rewriting, Rewritten
from tests.benchmarks.rewriting.trees import TREES, of_trees

REWRITINGS: dict[str, Rewriting] = {
    "comments and blank lines": lambda program: Rewritten(texts.commented(program.text)),
    **{name: of_trees(name) for name in TREES},
    "wrapped in functions": wrapping.in_functions,
    "extracted helpers": extracting.extracted,
    "split in two files": splitting.split,
    "annotated as None": annotating.giving_nothing,
    "annotated as seen": annotating.observed,
    "annotations removed": annotating.without,
}

Said = Counter[tuple[str, str, str]]
"""Code, definition and flagged text of findings."""


class Otherwise(RuntimeError):
    """A rewriting is none: its program is the same text, or does something else."""


@dataclass
class Tally:
    programs: int = 0
    findings: int = 0
    gone: int = 0
    new: int = 0
    moved: int = 0
    """Those that went as one and came as another of the same code: told of another expression or definition."""
    codes: Counter[str] = field(default_factory=Counter)


def said_of(written: Rewritten, path: Path) -> Said:
    """What is found in a program at that path, its files beside it included."""
    files = {str(path.with_name(name)): text for name, text in {path.name: written.text, **written.beside}.items()}
    planner = Planner(Configuration(Overrides({}, None, isolated=True), Path.cwd()), Path.cwd(), ignore_noqa=False)
    tasks = [planner.task(name) for name in files]
    lines = {task.shown_as: files[task.path].splitlines() for task in tasks}
    tree = BufferTree({name: text.encode() for name, text in files.items()})
    return Counter(
        (finding.code, _original(finding.scope, written.scopes), _flagged(finding, lines[finding.place.path]))
        for report in analyse(tasks, 1, tree)
        for finding in report.findings
    )


def _original(scope: str, scopes: Mapping[str, str]) -> str:
    """The definition that a new one, or one inside of it, is a part of."""
    for new, old in scopes.items():
        if scope == new or scope.startswith(f"{new}."):
            return old + scope[len(new) :]
    return scope


_ALIASES = re.compile(r"_(here|q)\b")


def _flagged(finding: Finding, lines: list[str]) -> str:
    """The source that is flagged, on one line, under the names that it had."""
    place = finding.place
    found = lines[place.line - 1 : place.end_line]
    found[-1] = found[-1][: place.end_column - 1]
    found[0] = found[0][place.column - 1 :]
    flat = _ALIASES.sub("", " ".join(line.strip() for line in found))
    # A statement that is flagged as a whole has another beginning where its result got a name.
    return re.sub(r"^(return|_result =) ", "", flat)


def compare(program: Program, path: Path, tallies: dict[str, Tally]) -> Iterator[tuple[str, Rewritten, str]]:
    """Name of the rewriting, its text and what it changed, for each that changed anything.

    Raises Otherwise for a rewriting that is none.
    """
    original = Rewritten(program.text)
    plain = Program(texts.formatted(program.text), program.stem, program.in_package, program.runs)
    formatted = Rewritten(plain.text)
    before, as_formatted = said_of(original, path), said_of(formatted, path)
    if told := _counted(tallies.setdefault("formatting", Tally()), _unspaced(before), _unspaced(as_formatted)):
        yield "formatting", formatted, told
    came_of = running.run(plain) if plain.runs else []
    for name, rewrite in REWRITINGS.items():
        changed = rewrite(plain)
        if changed is None:
            continue
        check(name, plain, changed, came_of)
        after = said_of(changed, path)
        if told := _counted(tallies.setdefault(name, Tally()), as_formatted, after):
            yield name, changed, told


def check(name: str, program: Program, changed: Rewritten, came_of: list[str]) -> None:
    """Raises Otherwise where the changed program is the same text, or comes to anything but this."""
    if changed.text == program.text:
        raise Otherwise(f"{name}: {program.stem} is as it was")
    for text in (changed.text, *changed.beside.values()):
        ast.parse(text)
    if not program.runs:
        return
    now = running.run(Program(changed.text, program.stem, runs=program.runs), changed.beside)
    differ = [run for run, one, other in zip(program.runs, came_of, now, strict=True) if one != other]
    if differ:
        raise Otherwise(f"{name}: {program.stem} does something else: {'; '.join(differ)}")


def _unspaced(said: Said) -> Said:
    """By code and definition alone: parentheses and quotes are of the form."""
    return Counter((code, scope, "") for code, scope, _ in said.elements())


def _counted(tally: Tally, before: Said, after: Said) -> str:
    gone, new = before - after, after - before
    tally.programs += 1
    tally.findings += before.total()
    codes_gone, codes_new = (Counter(code for code, _, _ in said.elements()) for said in (gone, new))
    moved = codes_gone & codes_new
    tally.gone += (codes_gone - moved).total()
    tally.new += (codes_new - moved).total()
    tally.moved += moved.total()
    tally.codes.update(codes_gone | codes_new)
    return "; ".join([f"gone {key}" for key in gone] + [f"new {key}" for key in new])


def generated(count: int, seed: int) -> Iterator[tuple[Path, Program]]:
    """Programs with the file beside them in one text: what is imported from it stands above."""
    for name, batch in batches(seed, count, 5):
        main = "\n".join(line for line in batch.main.splitlines() if not line.startswith(("import ", "from ")))
        runs = tuple(run for unit in batch.units for run in unit.runs)
        yield Path(f"{name}.py").absolute(), Program(batch.apart + main + "\n", name, runs=runs)


def files(directories: list[Path], count: int, seed: int) -> Iterator[tuple[Path, Program]]:
    """So many files that name torch, drawn from directories; files that are named themselves are among them."""
    found = [
        path.absolute()
        for directory in directories
        for path in ([directory] if directory.is_file() else sorted(directory.rglob("*.py")))
    ]
    random.Random(seed).shuffle(found)
    for path in found:
        if count == 0:
            return
        text = path.read_text("utf-8", "replace")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        if "torch." in text and len(text) < 120_000:
            count -= 1
            yield path, Program(text, path.stem, path.with_name("__init__.py").exists())


def _kept(directory: Path, path: Path, program: Program, rewriting: str, changed: Rewritten) -> None:
    """Write both beside each other."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = f"{path.stem}_{rewriting.replace(' ', '_')}"
    (directory / f"{stem}.py").write_text(changed.text, "utf-8")
    (directory / f"{stem}_before.py").write_text(texts.formatted(program.text), "utf-8")
    for name, text in changed.beside.items():
        (directory / f"{stem}__{name}").write_text(text, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("releases", nargs="*", type=Path, metavar="RELEASE_DIRECTORY_OR_FILE")
    parser.add_argument("--generated", type=int, default=200, help="texts of five programs each")
    parser.add_argument("--files", type=int, default=200, help="files drawn of the directories")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0, help="stop then, and tell of what has run")
    parser.add_argument("--keep", type=Path, help="keep the rewritten texts there that changed something")
    options = parser.parse_args()
    started, tallies, tried = time.perf_counter(), dict[str, Tally](), 0
    programs = chain(generated(options.generated, options.seed), files(options.releases, options.files, options.seed))
    for path, program in programs:
        if options.minutes and time.perf_counter() - started > 60 * options.minutes:
            print(f"stopped after {options.minutes:g} min")
            break
        tried += 1
        for rewriting, changed, told in compare(program, path, tallies):
            print(f"{rewriting}: {path}: {told}", flush=True)
            if options.keep is not None:
                _kept(options.keep, path, program, rewriting, changed)
    print(f"{'rewriting':<26}{'programs':>9}{'findings':>9}{'gone':>6}{'new':>6}{'moved':>6}")
    for name, tally in tallies.items():
        codes = ", ".join(f"{code} {count}" for code, count in tally.codes.most_common(6))
        print(f"{name:<26}{tally.programs:>9}{tally.findings:>9}{tally.gone:>6}{tally.new:>6}{tally.moved:>6}  {codes}")
    print(f"{tried} texts, {time.perf_counter() - started:.0f} s, seed {options.seed}")


if __name__ == "__main__":
    main()
