"""The bugs and look-alikes by commit: their manifests, when a finding counts, and a whole run on a small history."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from commits import Commits
from linting import Finding
from places import CAUSES, Bug, Lookalike, near, read_bugs, read_lookalikes
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
    return {"path": "net.py", "line": line, "code": code, "severity": severity, "confidence": confidence}


@pytest.mark.parametrize(("line", "counts"), [(7, False), (8, True), (12, True), (13, False), (18, True), (23, False)])
def test_a_finding_counts_within_two_lines_of_one_of_the_lines(line: int, counts: bool) -> None:
    assert bool(near([finding(line)], "net.py", BUG.lines)) is counts


def test_another_file_and_a_needless_suppression_do_not_count() -> None:
    assert not near([finding(10)], "other.py", [10])
    assert not near([finding(10, code="DEV900")], "net.py", [10])


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
        BugOutcome(bug("d", kind="torch-load"), (), ()),
    ]
    assert [cells(row) for row in rows(outcomes, lambda bug: bug.kind)] == [
        ["stream", "1 of 3", "1 of 2", "0 of 1", "1", "1", "1", "1", "DEV101 DEV502"],
        ["torch-load", "0 of 1", "0 of 1", "-", "0", "0", "0", "1", ""],
        ["total", "1 of 4", "1 of 3", "0 of 1", "1", "1", "1", "2", "DEV101 DEV502"],
    ]
    assert sorted(causes(outcomes)) == [("callers", 0, 1), ("not looked into", 1, 0), ("state", 0, 1)]
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
