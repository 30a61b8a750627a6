"""The bugs and look-alikes by commit: their manifests, when a finding counts, and a whole run on a small history."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from commits import Commits
from importers import importers, lines_of_statements, names_of
from linting import Finding
from places import CAUSES, Bug, Lookalike, leading_to, near, read_bugs, read_lookalikes, without
from real_bugs import BUGS, LOOKALIKES, bug_outcomes, lookalike_outcomes
from test_commits import commit, git, mirror
from verdicts import BugOutcome, LookalikeOutcome, causes, cells, row, rows

BUG = Bug(
    "net-1", "net/work", "1" * 40, "2" * 40, "net.py", (10, 20), "net.py", (12,), "Net.forward", "stream", True,
    "state", "The buffer stays behind.",
)  # fmt: skip


def bug(name: str = "net-1", **changes: Any) -> Bug:
    return Bug(**{**asdict(BUG), "id": name, **changes})


def finding(line: int, code: str = "DEV101", severity: str = "error", confidence: str = "high") -> Finding:
    finding: Finding = {"path": "net.py", "line": line, "code": code, "severity": severity, "confidence": confidence}
    return {**finding, "scope": "f", "message": "", "trace": []}


@pytest.mark.parametrize(("line", "counts"), [(7, False), (8, True), (12, True), (13, False), (18, True), (23, False)])
def test_a_finding_counts_within_two_lines_of_one_of_the_lines(line: int, counts: bool) -> None:
    assert bool(near([finding(line)], "net.py", BUG.lines)) is counts


def test_another_file_and_a_needless_suppression_do_not_count() -> None:
    assert not near([finding(10)], "other.py", [10])
    assert not near([finding(10, code="DEV900")], "net.py", [10])


def traced(line: int, path: str = "train.py", **changes: Any) -> Finding:
    """A finding in a caller whose trace begins at a line of the helper."""
    trace = [{"path": "net.py", "line": line}, {"path": path, "line": 50}]
    return finding(50) | {"path": path, "trace": trace, **changes}


def test_a_finding_elsewhere_counts_if_its_trace_comes_by() -> None:
    by = [line for line in range(6, 15) if leading_to([traced(line)], "net.py", BUG.lines)]
    assert by == [8, 9, 10, 11, 12]
    assert leading_to([traced(10, path="net.py")], "net.py", BUG.lines)
    assert not leading_to([traced(10)], "other.py", BUG.lines)
    assert not leading_to([traced(10, code="DEV900")], "net.py", BUG.lines)
    assert not leading_to([finding(10) | {"trace": [{"path": "net.py", "line": 10}]}], "net.py", BUG.lines)


def test_what_is_said_before_and_after_tells_nothing() -> None:
    said, elsewhere = traced(10), traced(12) | {"line": 80}
    assert without([said], [elsewhere]) == ()
    assert without([said], [traced(10, scope="g")]) == (said,)
    outcome = BugOutcome(BUG, (), (), (said,))
    assert (outcome.verdict, outcome.elsewhere, outcome.gone) == ("found", True, True)
    assert not BugOutcome(BUG, (finding(10),), (), (said,)).elsewhere
    assert BugOutcome(BUG, (), (), (said,), (traced(12),)).still
    assert BugOutcome(BUG, (), (), (traced(10, severity="note"),)).verdict == "below"


def test_what_users_do_not_see_is_below_the_gate() -> None:
    note, unsure, shown = finding(10, severity="note"), finding(10, confidence="low"), finding(10, severity="warning")
    assert [BugOutcome(BUG, (said,), ()).verdict for said in (note, unsure, shown)] == ["below", "below", "found"]
    assert BugOutcome(BUG, (), ()).verdict == "missed"
    assert BugOutcome(BUG, (note, shown), (unsure,)).gone
    assert not BugOutcome(BUG, (note, shown), (shown,)).gone
    assert BugOutcome(BUG, (), (shown,)).still
    assert not BugOutcome(BUG, (), (note,)).still
    place = Lookalike("a", "net/work", "1" * 40, "net.py", 10, "f", "zero-dim", "No dimensions.")
    assert LookalikeOutcome(place, (shown,)).false
    assert LookalikeOutcome(place, (note,)).below


def test_the_tables_tell_local_and_wider_bugs_and_the_causes_apart() -> None:
    outcomes = [
        BugOutcome(bug("a"), (finding(10, "DEV502"), finding(11)), ()),
        BugOutcome(bug("b", local=False, cause="callers"), (), ()),
        BugOutcome(bug("c", cause=None), (finding(9, confidence="low"),), (finding(12),)),
        BugOutcome(bug("d", kind="torch-load"), (), (), (traced(10),)),
    ]
    assert [cells(row) for row in rows(outcomes, lambda bug: bug.kind)] == [
        ["stream", "1 of 3", "1 of 2", "0 of 1", "0", "1", "1", "1", "1", "DEV101 DEV502"],
        ["torch-load", "1 of 1", "1 of 1", "-", "1", "1", "0", "0", "0", "DEV101"],
        ["total", "2 of 4", "2 of 3", "0 of 1", "1", "2", "1", "1", "1", "DEV101 DEV502"],
    ]
    assert sorted(causes(outcomes)) == [("callers", 0, 1), ("not looked into", 1, 0)]
    assert row("none", []).bugs == 0


def test_the_manifests_can_be_read() -> None:
    bugs, lookalikes = read_bugs(BUGS), read_lookalikes(LOOKALIKES)
    assert len(bugs) == len(BUGS.read_text(encoding="utf-8").splitlines()) > 200
    assert len(lookalikes) == len(LOOKALIKES.read_text(encoding="utf-8").splitlines()) > 50
    assert all(len(commit) == 40 for bug in bugs for commit in (bug.parent, bug.fix))
    assert {bug.cause for bug in bugs} == {None, *CAUSES}
    assert max(Counter(bug.why for bug in bugs).values()) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lines": []}, "must be line numbers"),
        ({"fixed_lines": [0]}, "must be line numbers"),
        ({"local": "yes"}, "local is 'yes'"),
        ({"cause": "magic"}, "cause is 'magic', not one of parameter"),
        ({"why": "two\nlines"}, "why is"),
        ({"package": "net"}, "package"),
    ],
)
def test_a_record_that_is_no_bug_is_named_by_its_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    file = tmp_path / "bugs.jsonl"
    file.write_text(
        json.dumps(asdict(BUG)) + "\n" + json.dumps(asdict(bug("net-2")) | changes) + "\n", encoding="utf-8"
    )
    with pytest.raises(ValueError, match=rf"bugs\.jsonl:2: not a place: .*{said}"):
        read_bugs(file)


def test_an_id_stands_once_and_a_place_has_all_its_fields(tmp_path: Path) -> None:
    file = tmp_path / "bugs.jsonl"
    file.write_text(2 * (json.dumps(asdict(BUG)) + "\n"), encoding="utf-8")
    with pytest.raises(ValueError, match="the id net-1 twice"):
        read_bugs(file)
    file.write_text('{"id": "a"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="not a place: 'lines'"):
        read_bugs(file)
    with pytest.raises(ValueError, match=r"not a place: .*repo"):
        read_lookalikes(file)


BUGGY = """import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(x.shape[1])
        return x + positions
