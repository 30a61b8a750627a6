"""The hash that GitHub itself computes. The expected values are those of codeql-action's own tests."""

from __future__ import annotations

import pytest

from devlint.reports.line_hash import line_hashes


def test_an_empty_file_has_one_line() -> None:
    assert line_hashes(b"") == ["c129715d7a2bc9a3:1"]


def test_blanks_and_tabs_do_not_count() -> None:
    expected = ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]
    assert line_hashes(b" a\nb\n  \t\tc\n d") == expected
    assert line_hashes(b"a\n b \nc\nd") == expected


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_all_line_ends_are_one(end: str) -> None:
    text = " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n".replace("\n", end)
    assert line_hashes(text.encode()) == [
        "e9496ae3ebfced30:1",
        "fb7c023a8b9ccb3f:1",
        "ce8ba1a563dcdaca:1",
        "e20e36e16fcb0cc8:1",
        "b3edc88f2938467e:1",
        "c8e28b0b4002a3a0:1",
        "c129715d7a2bc9a3:1",
    ]


def test_like_lines_are_numbered() -> None:
    hashes = line_hashes(b"Lorem ipsum dolor sit amet.\n" * 10)
    assert hashes[:6] == [f"a7f2ff13bc495cf2:{number}" for number in range(1, 7)]
    assert hashes[6:] == [
        "a7f2ff1481e87703:1",
        "a9cf91f7bbf1862b:1",
        "55ec222b86bcae53:1",
        "cc97dc7b1d7d8f7b:1",
        "c129715d7a2bc9a3:1",
    ]


def test_lines_above_do_not_change_a_lines_hash() -> None:
    line = b"x = torch.zeros(8)\n" + b"y = 1\n" * 40
    assert line_hashes(b"import os\n\n" + line)[2] == line_hashes(line)[0]


def test_bytes_that_are_no_utf8_are_hashed_too() -> None:
    assert len(line_hashes(b"\xff\xfe\nx = 1\n")) == 3
