"""Bugs planted into released code, one a function, and how many of them devlint reports, by kind.

    python tests/benchmarks/mutants.py timm==1.0.31 kornia==0.9.0     releases, downloaded without dependencies
    python tests/benchmarks/mutants.py path/to/package                or directories; nothing is imported
    ... --sample 60 --seed 1 --json mutants.json                      at most so many of each release; keep the answers
    ... --kind forget --kind label                                    some kinds only
    ... --all-pinned                                                  the releases that releases.py pins
    ... gpytorch==1.15.2 --run DIRECTORY                              and which truly fail, by the release's own tests
    ... --simulate 20                                                 and which truly fail, simulated, so many a release
    ... --simulate 20 --needs DIRECTORY                               with what the releases require, installed there
    ... --from one.json --from other.json                             earlier answers, in one table

A mutant is a real bug as far as syntax can tell; each kind's conditions stand in its docstring (``planting``). A mutant
is found if devlint, at its default gate, says something in the mutated function (for a helper: or in the caller; for a
Module's state: or in a method that reads it) of which it says nothing in the code as released. Functions with a finding
as released are left out. The kinds are drawn in turn, so that rare ones are not crowded out: "all" is the share of such
a draw, "mean" the mean over the kinds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from downloads import DEFAULT_CACHE, checked_cache, unpacked
from linting import linted_files
from planting.asking import Answer, Asker
from planting.kinds import DRAWN, KINDS, candidates
from planting.mutant import drawn
from planting.requirements import installed
from planting.running import Ran, ran, suite_of
from planting.simulating import simulated
from releases import RELEASES

import devlint


def answers(release: Path, name: str, options: argparse.Namespace) -> tuple[list[Answer], Counter[str]]:
    """The mutants drawn from a release with what was said of them, and how many candidates each kind had."""
    offered = candidates(release, linted_files(release))
    wanted = [mutant for mutant in offered if mutant.kind in (options.kind or DRAWN)]
    asker = Asker(release)
    found: list[Answer] = []
    try:
        for mutant in drawn(wanted, 3 * options.sample, options.seed, name):
            if len(found) == options.sample:
                break
            if asker.suits(mutant):
                found.append(asker.ask(mutant))
    finally:
        asker.close()
    return found, Counter(mutant.kind for mutant in offered)


def share(part: int, whole: int) -> str:
    return f"{part:4} of {whole:4} {100 * part / whole:5.0f} %" if whole else f"{'-':>12}"


def print_table(records: list[dict[str, Any]], offered: Counter[str]) -> None:
    print(f"\n{'kind':12} {'candidates':>10}  {'found':>18}  codes")
    shares = []
    for kind in KINDS:
        own = [record for record in records if record["kind"] == kind]
        found = [record for record in own if record["found"]]
        codes = Counter(code for record in found for code in record["codes"])
        told = " ".join(f"{code}:{number}" for code, number in codes.most_common())
        print(f"{kind:12} {offered[kind]:10}  {share(len(found), len(own))}  {told}")
        if own:
            shares.append(len(found) / len(own))
    total = sum(record["found"] for record in records)
    print(f"{'all':12} {sum(offered.values()):10}  {share(total, len(records))}")
    if shares:
        print(f"{'mean':12} {'':10}  {'':12} {100 * sum(shares) / len(shares):5.0f} %")
    print(f"\n{'release':28} {'found':>18}")
    for release in dict.fromkeys(record["release"] for record in records):
        own = [record for record in records if record["release"] == release]
        print(f"{release:28} {share(sum(record['found'] for record in own), len(own))}")


def print_lost(records: list[dict[str, Any]]) -> None:
    lost = sorted((r for r in records if not r["found"]), key=lambda r: (r["kind"], r["release"], r["path"], r["line"]))
    print(f"\n{len(lost)} lost")
    for record in lost:
        caller = f" called in {record['caller']}" if record["caller"] else ""
        print(f"{record['kind']:12} {record['release']} {record['path']}:{record['line']} {record['function']}{caller}")
        print(f"{'':14}{record['before']}")
        if record["cause"]:
            print(f"{'':14}{record['cause']}")


def print_run(name: str, answers: list[Answer], results: list[Ran], each: bool = True) -> None:
    """Of the mutants that fail when they run, how many are found, by kind; and what became of each."""
    states = Counter(result.state for result in results)
    failing = [result for result in results if result.state == "fails"]
    told = ", ".join(f"{states[state]} {state}" for state in ("fails", "the same", "not reached"))
    print(f"\n{name}: {len(answers)} mutants, {len(results)} run: {told}")
    print(f"found among those that fail: {share(sum(r.answer.found for r in failing), len(failing))}")
    for kind in sorted({result.answer.mutant.kind for result in failing}):
        own = [result.answer.found for result in failing if result.answer.mutant.kind == kind]
        print(f"{kind:27} {share(sum(own), len(own))}")
    for result in results if each else ():
        mutant = result.answer.mutant
        verdict = "found" if result.answer.found else "lost"
        print(f"{result.state:12} {verdict:6} {mutant.kind:12} {mutant.path}:{mutant.line} {mutant.function}")
        if result.how:
            print(f"{'':20}{result.how[:140]}")


def release_of(given: str, cache: Path) -> tuple[str, Path]:
    """The name and the directory of what was given."""
    package, equals, version = given.partition("==")
    if equals and package and version:
        return f"{package} {version}", unpacked(package, version, cache)
    directory = Path(given).absolute()
    if not directory.is_dir():
        raise SystemExit(f"{given}: neither a directory nor name==version")
    return directory.name, directory


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="name==version, or a directory")
    parser.add_argument("--all-pinned", action="store_true")
    parser.add_argument("--sample", type=int, default=60, metavar="N", help="mutants a release [default: %(default)s]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument(
        "--run", type=Path, metavar="DIRECTORY", help="run the release's tests, with all they need there"
    )
    parser.add_argument(
        "--simulate", type=int, default=0, metavar="N", help="build and call at most N classes of mutants, simulated"
    )
    parser.add_argument(
        "--needs", type=Path, metavar="DIRECTORY", help="install there what the releases require, for --simulate"
    )
    parser.add_argument("--from", type=Path, action="append", default=[], metavar="FILE", dest="earlier")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    options = parser.parse_args()
    if not options.releases and not options.all_pinned and not options.earlier:
        parser.error("give a release (name==version) or a directory, or --all-pinned")
    if options.run is not None:
        for given in options.releases:
            suite_of(given.partition("==")[0])
    if options.sample < 1:
        parser.error("--sample: at least 1")
    return options


def main() -> None:
    options = arguments()
    given = [*options.releases, *(f"{name}=={version}" for name, version in RELEASES.items() if options.all_pinned)]
    cache = checked_cache(options.cache)
    named = [release_of(one, cache) for one in given]
    records: list[dict[str, Any]] = []
    offered: Counter[str] = Counter()
    simulations: list[Ran] = []
    for file in options.earlier:
        document = json.loads(file.read_text(encoding="utf-8"))
        records += document["mutants"]
        offered.update(document["candidates"])
    for name, directory in named:
        started = time.perf_counter()
        found, number = answers(directory, name, options)
        records += [answer.record(name) for answer in found]
        offered += number
        if options.run is not None:
            package = name.split()[0]
            results = list(ran(found, suite_of(package), options.run.absolute() / package))
            print_run(name, found, results)
        if options.simulate:
            needs = installed(directory, options.needs.absolute()) if options.needs is not None else None
            results = list(simulated(found, directory, options.simulate, needs))
            print_run(name, found, results)
            simulations += results
        caught = share(sum(answer.found for answer in found), len(found))
        print(f"{name:28} {caught}  {time.perf_counter() - started:6.0f} s", file=sys.stderr, flush=True)
    if not records:
        raise SystemExit("nothing was planted: no function offers a mutant")
    print_table(records, offered)
    print_lost(records)
    if simulations:
        print_run("all, simulated", [result.answer for result in simulations], simulations, each=False)
    if options.json:
        document = {"devlint": devlint.__version__, "seed": options.seed, "candidates": offered, "mutants": records}
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
