"""Findings of the static half against the tests of their own packages: where the two contradict, one has a bug.

    python tests/benchmarks/against_tests.py --mirrors DIR              the packages of against_tests.jsonl
    python tests/benchmarks/against_tests.py --mirrors DIR entmax       some of them
    ... --placement data    the tests' tensors in another place (own_tests/running.py: PLACEMENTS)
    ... --fresh             lint and run again what was kept; without it the answers in the cache are told again
    ... --verbose           each finding that the tests contradict, and each that only they saw, to be read by hand
    ... --json FILE

Each line of the table is a package at one commit, with what its tests need besides torch. The package is linted as a
user lints it, and its tests run with all that it defines lifted to a simulated device, and with a call before each
statement that has a finding. A finding is *seen* if a run's finding shares a line with it, *contradicted* if a test
came to its statement in a lifted call and nothing was seen there, else *not reached*. A contradicted error is a
suspect: the tests may call with other values than it speaks of, or it is false. *Only run* are findings of the run that
share no line with any static one, hidden ones included: misses, or false clashes. Findings in test files count nowhere.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from commits import Commits, Unavailable
from linting import Finding, lint
from own_tests.choosing import spot_of
from own_tests.environments import NotMade, python_of
from own_tests.outcomes import told
from own_tests.projects import Project
from own_tests.running import PLACEMENTS, Forks, SuiteRun, Watched, run_watched
from own_tests.trees import whole_tree
from verdicts import at_gate, markdown_table, text_table

from devlint.confirmation.test_files import test_files

TABLE = Path(__file__).with_suffix(".jsonl")
CACHE = Path.home() / ".cache" / "devlint-benchmarks-run"
HEAD = ["package", "tests passed", "errors", "seen", "contradicted", "warnings", "seen", "contradicted", "only run"]


@dataclass(frozen=True)
class Package:
    """A package at one commit, and how its tests are run."""

    repo: str
    commit: str
    project: Project
    lifts: tuple[str, ...]
    tests: tuple[str, ...]
    """Files and directories of tests, in the tree."""


@dataclass(frozen=True)
class Outcome:
    """What both halves said of a package."""

    package: Package
    static: list[Finding]
    """All findings outside of tests, hidden ones too."""
    run: SuiteRun
    spots: dict[str, list[str]]
    """The statement of each static finding, ``PATH:LINE`` for each of its lines, by the finding's fingerprint."""

    @property
    def shown(self) -> list[Finding]:
        """What a user sees of the static half."""
        return [finding for finding in self.static if at_gate(finding)]

    def is_seen(self, finding: Finding) -> bool:
        return any(self._are_of_one(finding, other) for other in self.run.findings)

    def is_reached(self, finding: Finding) -> bool:
        """Whether a test came to its statement in a lifted call."""
        return any(self.run.at.get(spot, (0, 0))[1] for spot in self.spots[finding["fingerprint"]])

    def contradicted(self) -> list[Finding]:
        return [finding for finding in self.shown if self.is_reached(finding) and not self.is_seen(finding)]

    def only_run(self) -> list[Finding]:
        return [
            other for other in self.run.findings if not any(self._are_of_one(finding, other) for finding in self.static)
        ]

    def _are_of_one(self, finding: Finding, other: Finding) -> bool:
        own = set(self.spots[finding["fingerprint"]])
        return bool(own & _lines_of(other)) or f"{other['path']}:{other['line']}" in _lines_of(finding)


def _lines_of(finding: Finding) -> set[str]:
    """Where it is, and all places of its trace."""
    return {f"{spot['path']}:{spot['line']}" for spot in (finding, *finding["trace"])}


