"""Bytes to text and back."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devlint.finding import Edit
from devlint.source.decoding import Unreadable, decode
from devlint.source.line_ends import split_lines


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    source = decode(codecs.BOM_UTF8 + b"x = 1\n")
    assert (source.text, source.bom, source.encoding) == ("x = 1\n", True, "utf-8")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", None),
        ("# coding: shift_jis\nx = '日本'\n".encode("shift_jis"), "# coding: shift_jis\nx = '日本'\n"),
    ],
)
def test_the_declared_encoding_counts(data: bytes, text: str | None) -> None:
    assert decode(data).text == (text or data.decode("cp1252"))


def test_a_cookie_on_the_third_line_is_a_comment() -> None:
    with pytest.raises(Unreadable, match="byte 0xe9 is not valid utf-8") as caught:
        decode(b"\n\n# coding: latin-1\nx = '\xe9'\n")
    assert caught.value.line == 4


def test_a_mark_and_a_cookie_that_disagree() -> None:
    with pytest.raises(Unreadable, match="encoding problem"):
        decode(codecs.BOM_UTF8 + b"# coding: latin-1\n")


def test_line_ends_and_form_feeds_are_kept() -> None:
    data = b"a = 1\r\n\fb = 2\rc = 3\n"
    source = decode(data)
    assert source.text.encode() == data
    assert source.lines == ["a = 1", "\fb = 2", "c = 3"]


def test_lines_are_pythons_not_unicodes() -> None:
    assert split_lines("a = '\x0b\x1c\x85\u2028'\nb = 1\n") == ["a = '\x0b\x1c\x85\u2028'", "b = 1"]


@given(
    before=st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), max_size=9),
    target=st.text(st.characters(codec="latin-1", exclude_characters="\r\n\0"), min_size=1, max_size=9),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]),
)
def test_edits_find_their_bytes_in_every_encoding(before: str, target: str, encoding: str) -> None:
    if encoding == "utf-16":  # Python refuses it, declared or not
        with pytest.raises(Unreadable):
            decode("x".encode("utf-16"))
        return
    cookie = "" if encoding == "utf-8-sig" else f"# coding: {encoding}\n"
    text = f"{cookie}{before}{target}\n"
    source = decode(text.encode(encoding))
    start = len((cookie + before).encode())
    edit = source.original(Edit(start, start + len(target.encode()), "y"))
    expected = target.encode("latin-1" if encoding == "latin-1" else "utf-8")
    assert source.data[edit.start : edit.end] == expected
