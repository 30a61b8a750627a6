"""Suppression comments: what they cover, and what of them is unused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devlint.configuration.codes import all_codes
from devlint.finding import Confidence, Finding, Place, Severity
from devlint.pipeline.stages.suppressing import Suppressed, suppress_by
from devlint.source.suppression import read_suppressions

ALL = frozenset(all_codes())


def finding(line: int, code: str = "DEV101", related: tuple[int, ...] = ()) -> Finding:
    place = Place("a.py", line, 1, line, 2)
    return Finding(code, "name", Severity.ERROR, Confidence.HIGH, "message", place, related_lines=related)


def apply(text: str, *findings: Finding, enabled: frozenset[str] = ALL, bare: bool = False) -> Suppressed:
    return suppress_by(read_suppressions(text), findings, text, "a.py", enabled, bare)


def silenced(text: str, line: int, code: str = "DEV101", related: tuple[int, ...] = ()) -> bool:
    return bool(apply(text, finding(line, code, related)).suppressed)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: DEV101",
        "#noqa:DEV101",
        "# NOQA: dev101",
        "# noqa: F401, DEV101",
        "# noqa: F401 DEV101",
        "# noqa: DEV1",
        "# noqa: DEV101 made on purpose",
        "# type: ignore # noqa: DEV101",
        "# devlint: ignore[DEV101]",
        "# devlint: ignore[DEV101] the caller moves it",
        "#devlint:ignore[ DEV5 ,DEV101 ]",
        "# devlint: ignore[ALL]",
    ],
)
def test_comments_at_the_end_of_a_line(comment: str) -> None:
    assert silenced(f"x = f()  {comment}\n", 1)
    assert not silenced(f"x = f()  {comment}\ny = f()\n", 2)
    assert not silenced(f"x = f()  {comment}\n", 1, "DEV901")


@pytest.mark.parametrize(
    "comment",
    ["# noqa", "# noqa: DEV102", "# noqa: F401", "# devlint: ignore", "# devlint ignore[DEV101]", "# noqaDEV101"],
)
def test_comments_that_name_something_else(comment: str) -> None:
    assert not silenced(f"x = f()  {comment}\n", 1)


def test_strings_are_no_comments() -> None:
    assert not silenced("x = f('# noqa: DEV101')\n", 1)
    assert not silenced('x = f("""\n# devlint: ignore[DEV101]\n""")\n', 1)


@pytest.mark.parametrize("line", [1, 2, 3, 4])
def test_any_line_of_the_statement_will_do(line: int) -> None:
    lines = ["x = f(", "    1,", "    2,", ")"]
    lines[line - 1] += "  # noqa: DEV101"
    assert silenced("\n".join(lines) + "\n", 2)


def test_a_compound_statement_is_silenced_in_its_header_only() -> None:
    assert silenced("for x in f(\n    y\n):  # noqa: DEV101\n    pass\n", 1)
    assert not silenced("for x in f(\n    y\n):\n    pass  # noqa: DEV101\n", 1)
    assert not silenced("for x in y:  # noqa: DEV101\n    f()\n", 2)


def test_a_backslash_and_a_long_string_continue_a_statement() -> None:
    assert silenced("x = f() + \\\n    1  # noqa: DEV101\n", 1)
    assert silenced('x = f("""\n""")  # noqa: DEV101\n', 1)


def test_related_lines_count_too() -> None:
    assert silenced("@decorated\ndef f():  # noqa: DEV101\n    pass\n", 1, related=(1, 2))


def test_ignore_stands_on_its_own_line_above() -> None:
    assert silenced("# devlint: ignore[DEV101] reason\nx = f()\n", 2)
    assert silenced("# devlint: ignore[DEV101]\n# more words\n\nx = f(\n    1,\n)\n", 5)
    assert silenced("if y:\n    # devlint: ignore[DEV101]\n    x = f()\n", 3)
    assert silenced("x = [\n    # devlint: ignore[DEV101]\n    f(),\n]\n", 3)
    assert not silenced("# devlint: ignore[DEV101]\nx = f()\ny = f()\n", 3)
    assert not silenced("# noqa: DEV101\nx = f()\n", 2)