"""


def test_a_run_on_a_history_finds_the_bug_and_is_silent_after_the_fix(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    parent = commit(work, {"net.py": BUGGY, "pyproject.toml": "[project]\n"})
    fix = commit(work, {"net.py": BUGGY.replace("shape[1])", "shape[1], device=x.device)")})
    mirror(work, tmp_path / "mirrors" / "net+work")
    commits = Commits(tmp_path / "cache", tmp_path / "mirrors")
    found = bug(parent=parent, fix=fix, lines=(6,), fixed_lines=(6,))
    bugs = [found, bug("gone", parent=parent, fix=fix, path="old.py"), bug("away", repo="other/work")]
    outcomes, failed = bug_outcomes(bugs, commits, jobs=1, limit=60)
    assert [(outcome.bug.id, outcome.verdict, outcome.gone) for outcome in outcomes] == [("net-1", "found", True)]
    assert {f["code"] for f in outcomes[0].before} == {"DEV101"}
    assert failed["gone"].endswith("has no old.py")
    assert "other/work: no clone in" in failed["away"]
    _, late = bug_outcomes([found], commits, jobs=1, limit=0.001)
    assert late == {"net-1": "not analysed: not done after 0 s"}
    places = [
        Lookalike(name, "net/work", sha, "net.py", 6, "Net.forward", "to-same-expression", "Moved at once.")
        for name, sha in (("bad", parent), ("good", fix))
    ]
    correct, none = lookalike_outcomes(places, commits, jobs=1, limit=60)
    assert [(outcome.place.id, outcome.false) for outcome in correct] == [("bad", True), ("good", False)]
    assert not none


HELPER = """import torch


