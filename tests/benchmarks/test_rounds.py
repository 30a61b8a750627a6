"""The samples that were drawn before devlint ran on them: whole, and each project in one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import read_bugs, read_lookalikes
from real_bugs import BUGS

FOLDER = Path(__file__).parents[2] / "fixtures" / "rounds"
ROUNDS = sorted(path for path in FOLDER.iterdir() if path.is_dir() and path.name.isdecimal())


@pytest.mark.parametrize("folder", ROUNDS, ids=lambda path: path.name)
def test_a_round_is_large_enough_and_readable(folder: Path) -> None:
    bugs = read_bugs(folder / "bugs.jsonl")
    assert len(bugs) >= 60
    assert len({bug.repo for bug in bugs}) >= 12
    assert read_lookalikes(folder / "lookalikes.jsonl")
    releases = (folder / "releases.txt").read_text("utf-8").split()
    assert len(releases) >= 12
    assert all(release.count("==") == 1 for release in releases)


def test_no_project_is_in_two_lists() -> None:
    lists = [{bug.repo for bug in read_bugs(folder / "bugs.jsonl")} for folder in ROUNDS]
    lists.append({bug.repo for bug in read_bugs(BUGS)})
    assert sum(map(len, lists)) == len(set().union(*lists))
    releases = [line for folder in ROUNDS for line in (folder / "releases.txt").read_text("utf-8").split()]
    assert len(releases) == len(set(releases))


@pytest.mark.parametrize("file", [file for folder in ROUNDS for file in folder.glob("labels.jsonl")], ids=str)
def test_labels_say_what_both_readers_said(file: Path) -> None:
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert rows
    for row in rows:
        assert row["label"] in ("true", "false", "unclear")
        assert {row["first"], row["second"]} <= {"true", "false", "unclear"}
        assert row["why"]
