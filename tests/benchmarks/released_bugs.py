"""How many bugs that maintainers fixed devlint finds in the releases that had them, and what it says after the fix.

    python tests/benchmarks/released_bugs.py                 a table by kind, the misses, and how much else was said
    python tests/benchmarks/released_bugs.py --verbose       also the findings that were counted, beside the bugs
    python tests/benchmarks/released_bugs.py --markdown      the table as it stands in the README
    python tests/benchmarks/released_bugs.py --json          each bug with the findings near it

The bugs are in fixtures/released_bugs.jsonl. The buggy and the fixed release are downloaded from PyPI and unpacked, and
the one file is linted where it stands, so that its imports lead into the package around it. A bug is found if a finding
of the default gate is within two lines of it; whether that finding speaks of this bug is for the reader of --verbose.
The findings of all these files and the hits that chance would bring are printed beside it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from bugs import Bug, Density, Outcome, Row, as_record, density, near, read_bugs, rows
from downloads import DEFAULT_CACHE, checked_cache, unpacked
from linting import Finding, line_count, lint, per_ten_thousand

import devlint

MANIFEST = Path(__file__).parents[2] / "fixtures" / "released_bugs.jsonl"

Linted = dict[tuple[str, str, str], tuple[int, list[Finding]]]
"""Lines and findings of each linted file, by package, version and path."""


def linted(bugs: list[Bug], cache: Path, jobs: int) -> Linted:
    """Both releases' files of all bugs, each linted once."""
    files = {(bug.package, bug.buggy, bug.path) for bug in bugs}
    files |= {(bug.package, bug.fixed, bug.fixed_path) for bug in bugs}
    directories: dict[tuple[str, str], Path] = {}
    for package, version in sorted({(package, version) for package, version, _ in files}):
        if not (cache / f"{package}-{version}").is_dir():
            print(f"downloading {package} {version}", file=sys.stderr)
        directories[package, version] = unpacked(package, version, cache)

    def one(file: tuple[str, str, str]) -> tuple[int, list[Finding]]:
        package, version, path = file
        directory = directories[package, version]
        run = lint(directory, [path], jobs=1)
        if run.trouble or run.files != 1:
            raise SystemExit(f"{package} {version} {path}: not analysed\n{run.trouble}")
        return line_count(directory, [path]), run.findings

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(files, pool.map(one, files), strict=True))


def outcomes_of(bugs: list[Bug], files: Linted) -> list[Outcome]:
    """What was said near each bug, before and after its fix."""
    return [
        Outcome(
            bug,
            near(files[bug.package, bug.buggy, bug.path][1], bug.path, bug.line),
            near(files[bug.package, bug.fixed, bug.fixed_path][1], bug.fixed_path, bug.fixed_line),
        )
        for bug in bugs
    ]


def cells(row: Row) -> list[str]:
    """A row of the table, as words."""
    found, local, elsewhere = ((row.found, row.bugs), row.local, row.non_local)
    shares = [f"{hits} of {bugs}" if bugs else "-" for hits, bugs in (found, local, elsewhere)]
    return [row.name, *shares, str(row.gone), str(row.still), ", ".join(row.codes)]


HEAD = ["kind of bug", "found", "local", "non-local", "gone after the fix", "still reported", "found by"]


def text_table(table: list[Row]) -> str:
    lines = [HEAD, *map(cells, table)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def markdown_table(table: list[Row]) -> str:
    lines = [HEAD, ["---"] + ["---:"] * 5 + ["---"], *map(cells, table)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def density_words(said: Density) -> str:
    return (
        f"All findings in these {said.files} buggy files ({said.lines} lines): {said.findings}, "
        f"{per_ten_thousand(said.findings, said.lines):.1f} per 10,000 lines, and {said.at_bugs} of them "
        f"at these bugs. As many on random lines of the same files would be near {said.by_chance:.1f} of the bugs."
    )


def conditions(bugs: list[Bug]) -> str:
    packages = len({bug.package for bug in bugs})
    today = datetime.datetime.now(datetime.UTC).date()
    return (
        f"{today}, devlint {devlint.__version__}, Python {platform.python_version()}; {len(bugs)} bugs fixed in "
        f"{packages} packages, releases as in fixtures/{MANIFEST.name}."
    )


def misses(outcomes: list[Outcome]) -> str:
    lines = []
    for outcome in outcomes:
        bug = outcome.bug
        if not outcome.found:
            needs = f"needs: {bug.needs}" if bug.needs else "needs nothing else"
            where = "local" if bug.local else "non-local"
            lines.append(f"  {bug.id} [{bug.kind}, {where}] {bug.path}:{bug.line} ({needs})")
    return "\n".join(lines) or "  none"


def counted(outcomes: list[Outcome]) -> str:
    """The findings behind the table, beside the bug they are counted for."""
    lines: list[str] = []
    for outcome in outcomes:
        bug = outcome.bug
        if outcome.before or outcome.after:
            lines += ["", f"{bug.id} [{bug.kind}] {bug.function}: {bug.why}"]
        for when, version, path, line, findings in (
            ("before", bug.buggy, bug.path, bug.line, outcome.before),
            ("AFTER ", bug.fixed, bug.fixed_path, bug.fixed_line, outcome.after),
        ):
            for finding in findings:
                place = f"{bug.package} {version} {path}:{finding['line']} (the bug: {line})"
                lines.append(f"  {when} {place} {finding['code']}")
                lines.append(f"         {finding['severity']} in {finding['scope']}: {finding['message']}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="only the bugs whose id begins so")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("-j", "--jobs", type=int, default=2, help="files linted at a time [default: 2]")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--markdown", action="store_true")
    form.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    bugs = [bug for bug in read_bugs(MANIFEST) if bug.id.startswith(tuple(options.ids) or "")]
    if not bugs:
        parser.error(f"no bug of {MANIFEST} has an id that begins with {' or '.join(options.ids)}")
    files = linted(bugs, checked_cache(options.cache), options.jobs)
    outcomes = outcomes_of(bugs, files)
    table, said = rows(outcomes), density(outcomes, files)
    if options.json:
        summary = [asdict(row) | {"found": row.found, "bugs": row.bugs} for row in table]
        document = {"conditions": conditions(bugs), "density": asdict(said), "kinds": summary}
        print(json.dumps(document | {"bugs": [as_record(outcome) for outcome in outcomes]}, indent=2))
    elif options.markdown:
        print(f"{markdown_table(table)}\n\n{conditions(bugs)}\n{density_words(said)}")
    else:
        print(f"{text_table(table)}\n\nmissed:\n{misses(outcomes)}")
        if options.verbose:
            print(f"\ncounted:{counted(outcomes)}")
        print(f"\n{density_words(said)}\n{conditions(bugs)}")


if __name__ == "__main__":
    main()