def positions(count):
    return torch.arange(count)
"""
CALLER = """import torch
from work.{module} import {name}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.embedding({call}(x.shape[1]))
"""


def test_a_bug_of_a_helper_is_found_in_the_file_that_calls_it(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "-q")
    caller = CALLER.format(module="helper", name="positions", call="positions")
    files = {"work/__init__.py": "", "work/net.py": caller, "work/helper.py": HELPER}
    parent = commit(work, files)
    fix = commit(work, {"work/helper.py": HELPER.replace("(count)\n", '(count, device="cuda")\n')})
    mirror(work, tmp_path / "mirrors" / "net+work")
    commits = Commits(tmp_path / "cache", tmp_path / "mirrors")
    where = {"path": "work/helper.py", "fixed_path": "work/helper.py", "lines": (5,), "fixed_lines": (5,)}
    helped = bug(parent=parent, fix=fix, function="positions", local=False, **where)
    (outcome,), _ = bug_outcomes([helped], commits, jobs=1, limit=60)
    assert (outcome.verdict, outcome.elsewhere, outcome.before) == ("found", True, ())
    assert {said["path"] for said in outcome.leading} == {"work/net.py"}
    place = Lookalike("bad", "net/work", parent, "work/helper.py", 5, "positions", "cpu-only", "Looked up on the CPU.")
    (correct,), _ = lookalike_outcomes([place], commits, jobs=1, limit=60)
    assert correct.false


def test_a_trace_may_name_the_first_line_of_the_statement(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "x = f(\n    1,\n    2,\n    3,\n    4,\n)\ny = 1\nif x:\n    z = (\n        2\n    )\n", encoding="utf-8"
    )
    assert lines_of_statements(file, [5]) == [1, 2, 3, 4, 5, 6]
    assert lines_of_statements(file, [7]) == [7]
    assert lines_of_statements(file, [8]) == [8]
    assert lines_of_statements(file, [10]) == [9, 10, 11]
    file.write_text("print 1\n", encoding="utf-8")
    assert lines_of_statements(file, [1]) == [1]


def test_the_files_that_import_another_are_bounded_and_those_that_use_its_names_come_first(tmp_path: Path) -> None:
    texts = {
        "work/net/helper.py": "def positions(): ...\n",
        "work/net/near.py": "from . import helper\n",
        "work/far.py": "from .net.helper import (\n    positions,\n)\n",
        "work/by_package.py": "from work.net import positions\n",
        "work/whole.py": "import os, work.net.helper as h\n",
        "work/other.py": "import os  # helper positions\nhelper = positions = 1\n",
        "work/only_words.py": "from work import helpers\nhelper = 1\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    names = names_of("Net.positions")
    found = importers(tmp_path, "work/net/helper.py", names)
    assert found == ["work/by_package.py", "work/far.py", "work/net/near.py", "work/whole.py"]
    assert importers(tmp_path, "work/net/helper.py", names, at_most=1) == ["work/by_package.py"]
    assert names_of("Net.forward") == {"Net"}
    assert names_of("Net.__init__.inner") == {"Net", "inner"}
    assert names_of("<module>") == frozenset()
