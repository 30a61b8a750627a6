"""How many bugs that maintainers fixed the tests of their own projects show under ``pytest --devlint``.

    python tests/benchmarks/real_bugs_run.py --mirrors DIR          every bug of a project in own_tests/projects.jsonl
    python tests/benchmarks/real_bugs_run.py gpytorch kornia-ebe    only the bugs whose id begins so
    ... --fresh           run again what ran already; else it is kept in the cache
    ... --json FILE       each bug with what ran, what was said before the fix, and after it; what FILE has of others
                          stays, and the table tells of all
    ... --verbose         the same in words, and why others did not run

Each row has the code that it was run with (own_tests/code.py); under the table stands how many were run with this.

A bug's project is taken out at the fix's parent and at the fix. The tests that name the function or its class run under
the torch of this interpreter, in an environment of the project's own, with every outermost call of a module and of what
its package defines on a simulated cuda:1; where that shows nothing at a bug that the tests come to, once more with its
users' tensors in other places and on accelerators of other kinds (own_tests/running.py: PLACEMENTS), and at the fix in
the one that showed it.

A bug is *reached* if a test comes to its line in a lifted call, or makes it in a constructor; else `devlint confirm
--auto` is asked whether an entry of its making comes there. It is *found* if a finding is in its function, shows a
call there that led to it, operands that meet at its line, or one that comes from its line and should be elsewhere,
and *gone* if none is there after the fix, to whose lines a test comes; it is *shown elsewhere* if the fix takes away a
finding in another function, which the bug leads to. own_tests/missed.jsonl has the reason of every bug that is not
found and gone. *False* are the findings after the fix, in all that ran, that own_tests/explained.jsonl has no reason
for. Where neither comes to the line, own_tests/scripts may have a script of a few lines that does: what it shows is in
the JSON file, and not in the table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from commits import Commits, Unavailable
from own_tests.choosing import Spot, files_of_tests, spot_of
from own_tests.code import code_of_runs
from own_tests.environments import NotMade, python_of
from own_tests.outcomes import Outcome, Side, count_of, read_explained, read_missed, record_of, table, told
from own_tests.projects import Project, project_of
from own_tests.running import DEVLINT, ENOUGH, FEW, PLACEMENTS, Forks, SuiteRun, run_tests
from own_tests.trees import date_of, tree_before, whole_tree, with_tests_of
from places import Bug, read_bugs
from verdicts import markdown_table, text_table

_FIXTURES = DEVLINT / "fixtures"
SAMPLES = (
    _FIXTURES / "real_bugs.jsonl",
    *(_FIXTURES / "rounds" / str(number) / "bugs.jsonl" for number in (1, 2, 3, 4)),
)
EXPLAINED = Path(__file__).parent / "own_tests" / "explained.jsonl"
MISSED = EXPLAINED.with_name("missed.jsonl")
CACHE = Path.home() / ".cache" / "devlint-benchmarks-run"
DEVICE = "sim:1"
"""A second device, so that what names the first, or none, is told from what is where its input is."""

_AUTO_SECONDS = 120


def outcome_of(bug: Bug, project: Project, commits: Commits, options: argparse.Namespace) -> Outcome:
    explained, missed = frozenset(options.explained.get(project.name, {})), options.missed.get(bug.id, ("", ""))
    try:
        python = python_of(project, commits.cache / "envs")
        before = side_of(bug, project, python, commits, options, "before")
        # What does not run before the fix, or does not come to the bug, tells nothing afterwards.
        idle = before.run.trouble or not (before.by_tests or before.by_entry or before.by_script)
        # As many tests as showed the bug show that it is gone.
        enough = max(FEW, before.run.ran) if before.at_bug else ENOUGH
        placements = [before.placement] if before.placement else []
        after = None if idle else side_of(bug, project, python, commits, options, "after", enough, placements)
    except (NotMade, Unavailable, OSError, SyntaxError) as error:
        return Outcome(bug, project.name, None, None, str(error), explained, missed)
    trouble = before.run.trouble or (after.run.trouble if after is not None else "")
    return Outcome(bug, project.name, before, after, trouble, explained, missed)


def side_of(
    bug: Bug,
    project: Project,
    python: Path,
    commits: Commits,
    options: argparse.Namespace,
    name: str,
    enough: int = ENOUGH,
    placements: Sequence[str] = PLACEMENTS,
) -> Side:
    """With the tensors of its users in one placement after the other, until the bug shows; the fix in those named.

    Raises Unavailable, OSError, SyntaxError.
    """
    is_before = name == "before"
    commit, path, lines = (bug.parent, bug.path, bug.lines) if is_before else (bug.fix, bug.fixed_path, bug.fixed_lines)
    tree = whole_tree(commits, bug.repo, commit)
    date = date_of(commits, bug.repo, commit) if project.beside else ""
    beside = [tree_before(commits, repo, date) for repo in project.beside]
    spot = spot_of((tree / path).read_text("utf-8"), lines)
    kept = commits.cache / "runs" / bug.id / f"{name}.json"
    if kept.is_file() and not options.fresh:
        record = json.loads(kept.read_text("utf-8"))
    else:
        run = run_of(bug, project, python, tree, path, spot, beside, options, enough)
        if not is_before and not run.ran:
            old = with_tests_of(tree, whole_tree(commits, bug.repo, bug.parent), project.tests)
            again = run_of(bug, project, python, old, path, spot, beside, options, enough)
            run = again if again.ran else run
        record = {"run": run.record(), "auto": None, "code": code_of_runs()}
    side = Side(spot, path, SuiteRun.of(record["run"]), code=record.get("code", ""))
    known = record.setdefault("again", {})
    for placement in placements[placements[0] == PLACEMENTS[0] :] if placements else ():
        if not side.by_tests or side.run.trouble or (is_before and side.at_bug):
            break
        if placement in ("stay", "split") and not getattr(project, placement):
            continue
        if placement not in known:
            run = run_of(bug, project, python, tree, path, spot, beside, options, enough, placement)
            known[placement] = run.record()
        side = replace(side, again=(*side.again, (placement, SuiteRun.of(known[placement]))))
    if not side.by_tests and not side.run.trouble and record["auto"] is None and not options.no_auto:
        record["auto"] = list(auto_of(python, tree, path, project))
    script = EXPLAINED.with_name("scripts") / f"{bug.id}.py"
    side = replace(side, auto=tuple(record["auto"] or ()))
    if script.is_file() and not (side.by_tests or side.by_entry) and record.get("script") is None:
        record["script"] = list(confirmed_by(python, tree, path, project, ["--script", str(script)]))
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(record, indent=1), "utf-8")
    return replace(side, script=tuple(record.get("script") or ()))


def run_of(
    bug: Bug,
    project: Project,
    python: Path,
    tree: Path,
    path: str,
    spot: Spot,
    beside: list[Path],
    options: argparse.Namespace,
    enough: int,
    placement: str = PLACEMENTS[0],
) -> SuiteRun:
    tests = files_of_tests(tree, project.tests, path, bug.function or spot.within, spot.names)
    if not tests:
        return SuiteRun((), 0, 0, 0, 0, 0, (), "", "no test names it")
    return run_tests(
        options.forks, project, python, tree, path, spot, tests, beside, DEVICE, options.seconds, enough, placement
    )


def auto_of(python: Path, tree: Path, path: str, project: Project) -> tuple[Any, ...]:
    return confirmed_by(python, tree, path, project, ["--auto"])


def confirmed_by(python: Path, tree: Path, path: str, project: Project, entry: list[str]) -> tuple[Any, ...]:
    """The findings of ``devlint confirm``, each with its verdict."""
    command = [str(python), "-m", "devlint", "confirm", *entry, "--device", "sim", "--isolated", "--timeout", "60",
               "--output-format", "json", path]  # fmt: skip
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tree), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = ":".join([*(str(tree / source) for source in project.sources), str(DEVLINT)])
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=_AUTO_SECONDS
        )
        return tuple(json.loads(done.stdout)["findings"])
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return ()


def chosen(ids: list[str]) -> list[tuple[Bug, Project]]:
    """The bugs whose project the table has. Raises SystemExit if there is none."""
    bugs = [bug for sample in SAMPLES for bug in read_bugs(sample)]
    found = [(bug, project) for bug in bugs if (project := project_of(bug.id)) is not None]
    if ids:
        # In the order in which they are named.
        found = [(bug, project) for name in ids for bug, project in found if bug.id.lower().startswith(name.lower())]
    if not found:
        raise SystemExit(f"no bug of a project in the table has an id that begins with {' or '.join(ids)}")
    return found


def print_words(outcome: Outcome) -> None:
    bug, before, after = outcome.bug, outcome.before, outcome.after
    print(f"{outcome.verdict}: {bug.id} [{bug.kind}, {bug.cause or 'no cause'}] {bug.path}:{bug.lines} {bug.function}")
    print(f"    {bug.why}")
    for line in filter(None, (outcome.trouble, outcome.why_missed[1])):
        print(f"    {line}")
    for name, side in (("before", before), ("after", after)):
        if side is not None:
            run = side.run
            came = f"{run.ran} came there, {run.lifted} lifted, {run.broken} came and fail"
            print(f"    {name}: {run.passed} passed, {run.failed} failed, {came}; {' '.join(run.tests)}")
            for finding in side.said:
                print(f"      {'*' if finding in side.at_bug else ' '} {told(finding)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="only the bugs whose id begins so")
    parser.add_argument("--mirrors", type=Path, metavar="DIR", help="clones of the repositories; nothing is downloaded")
    parser.add_argument("--cache", type=Path, default=CACHE, help="[default: %(default)s]")
    parser.add_argument(
        "--seconds", type=float, default=120, help="of the processor, for the tests of one tree [default: 120]"
    )
    parser.add_argument("--fresh", action="store_true", help="run again what ran already")
    parser.add_argument(
        "--no-auto", action="store_true", help="leave out `devlint confirm --auto`, which takes a minute"
    )
    parser.add_argument("--kept", action="store_true", help="only the bugs that ran already")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="add every bug with what was said of it, and tell of all in it"
    )
    parser.add_argument("--markdown", action="store_true", help="the table as it stands in texts")
    parser.add_argument("--verbose", action="store_true", help="every bug in words")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    options.explained, options.missed = read_explained(EXPLAINED), read_missed(MISSED)
    commits = Commits(options.cache, options.mirrors)

    def one(chosen_one: tuple[Bug, Project]) -> Outcome:
        outcome = outcome_of(*chosen_one, commits, options)
        print(f"{outcome.verdict}: {outcome.bug.id} {outcome.trouble}", file=sys.stderr, flush=True)
        if options.verbose:
            print_words(outcome)
        return outcome

    with Forks() as options.forks:
        kept = options.cache / "runs"
        outcomes = [
            one(each)
            for each in chosen(options.ids)
            if not options.kept or (kept / each[0].id / "before.json").is_file()
        ]
    records = [record_of(outcome) for outcome in outcomes]
    if options.json is not None:
        # What ran another time stays.
        known = json.loads(options.json.read_text("utf-8")) if options.json.exists() else []
        by_id = {record["id"]: record for record in (*known, *records)}
        why = {name: ": ".join(filter(None, options.missed.get(name, ()))) for name in by_id}
        records = [by_id[name] | {"missed": why[name]} for name in sorted(by_id)]
        options.json.write_text(json.dumps(records, indent=1) + "\n", "utf-8")
    print((markdown_table if options.markdown else text_table)(table(records)))
    print(f"\nRun with the code of this tree ({code_of_runs()}): {count_of(records, code_of_runs())}")


if __name__ == "__main__":
    main()
