"""Draws are seeded, fair unless told otherwise, and ready to be labelled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from drawing import draw, source_around, to_be_labelled, words
from labels import Label, parse_label
from linting import Finding, per_ten_thousand
from steadiness import differences


def finding(number: int, code: str = "DEV101") -> Finding:
    step = {"path": "net.py", "line": number, "column": 1, "message": "made here", "device": "cpu"}
    return {
        "package": "net", "version": "1.0", "path": "net.py", "code": code, "fingerprint": f"f{number}",
        "line": number, "column": 1, "scope": "Net.forward", "severity": "error", "confidence": "high",
        "message": f"message {number}", "help": None, "trace": [step],
    }  # fmt: skip


FINDINGS = [finding(number, "DEV101" if number % 4 else "DEV202") for number in range(1, 41)]


def test_a_draw_depends_on_the_seed_and_not_on_the_order() -> None:
    drawn = draw(FINDINGS, 10, seed=1)
    assert len(drawn) == 10
    assert drawn == draw(FINDINGS[::-1], 10, seed=1)
    assert drawn != draw(FINDINGS, 10, seed=2)


def test_a_finding_that_goes_leaves_the_others_drawn() -> None:
    drawn = draw(FINDINGS, 10, seed=1)
    rest = [one for one in FINDINGS if one != drawn[0]]
    assert [one for one in drawn[1:] if one not in draw(rest, 10, seed=1)] == []


def test_a_draw_of_more_than_there_are_is_all() -> None:
    assert len(draw(FINDINGS, 100, seed=1)) == len(FINDINGS)
    assert [one["code"] for one in draw(FINDINGS, 100, seed=1, per_rule=3)] == ["DEV101"] * 3 + ["DEV202"] * 3


def test_a_drawn_finding_becomes_a_label_when_it_is_judged(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\nmask = torch.ones(3)\n", encoding="utf-8")
    record = json.loads(json.dumps(to_be_labelled(finding(2), "second", tmp_path)))
    assert record["trace"] == ["net.py:2:1 made here [cpu]"]
    assert record["source"] == ["    1 import torch", "    2 mask = torch.ones(3)"]
    with pytest.raises(ValueError, match="label is None"):
        parse_label(record)
    judged = parse_label(record | {"label": "true", "why": "the mask stays"})
    assert judged == Label(
        "net", "1.0", "net.py", "Net.forward", "DEV101", "f2", 2, "true", "the mask stays", "error", "second"
    )


def test_source_is_shown_around_the_line(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("".join(f"x{number}\n" for number in range(1, 101)), encoding="utf-8")
    shown = source_around(file, 50)
    assert (shown[0], shown[-1], len(shown)) == ("   38 x38", "   62 x62", 25)


def test_a_finding_in_words_has_its_trace() -> None:
    assert words(finding(3)) == (
        "net net.py:3 DEV101 error high\n    in Net.forward: message 3\n    net.py:3 made here [cpu]"
    )


def test_differences_between_runs_name_the_place() -> None:
    assert differences(FINDINGS, list(FINDINGS)) == []
    assert differences(FINDINGS[:2], FINDINGS[1:3]) == [
        "only in the whole run: net.py:1:1 DEV101",
        "not in the whole run: net.py:3:1 DEV101",
    ]
    assert differences(FINDINGS[:2], FINDINGS[1::-1]) == ["the same findings in another order"]


def test_density_of_nothing_is_nothing() -> None:
    assert per_ten_thousand(3, 20_000) == 1.5
    assert per_ten_thousand(0, 0) == 0
