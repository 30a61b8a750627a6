"""How many bugs that maintainers fixed devlint finds in the histories of public projects, and what it says afterwards.

    python tests/benchmarks/real_bugs.py                      tables by kind, by project, and of the misses by cause
    python tests/benchmarks/real_bugs.py flair kornia-ebe     only the bugs whose id begins so
    python tests/benchmarks/real_bugs.py --lookalikes         the same for correct places that look like bugs
    ... --from FILE                                           another sample, lines as in the fixture
    ... --mirrors DIR                                         histories from clones in DIR, <owner>+<name>[.git]
    ... --json FILE                                           each place with the findings near it
    ... --verbose                                             the misses and the findings, one by one

The bugs are in fixtures/real_bugs.jsonl, the correct places in fixtures/lookalikes.jsonl. Without --mirrors a history
is cloned from the project's public address, without contents, into the cache. Each file is linted where it stands in
the tree of its commit, so that its imports lead into the project around it. A bug is *found* if a finding that users
see by default is within two lines of it, *gone* if none is there after the fix, *below* the gate if there is one at a
lower severity or confidence only. A few files that import the bug's file are linted as well (importers.AT_MOST): a
finding at another line whose trace comes within two lines of the bug's statement counts if it is said of one side of
the fix only; at a correct place any such finding counts. These places were read while rules were made: they tell what
to mend, not how well devlint does on code that nobody has seen.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from commits import Commits, Unavailable
from downloads import DEFAULT_CACHE, checked_cache
from importers import importers, lines_of_statements, names_of
from linting import Finding, lint
from places import CAUSES, Bug, Lookalike, leading_to, near, read_bugs, read_lookalikes, without
from verdicts import (
    HEAD,
    BugOutcome,
    LookalikeOutcome,
    at_gate,
    bug_record,
    causes,
    cells,
    lookalike_record,
    markdown_table,
    rows,
    text_table,
)

import devlint

_FIXTURES = Path(__file__).parents[2] / "fixtures"
BUGS = _FIXTURES / "real_bugs.jsonl"
LOOKALIKES = _FIXTURES / "lookalikes.jsonl"

File = tuple[str, str, str]
"""Repository, commit and path."""


@dataclass(frozen=True)
class Linted:
    """The findings in files and in those that import them, hidden ones included, and why others have none."""

    findings: dict[File, list[Finding]]
    failed: dict[File, str]

    def why_not(self, *files: File) -> str | None:
        return next((self.failed[file] for file in files if file in self.failed), None)


def linted(asked: list[tuple[File, str]], commits: Commits, jobs: int, limit: float) -> Linted:
    """Each file linted once, in the tree of its commit, with some that import it, by the functions asked about."""
    names: dict[File, frozenset[str]] = {}
    for file, function in asked:
        names[file] = names.get(file, frozenset()) | names_of(function)

    def one(numbered: tuple[int, File]) -> list[Finding] | str:
        number, file = numbered
        repo, commit, path = file
        try:
            tree = commits.tree(repo, commit)
        except Unavailable as error:
            return f"not available: {error}"
        if not (tree / path).is_file():
            return f"not available: {repo} {commit} has no {path}"
        started = time.perf_counter()
        findings = list[Finding]()
        for paths in filter(None, ([path], importers(tree, path, names[file]))):
            run = lint(tree, paths, jobs=1, hidden=True, cache=commits.cache / "results", seconds_limit=limit)
            if run.trouble or (paths == [path] and run.files != 1):
                return f"not analysed: {run.trouble or 'devlint left it out'}"
            findings += run.findings
        if sys.stderr.isatty() or number % 25 == 0:
            seconds = time.perf_counter() - started
            print(f"{number} of {len(names)} files: {seconds:.1f} s for {repo} {path}", file=sys.stderr)
        return findings

    with ThreadPoolExecutor(jobs) as pool:
        results = dict(zip(names, pool.map(one, enumerate(names, 1)), strict=True))
    return Linted(
        {file: found for file, found in results.items() if not isinstance(found, str)},
        {file: found for file, found in results.items() if isinstance(found, str)},
    )


def bug_outcomes(bugs: list[Bug], commits: Commits, jobs: int, limit: float) -> tuple[list[BugOutcome], dict[str, str]]:
    """What was said of each bug, and why of some nothing can be said, by id."""
    before = {bug.id: (bug.repo, bug.parent, bug.path) for bug in bugs}
    after = {bug.id: (bug.repo, bug.fix, bug.fixed_path) for bug in bugs}
    asked = [(file, bug.function) for bug in bugs for file in (before[bug.id], after[bug.id])]
    files = linted(asked, commits, jobs, limit)
    failed = {bug.id: reason for bug in bugs if (reason := files.why_not(before[bug.id], after[bug.id]))}

    def whole(file: File, lines: tuple[int, ...]) -> list[int]:
        repo, commit, path = file
        return lines_of_statements(commits.tree(repo, commit) / path, lines)

    def outcome(bug: Bug) -> BugOutcome:
        old, new = files.findings[before[bug.id]], files.findings[after[bug.id]]
        return BugOutcome(
            bug,
            near(old, bug.path, bug.lines),
            near(new, bug.fixed_path, bug.fixed_lines),
            without(leading_to(old, bug.path, whole(before[bug.id], bug.lines)), new),
            without(leading_to(new, bug.fixed_path, whole(after[bug.id], bug.fixed_lines)), old),
        )

    return [outcome(bug) for bug in bugs if bug.id not in failed], failed


def lookalike_outcomes(
    places: list[Lookalike], commits: Commits, jobs: int, limit: float
) -> tuple[list[LookalikeOutcome], dict[str, str]]:
    """What was said of each correct place, and why of some nothing can be said, by id."""
    where = {place.id: (place.repo, place.commit, place.path) for place in places}
    files = linted([(where[place.id], place.function) for place in places], commits, jobs, limit)
    failed = {place.id: reason for place in places if (reason := files.why_not(where[place.id]))}

    def outcome(place: Lookalike) -> LookalikeOutcome:
        found, file = files.findings[where[place.id]], commits.tree(place.repo, place.commit) / place.path
        by = leading_to(found, place.path, lines_of_statements(file, [place.line]))
        here = near(found, place.path, [place.line])
        return LookalikeOutcome(place, here + tuple(finding for finding in by if finding not in here))

    return [outcome(place) for place in places if place.id not in failed], failed


def said_words(head: str, findings: tuple[Finding, ...]) -> list[str]:
    return [
        f"    {head} {f['path']}:{f['line']} {f['code']} {f['severity']} {f['confidence']}"
        f"{'' if at_gate(f) else ' (hidden)'}: {f['message']}"
        for f in findings
    ]


def print_bugs(outcomes: list[BugOutcome], markdown: bool, verbose: bool) -> None:
    table = markdown_table if markdown else text_table
    by_kind, by_project = rows(outcomes, lambda bug: bug.kind), rows(outcomes, lambda bug: bug.repo)
    for name, part in (("kind of bug", by_kind), ("project", by_project)):
        print(table([[name, *HEAD[1:]], *map(cells, part)]), end="\n\n")
    lines = [[name, str(low), str(missed), CAUSES.get(name, "")] for name, low, missed in causes(outcomes)]
    print(table([["cause of the miss", "below the gate", "missed", ""], *lines]), end="\n\n")
    for outcome in outcomes if verbose else ():
        bug = outcome.bug
        print(f"{outcome.verdict:6} {bug.id} [{bug.kind}, {'local' if bug.local else 'beyond'}] {bug.path}:{bug.lines}")
        print(f"    {bug.why}")
        said = {"before": outcome.before, "leading here": outcome.leading}
        said |= {"AFTER": outcome.after, "LEADING HERE AFTER": outcome.leading_after}
        for head, findings in said.items():
            print(*(f"{words}\n" for words in said_words(head, findings)), sep="", end="")


def print_lookalikes(outcomes: list[LookalikeOutcome], markdown: bool) -> None:
    names = sorted({outcome.place.category for outcome in outcomes})
    lines = [["category", "places", "reported", "below the gate"]]
    for name in [*names, "total"]:
        own = [outcome for outcome in outcomes if name in (outcome.place.category, "total")]
        lines.append([name, *(str(n) for n in (len(own), sum(o.false for o in own), sum(o.below for o in own)))])
    print((markdown_table if markdown else text_table)(lines), end="\n\n")
    for outcome in outcomes:
        if outcome.said:
            place = outcome.place
            print(f"{'FALSE' if outcome.false else 'below'} {place.id} [{place.category}] {place.path}:{place.line}")
            print(*[f"    {place.why}", *said_words("said", outcome.said)], sep="\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="only the places whose id begins so")
    parser.add_argument("--lookalikes", action="store_true", help="the correct places, not the bugs")
    parser.add_argument("--from", dest="sample", type=Path, metavar="FILE", help="a sample, lines as in the fixture")
    parser.add_argument("--mirrors", type=Path, metavar="DIR", help="clones of the repositories; nothing is downloaded")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="[default: %(default)s]")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="files linted at a time [default: 2]")
    parser.add_argument("--limit", type=float, default=900, metavar="SECONDS", help="for one file [default: 900]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every place with what was said of it")
    parser.add_argument("--markdown", action="store_true", help="the tables as they stand in the README")
    parser.add_argument("--verbose", action="store_true", help="every bug with the findings near it")
    return parser.parse_args()


_Place = TypeVar("_Place", Bug, Lookalike)


def chosen(places: list[_Place], ids: list[str], manifest: Path) -> list[_Place]:
    """Those whose id begins with one of ``ids``, all without any. Raises SystemExit if there is none."""
    found = [place for place in places if place.id.startswith(tuple(ids) or "")]
    if not found:
        raise SystemExit(f"no place of {manifest} has an id that begins with {' or '.join(ids)}")
    return found


def main() -> None:
    options = arguments()
    if options.mirrors is not None and not options.mirrors.is_dir():
        raise SystemExit(f"--mirrors {options.mirrors}: no such directory")
    if options.json is not None and not options.json.absolute().parent.is_dir():
        raise SystemExit(f"--json {options.json}: no such directory")
    commits = Commits(checked_cache(options.cache), options.mirrors)
    manifest = options.sample or (LOOKALIKES if options.lookalikes else BUGS)
    if not manifest.is_file():
        raise SystemExit(f"--from {manifest}: no such file")
    document: dict[str, Any]
    try:
        bugs = [] if options.lookalikes else chosen(read_bugs(manifest), options.ids, manifest)
        places = chosen(read_lookalikes(manifest), options.ids, manifest) if options.lookalikes else []
    except ValueError as error:
        raise SystemExit(str(error)) from None
    if options.lookalikes:
        correct, failed = lookalike_outcomes(places, commits, options.jobs, options.limit)
        print_lookalikes(correct, options.markdown)
        document = {"places": [lookalike_record(outcome) for outcome in correct]}
    else:
        outcomes, failed = bug_outcomes(bugs, commits, options.jobs, options.limit)
        print_bugs(outcomes, options.markdown, options.verbose)
        document = {
            "kinds": [asdict(row) for row in rows(outcomes, lambda bug: bug.kind)],
            "projects": [asdict(row) for row in rows(outcomes, lambda bug: bug.repo)],
            "causes": causes(outcomes),
            "places": [bug_record(outcome) for outcome in outcomes],
        }
    today = datetime.datetime.now(datetime.UTC).date()
    conditions = (
        f"{today}, devlint {devlint.__version__}, Python {platform.python_version()}; {len(document['places'])} of "
        f"{len(bugs) + len(places)} places judged, commits as in {manifest.name}."
    )
    print(conditions)
    for name, reason in failed.items():
        print(f"  {name}: {reason}")
    if options.json is not None:
        document = {"conditions": conditions, "not_judged": failed, **document}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
