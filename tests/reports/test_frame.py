"""Source frames: what is underlined, and how it fits."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from devlint.finding import Place
from devlint.reports.frame import frame
from devlint.reports.painting import paint


def drawn(place: Place, text: str, width: int | None = None, context: int = 0) -> list[str]:
    return paint(frame(place, text.split("\n"), width, 2, "^", "red", context), False).splitlines()


def test_the_region_is_underlined() -> None:
    assert drawn(Place("a.py", 2, 5, 2, 9), "a\nx = call()\nb", context=1) == [
        " 1 | a",
        " 2 | x = call()",
        "   |     ^^^^",
        " 3 | b",
    ]


def test_a_region_of_nothing_gets_one_caret() -> None:
    assert drawn(Place("a.py", 1, 3, 1, 3), "ab") == [" 1 | ab", "   |   ^"]


def test_every_line_of_a_region_is_underlined_from_its_first_word() -> None:
    assert drawn(Place("a.py", 1, 5, 3, 2), "x = f(\n    1,  \n)") == [
        " 1 | x = f(",
        "   |     ^^",
        " 2 |     1,",
        "   |     ^^",
        " 3 | )",
        "   | ^",
    ]


def test_a_long_region_shows_its_ends() -> None:
    shown = drawn(Place("a.py", 1, 1, 30, 2), "\n".join(f"line {n}" for n in range(1, 31)))
    assert [line.rstrip() for line in shown if "^" not in line] == [
        " 1 | line 1", " 2 | line 2", " 3 | line 3", "...", "29 | line 29", "30 | line 30",
    ]  # fmt: skip


def test_tabs_and_wide_characters_keep_the_carets_in_line() -> None:
    assert drawn(Place("a.py", 1, 7, 1, 8), "\t日本 = x") == [" 1 |     日本 = x", "   |            ^"]
    assert drawn(Place("a.py", 1, 2, 1, 4), "\t日本 = x") == [" 1 |     日本 = x", "   |     ^^^^"]


def test_control_characters_are_shown_not_obeyed() -> None:
    (line, _) = drawn(Place("a.py", 1, 1, 1, 2), "x = '\x1b[31m\u202e'")
    assert line == " 1 | x = '␛[31m\ufffd'"


def test_a_long_line_is_cut_around_the_region() -> None:
    text = "a" * 100 + "TARGET" + "b" * 100
    line, marks = drawn(Place("a.py", 1, 101, 1, 107), text, width=45)
    assert line == " 1 | ...aaaaaaaaaaaaaTARGETbbbbbbbbbbbbbbb..."
    assert line[marks.index("^") : marks.rindex("^") + 1] == "TARGET"


def test_a_long_line_of_wide_characters_is_cut_between_them() -> None:
    line, marks = drawn(Place("a.py", 1, 41, 1, 43), "日" * 100, width=40)
    assert line.startswith(" 1 | ...日")
    assert line.endswith("日...")
    assert cell_len(line) in (39, 40)
    assert cell_len(line[: line.index("日")]) + 2 * 5 == marks.index("^")
    assert marks.count("^") == 4
    assert drawn(Place("a.py", 1, 98, 1, 101), "日" * 100, width=40)[0].endswith("日")


def test_a_place_outside_of_the_file_draws_nothing() -> None:
    assert drawn(Place("a.py", 9, 1, 9, 2), "x") == []


@example(text="x" * 34, start=35, length=0, width=39)
@given(
    text=st.one_of(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\n"), max_size=120),
        st.text("ab 日\t\u0301\x1b", min_size=60, max_size=160),
    ),
    start=st.integers(1, 130),
    length=st.integers(0, 130),
    width=st.integers(30, 100),
)
def test_no_line_is_wider_than_the_terminal(text: str, start: int, length: int, width: int) -> None:
    for line in drawn(Place("a.py", 1, start, 1, start + length), text, width):
        assert cell_len(line) <= width
