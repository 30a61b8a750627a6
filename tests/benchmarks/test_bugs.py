"""When a finding counts for a bug, and what the table says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bugs import Bug, Outcome, density, hit_by_chance, near, read_bugs, rows
from linting import Finding
from released_bugs import MANIFEST, cells, markdown_table, misses


def bug(name: str = "net-1", **changes: Any) -> Bug:
    fields: dict[str, Any] = {
        "id": name, "package": "net", "buggy": "1.0", "fixed": "1.1", "path": "net/net.py", "line": 10,
        "fixed_path": "net/net.py", "fixed_line": 12, "kind": "stream", "local": True, "function": "forward",
        "needs": None, "why": "why", "issue": None, "repo": "net/net", "fix_commit": "abc", "effect": "crash",
    }  # fmt: skip
    return Bug(**(fields | changes))


def finding(line: int, code: str = "DEV101", path: str = "net/net.py") -> Finding:
    return {"path": path, "line": line, "code": code, "fingerprint": f"{code}-{line}"}


@pytest.mark.parametrize(("line", "counts"), [(7, False), (8, True), (10, True), (12, True), (13, False)])
def test_a_finding_counts_within_two_lines(line: int, counts: bool) -> None:
    assert bool(near([finding(line)], "net/net.py", 10)) is counts


def test_a_finding_in_another_file_does_not_count() -> None:
    assert not near([finding(10, path="net/other.py")], "net/net.py", 10)


def test_a_needless_suppression_comment_finds_no_bug() -> None:
    assert not near([finding(10, code="DEV900")], "net/net.py", 10)


def test_gone_is_what_was_found_and_is_no_longer_reported() -> None:
    said, silent = (finding(10),), ()
    assert Outcome(bug(), said, silent).gone
    assert not Outcome(bug(), said, said).gone
    assert not Outcome(bug(), silent, silent).gone
    assert Outcome(bug(), silent, said).still
    assert not Outcome(bug(), silent, said).found


def test_the_table_keeps_local_and_non_local_bugs_apart() -> None:
    outcomes = [
        Outcome(bug("a"), (finding(10, "DEV502"), finding(11)), ()),
        Outcome(bug("b", local=False), (), ()),
        Outcome(bug("c", kind="index-device", local=False), (finding(9),), (finding(12),)),
    ]
    assert [cells(row) for row in rows(outcomes)] == [
        ["stream", "1 of 2", "1 of 1", "0 of 1", "1", "0", "DEV101, DEV502"],
        ["index-device", "1 of 1", "-", "1 of 1", "0", "1", "DEV101"],
        ["total", "2 of 3", "1 of 1", "1 of 2", "1", "1", "DEV101, DEV502"],
    ]
    assert markdown_table(rows(outcomes)).splitlines()[-1] == (
        "| total | 2 of 3 | 1 of 1 | 1 of 2 | 1 | 1 | DEV101, DEV502 |"
    )


def test_a_miss_says_what_it_needs() -> None:
    outcomes = [Outcome(bug("a"), (finding(10),), ()), Outcome(bug("b", local=False, needs="its caller"), (), ())]
    assert misses(outcomes) == "  b [stream, non-local] net/net.py:10 (needs: its caller)"


def test_two_bugs_of_one_file_share_its_findings() -> None:
    found = [finding(10), finding(11), finding(90)]
    outcomes = [Outcome(one, near(found, one.path, one.line), ()) for one in (bug("a"), bug("b", line=12))]
    said = density(outcomes, {("net", "1.0", "net/net.py"): (100, found)})
    assert (said.files, said.lines, said.findings, said.at_bugs) == (1, 100, 3, 2)
    assert said.by_chance == pytest.approx(2 * (1 - 0.95**3))


def test_chance_knows_the_ends_of_a_file() -> None:
    assert hit_by_chance(lines=100, findings=1, line=1) == pytest.approx(0.03)
    assert hit_by_chance(lines=100, findings=0, line=50) == 0
    assert hit_by_chance(lines=3, findings=1, line=2) == 1


def test_the_manifest_can_be_read() -> None:
    bugs = read_bugs(MANIFEST)
    assert len(bugs) == len(MANIFEST.read_text(encoding="utf-8").splitlines())
    assert all(bug.line > 0 and bug.fixed_line > 0 and bug.buggy != bug.fixed for bug in bugs)


def test_a_record_that_is_no_bug_is_named_by_its_line(tmp_path: Path) -> None:
    file = tmp_path / "bugs.jsonl"
    file.write_text(json.dumps(vars(bug())) + '\n{"id": "b"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"bugs\.jsonl:2: not a bug: .*package"):
        read_bugs(file)
    file.write_text(2 * (json.dumps(vars(bug())) + "\n"), encoding="utf-8")
    with pytest.raises(ValueError, match="the same id twice: net-1"):
        read_bugs(file)