def packages(names: Iterable[str] = (), table: Path = TABLE) -> list[Package]:
    """The table, or what of it has these names. Raises ValueError naming the line of a record that is no package."""
    found = []
    for number, line in enumerate(table.read_text("utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            repo, commit = record.pop("repo"), record.pop("commit")
            lifts, tests = tuple(record.pop("lifts").split()), tuple(record.pop("tests").split())
            found.append(Package(repo, commit, Project.of(record), lifts, tests))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{table}:{number}: not a package: {error}") from None
    wanted = [package for package in found if not names or package.project.name in names]
    if not wanted:
        raise ValueError(f"{table} has none of {', '.join(names)}")
    return wanted


def outcome_of(package: Package, commits: Commits, forks: Forks, options: argparse.Namespace) -> Outcome:
    """Lints and runs a package, or takes what was kept. Raises NotMade, Unavailable, OSError."""
    kept = commits.cache / "against-tests" / f"{package.project.name}-{package.commit[:10]}-{options.placement}.json"
    if kept.is_file() and not options.fresh:
        record = json.loads(kept.read_text("utf-8"))
        return Outcome(package, record["static"], SuiteRun.of(record["run"]), record["spots"])
    tree = whole_tree(commits, package.repo, package.commit)
    is_test = test_files(tree)
    static = [f for f in lint(tree, jobs=1, hidden=True).findings if not is_test(str(tree / f["path"]))]
    spots, watched = {}, {}
    for finding in static:
        try:
            statement = spot_of((tree / finding["path"]).read_text("utf-8"), [finding["line"]]).fault
        except (SyntaxError, StopIteration):
            statement = frozenset({finding["line"]})
        spots[finding["fingerprint"]] = [f"{finding['path']}:{line}" for line in sorted(statement)]
        watched.setdefault(finding["path"], set()).update(statement)
    run = run_watched(
        forks,
        package.project,
        python_of(package.project, commits.cache / "envs"),
        tree,
        Watched({path: sorted(lines) for path, lines in watched.items()}, package.lifts),
        list(package.tests),
        [],
        "sim:1",
        options.seconds,
        options.placement,
    )
    told_of = tuple(finding for finding in run.findings if not is_test(str(tree / finding["path"])))
    outcome = Outcome(package, static, replace(run, findings=told_of), spots)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps({"static": static, "run": asdict(outcome.run), "spots": spots}, indent=1), "utf-8")
    return outcome


def row(name: str, outcomes: list[Outcome]) -> list[str]:
    cells = [str(sum(outcome.run.passed for outcome in outcomes))]
    for severity in ("error", "warning"):
        shown = [(outcome, finding) for outcome in outcomes for finding in outcome.shown]
        own = [(outcome, finding) for outcome, finding in shown if finding["severity"] == severity]
        contradicted = [finding for outcome, finding in own if finding in outcome.contradicted()]
        cells += [str(len(own)), str(sum(o.is_seen(f) for o, f in own)), str(len(contradicted))]
    return [name, *cells, str(sum(len(outcome.only_run()) for outcome in outcomes))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--mirrors", type=Path, metavar="DIR", help="clones of the repositories; nothing is downloaded")
    parser.add_argument("--cache", type=Path, default=CACHE, help="[default: %(default)s]")
    parser.add_argument("--placement", choices=PLACEMENTS, default=PLACEMENTS[0])
    parser.add_argument("--seconds", type=float, default=300, help="of the processor, a package [default: 300]")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    try:
        wanted = packages(options.names)
    except ValueError as error:
        parser.error(str(error))
    commits = Commits(options.cache, options.mirrors)
    outcomes: list[Outcome] = []
    with Forks() as forks:
        for package in wanted:
            try:
                outcome = outcome_of(package, commits, forks, options)
            except (NotMade, Unavailable, OSError) as error:
                print(f"{package.project.name}: {error}", flush=True)
                continue
            if outcome.run.trouble or not outcome.run.passed:
                print(f"{package.project.name}: {outcome.run.trouble or 'no test passed'}", flush=True)
                continue
            outcomes.append(outcome)
            if options.verbose:
                print_words(outcome)
    if not outcomes:
        raise SystemExit("nothing ran")
    table = [HEAD, *(row(outcome.package.project.name, [outcome]) for outcome in outcomes), row("all", outcomes)]
    print((markdown_table if options.markdown else text_table)(table))
    if options.json:
        options.json.write_text(json.dumps([record_of(outcome) for outcome in outcomes], indent=1), "utf-8")


def record_of(outcome: Outcome) -> dict[str, Any]:
    return {
        "package": outcome.package.project.name,
        "commit": outcome.package.commit,
        "contradicted": outcome.contradicted(),
        "only_run": outcome.only_run(),
    }


def print_words(outcome: Outcome) -> None:
    for name, findings in (("contradicted", outcome.contradicted()), ("only run", outcome.only_run())):
        for finding in findings:
            print(f"{outcome.package.project.name}: {name}: {finding['severity']} {told(finding)}", flush=True)


if __name__ == "__main__":
    main()
