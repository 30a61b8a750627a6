"""Which fixes go together."""

from __future__ import annotations

import pytest

from devlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity
from devlint.fixes.choosing import chosen


def finding(*edits: Edit, applicability: Applicability = Applicability.SAFE, line: int = 1) -> Finding:
    place = Place("a.py", line, 1, line, 2)
    fix = Fix(applicability, "do it", edits)
    return Finding("DEV101", "n", Severity.ERROR, Confidence.HIGH, "m", place, fix=fix)


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ((Edit(0, 2, "x"),), (Edit(3, 4, "y"),), True),
        ((Edit(0, 2, "x"),), (Edit(1, 4, "y"),), False),
        ((Edit(0, 2, "x"),), (Edit(2, 2, "y"),), False),
        ((Edit(5, 5, "x"),), (Edit(5, 5, "x"),), False),
        # What stands between the edits of one fix belongs to its idea.
        ((Edit(0, 0, "("), Edit(9, 9, ")")), (Edit(4, 5, "y"),), False),
        ((Edit(0, 2, "x", cell=1),), (Edit(0, 2, "y", cell=2),), True),
    ],
)
def test_fixes_that_touch_each_other_are_not_made_together(
    one: tuple[Edit, ...], other: tuple[Edit, ...], together: bool
) -> None:
    first, second = finding(*one), finding(*other, line=2)
    assert chosen([first, second], unsafe=False) == ([first, second] if together else [first])


def test_unsafe_ones_are_made_when_wished_for_and_suggestions_never() -> None:
    safe = finding(Edit(0, 1, "x"))
    unsafe = finding(Edit(3, 4, "x"), applicability=Applicability.UNSAFE)
    suggestion = finding(Edit(6, 7, "x"), applicability=Applicability.SUGGESTION)
    assert chosen([safe, unsafe, suggestion], unsafe=False) == [safe]
    assert chosen([safe, unsafe, suggestion], unsafe=True) == [safe, unsafe]


def test_a_fix_of_another_file_is_not_made_in_this_one() -> None:
    assert chosen([finding(Edit(0, 1, "x", "b.py"))], unsafe=True) == []
    assert chosen([finding()], unsafe=True) == []
