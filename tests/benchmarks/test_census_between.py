"""The comparison of two trees' operands."""

from __future__ import annotations

from census_between import NONE, changes, fewer, table

BEFORE = {"a:1": "unknown", "a:2": "unknown", "a:3": "known", "a:4": "conventional", "a:5": "unknown"}
NOW = {"a:1": "known", "a:2": "unknown", "a:3": "known", "a:4": "unknown", "a:6": "unknown"}


def test_operands_are_matched_by_place_and_those_of_one_tree_alone_are_apart() -> None:
    counts = changes(BEFORE, NOW)
    assert counts["unknown", "known"] == 1
    assert counts["unknown", NONE] == counts[NONE, "unknown"] == 1
    assert fewer(counts) == (2, 2)
    assert fewer(changes(BEFORE, BEFORE)) == (3, 3)


def test_each_row_is_a_state_before_and_each_column_a_state_now() -> None:
    head, *rows = table(changes(BEFORE, NOW))
    assert head == ["before / now", "known", "conventional", "unknown", NONE]
    assert rows[0] == ["known", "1", "0", "0", "0"]
    assert rows[2] == ["unknown", "1", "0", "1", "1"]
    assert sum(int(cell) for row in rows for cell in row[1:]) == 6
