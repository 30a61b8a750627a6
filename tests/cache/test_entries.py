"""When an entry holds for files of other sizes."""

from __future__ import annotations

import pytest

from devlint.source.dependencies import Dependencies, Extent


@pytest.mark.parametrize(
    ("extent", "then", "now", "after"),
    [
        (Extent(), (), (), Extent()),
        (Extent(10, 7), (3, 4), (3, 4), Extent(10, 7)),
        (Extent(10, 7), (3, 4), (4, 5), Extent(10, 9)),
        (Extent(10, 9), (3, 6), (4, 6), None),
        (Extent(10, 9), (3, 6), (4, 5), None),
        (Extent(10, 6, 90), (30, 60), (30, 60), Extent(10, 6, 90)),
        (Extent(10, 6, 90), (30, 60), (30, 61), Extent(10, 7, 89)),
        (Extent(10, 6, 90), (30, 60), (30, 64), None),
        (Extent(10, 0, 14), (4, 10), (4, 6), Extent(10, 4, 10)),
        (Extent(10, 0, 14), (4, 10), (4, 5), None),
        (Extent(10, 6, 90), (30, 60), (3, 6), None),
    ],
)
def test_sizes_hold_while_no_other_file_is_read_and_none_is_left_out(
    extent: Extent, then: tuple[int, ...], now: tuple[int, ...], after: Extent | None
) -> None:
    assert extent.after(zip(then, now, strict=True)) == after
    assert extent.after(zip(then[::-1], now[::-1], strict=True)) == after


def test_of_several_passes_the_narrowest_margins_count() -> None:
    dependencies = Dependencies()
    for counts in ((3, 12), (9, 0), (5, 11)):
        dependencies.note("counted", counts, True)
    assert dependencies.extent(10) == Extent(10, 9, 11)


def test_what_read_nothing_left_nothing_out() -> None:
    assert Dependencies().extent(10) == Extent(10)
