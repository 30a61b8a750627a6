"""When an entry holds for files of other sizes."""

from __future__ import annotations

import pytest

from devlint.cache.entries import fits


@pytest.mark.parametrize(
    ("then", "now", "holds"),
    [
        ((), (), True),
        ((3, 4), (4, 5), True),
        ((3, 6), (3, 6), True),
        ((3, 6), (4, 6), False),
        ((30, 60), (30, 60), True),
        ((30, 60), (30, 61), False),
        ((30, 60), (3, 6), False),
        ((3, 6), (30, 60), False),
    ],
)
def test_sizes_hold_while_they_are_the_same_or_below_the_budget(
    then: tuple[int, ...], now: tuple[int, ...], holds: bool
) -> None:
    assert fits(zip(then, now, strict=True), 10) is holds
    assert fits(zip(then[::-1], now[::-1], strict=True), 10) is holds