def test_file_ignore_covers_the_file() -> None:
    assert silenced("x = f()\ny = 1\n# devlint: file-ignore[DEV1]\n", 1)
    assert not silenced("x = f()\n# devlint: file-ignore[DEV3]\n", 1)


def test_a_bare_noqa_counts_only_where_configured() -> None:
    text = "x = f()  # noqa\n"
    assert not apply(text, finding(1)).suppressed
    assert apply(text, finding(1), bare=True).suppressed
    assert not apply(text, bare=True).unused


def test_comments_are_read_as_far_as_the_tokenizer_gets() -> None:
    assert silenced("x = f()  # noqa: DEV101\ny = (\n", 1)
    assert silenced("x = f()  # noqa: DEV101", 1)


def fixed(text: str, *findings: Finding, enabled: frozenset[str] = ALL) -> str:
    data = text.encode()
    for unused in reversed(apply(text, *findings, enabled=enabled).unused):
        assert unused.fix is not None
        (edit,) = unused.fix.edits
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data.decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 'é'  # noqa: DEV101\n", "x = 'é'\n"),
        ("x = 1  # noqa: DEV101, F401\n", "x = 1  # noqa: F401\n"),
        ("x = 1  # noqa: F401,DEV101 # type: ignore\n", "x = 1  # noqa: F401 # type: ignore\n"),
        ("x = 1  # noqa: DEV101 # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # type: ignore # noqa: DEV101\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: DEV101 words\ny = 2\n", "x = 1\ny = 2\n"),
        ("a = 1\n    # devlint: ignore[DEV101] why\nx = 1\n".replace("    ", ""), "a = 1\nx = 1\n"),
        ("a = 1\r\n# devlint: file-ignore[DEV101]\r\nx = 1\r\n", "a = 1\r\nx = 1\r\n"),
        ("x = 1  # devlint: ignore[DEV101, DEV102] why\n", "x = 1\n"),
        ("x = 1  # noqa: DEV101", "x = 1"),
    ],
)
def test_the_fix_of_an_unused_comment(before: str, after: str) -> None:
    assert fixed(before) == after
    assert fixed(after) == after


def test_only_the_idle_codes_of_a_comment_go() -> None:
    text = "x = f()  # devlint: ignore[DEV102, DEV101] why\n"
    (unused,) = apply(text, finding(1)).unused
    assert (unused.place.column, unused.place.end_column) == (28, 34)
    assert unused.message == "DEV102 in this suppression silences nothing"
    assert fixed(text, finding(1)) == "x = f()  # devlint: ignore[DEV101] why\n"


def test_only_codes_that_ran_are_judged() -> None:
    assert not apply("x = 1  # noqa: DEV101\n", enabled=ALL - {"DEV101"}).unused
    assert not apply("x = 1  # noqa: DEV1\n", enabled=ALL - {"DEV101"}).unused
    assert not apply("x = 1  # devlint: ignore[ALL]\n", enabled=ALL - {"DEV101"}).unused
    assert apply("x = 1  # noqa: DEV1\n").unused
    assert not apply("x = 1  # noqa: F401\n").unused


def test_codes_that_do_not_exist_are_unused() -> None:
    assert apply("x = 1  # noqa: DEV777\n").unused
    assert apply("x = 1  # devlint: ignore[F401]\n").unused


def test_a_comment_without_codes_is_told_how_to_name_them() -> None:
    (unused,) = apply("x = 1  # devlint: ignore\n").unused
    assert unused.message == "`# devlint: ignore` names no code and silences nothing"
    assert unused.fix is None


def test_an_unused_suppression_can_itself_be_silenced() -> None:
    result = apply("x = 1  # noqa: DEV101 # noqa: DEV900\n")
    assert not result.unused
    assert [hidden.code for hidden in result.suppressed] == ["DEV900"]


@given(st.text("# noqadevlint:ignore[DEV10],file-\n\r\f\t\"'()\\=x", max_size=60))
def test_no_text_is_too_strange(text: str) -> None:
    for suppression in read_suppressions(text):
        assert 0 <= suppression.start < suppression.end <= len(text)
        assert text[suppression.start] == "#"
