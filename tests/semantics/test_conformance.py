"""Every conformance row, judged with the devices its tensors claim."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.semantics.row_code import Outcome, judge_row

CONTENT = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "semantics" / "conformance_rows.json").read_text("utf-8")
)
ROWS: list[dict[str, Any]] = CONTENT["rows"]


def agrees(row: dict[str, Any], outcome: Outcome) -> bool:
    if row.get("judged") == "unclear":
        return outcome.verdict == "unclear"
    if row["expect"] == "err":
        return outcome.verdict == "clash" and outcome.detail == row.get("judged", row["kind"])
    return outcome.verdict == "meets" and row["device"] in (None, outcome.detail)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS, ids=[row["code"] for row in ROWS])
def test_row_is_judged_as_expected(row: dict[str, Any]) -> None:
    outcome = judge_row(row["code"])
    assert agrees(row, outcome), outcome


def test_rows_are_distinct_and_say_where_they_come_from() -> None:
    assert len({row["code"] for row in ROWS}) == len(ROWS)
    assert {row["source"] for row in ROWS} <= set("MDSWKC")
    assert {row["tag"] for row in ROWS} == {"build", "derived"}
    assert [row["id"] for row in ROWS] == list(range(1, len(ROWS) + 1))
