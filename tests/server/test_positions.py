"""Columns in code points and in code units, there and back."""

from __future__ import annotations

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import PositionCodec

from devlint.finding import Place
from devlint.server.positions import Positions

ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@given(st.text(alphabet="aé\u2028\x0c中🔥\n\r"), ENCODINGS, st.data())
def test_a_place_in_the_text_comes_back(text: str, encoding: str, data: st.DataObject) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    line = data.draw(st.integers(0, len(lines) - 1))
    column = data.draw(st.integers(0, len(lines[line])))
    positions = Positions(text, encoding)
    found = positions.position(line + 1, column + 1)
    units = PositionCodec(types.PositionEncodingKind(encoding)).client_num_units(lines[line][:column])
    assert found == types.Position(line, units)
    assert positions.place(found) == (line + 1, column + 1)


def test_what_lies_beyond_the_text_is_moved_to_its_end() -> None:
    positions = Positions("ab\ncd", "utf-16")
    assert positions.range(Place("f", 1, 2, 1, 9)) == types.Range(types.Position(0, 1), types.Position(0, 2))
    assert positions.position(7, 1) == types.Position(1, 2)
    assert positions.place(types.Position(9, 9)) == (2, 3)


def test_a_byte_order_mark_is_a_character_of_the_editor_alone() -> None:
    positions = Positions("\ufeffab\ncd", "utf-16")
    assert positions.position(1, 1) == types.Position(0, 1)
    assert positions.place(types.Position(0, 1)) == (1, 1)
    assert positions.position(2, 1) == types.Position(1, 0)
