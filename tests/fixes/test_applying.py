"""Edits in bytes: what is not edited stays, and what comes out is looked at."""

from __future__ import annotations

import codecs
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devlint.finding import Edit
from devlint.fixes.applying import Refused, apply_edits, fixed
from devlint.source.decoding import decode
from devlint.source.source_file import read_source

TEXTS = st.text(st.sampled_from("ab=1\t\f\r\n 'é文𝕏"), max_size=40)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    """A text and edits of it in characters, in order and apart from each other."""
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return text, [(start, end, draw(TEXTS)) for start, end in pairs]


def replaced(text: str, edits: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


@given(edited(), st.sampled_from(["", "latin-1", "utf-8"]), st.booleans())
def test_edits_by_bytes_do_what_edits_by_characters_would(
    case: tuple[str, list[tuple[int, int, str]]], cookie: str, bom: bool
) -> None:
    """Through the original bytes: line ends, form feeds, byte order marks, encodings."""
    text, edits = case
    if cookie == "latin-1":
        keep = str.maketrans("", "", "文𝕏")
        text = text.translate(keep)
        edits = [(min(a, len(text)), min(b, len(text)), new.translate(keep)) for a, b, new in edits]
        bom = False
    head = f"# -*- coding: {cookie} -*-\n" if cookie else "#\n"
    text, edits = head + text, [(a + len(head), b + len(head), new) for a, b, new in edits]
    encoding = cookie or "utf-8"
    data = codecs.BOM_UTF8 * bom + text.encode(encoding)
    source = decode(data)
    assert source.text == text
    original = []
    for start, end, new in edits:
        first = len(text[:start].encode())
        original.append(source.original(Edit(first, first + len(text[start:end].encode()), new)))
    assert apply_edits(data, original, encoding) == codecs.BOM_UTF8 * bom + replaced(text, edits).encode(encoding)


@given(edited())
def test_the_order_of_edits_does_not_matter(case: tuple[str, list[tuple[int, int, str]]]) -> None:
    text, edits = case
    made = [Edit(len(text[:a].encode()), len(text[:b].encode()), new) for a, b, new in edits]
    apart = all(one.end < other.start for one, other in pairwise(made))
    if apart:
        assert apply_edits(text.encode(), reversed(made)) == apply_edits(text.encode(), made)


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 3, "x"), Edit(2, 4, "y")],
        [Edit(3, 2, "x")],
        [Edit(0, 99, "x")],
    ],
)
def test_edits_that_cannot_be_made_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(Refused, match="overlap"):
        apply_edits(b"x = 1\n", edits)


def test_text_that_the_encoding_lacks_is_refused() -> None:
    with pytest.raises(Refused, match="iso8859-1"):
        apply_edits(b"x = 1\n", [Edit(0, 1, "文")], "iso8859-1")


def test_a_result_that_does_not_compile_is_refused() -> None:
    source = decode(b"x = 1\n")
    with pytest.raises(Refused, match="would not compile"):
        fixed(source, "a.py", [Edit(4, 5, "(")])
    with pytest.raises(Refused, match="outside function"):
        fixed(source, "a.py", [Edit(0, 5, "return")])


def test_what_did_not_compile_before_need_not_afterwards() -> None:
    """Outside of a function, as in code that is made for another place."""
    source = decode(b"return 1\n")
    assert fixed(source, "a.py", [Edit(7, 8, "2")]) == b"return 2\n"


def test_newer_syntax_than_this_python_has_is_understood() -> None:
    source = decode(b"type X[T] = int\ny = 1\n")
    assert fixed(source, "a.py", [Edit(20, 21, "2")]) == b"type X[T] = int\ny = 2\n"
    with pytest.raises(Refused, match="would not compile"):
        fixed(source, "a.py", [Edit(20, 21, "(")])


def test_an_encoding_with_shift_states_is_not_edited_in_the_middle_of_one() -> None:
    text = "# -*- coding: iso2022_jp -*-\ns = '日本'; x = 1\n"
    source = decode(text.encode("iso2022_jp"))
    inside = source.original(Edit(len("# -*- coding: iso2022_jp -*-\ns = '日".encode()), 0, ""))
    with pytest.raises(Refused, match="iso2022_jp"):
        fixed(source, "a.py", [Edit(inside.start, inside.start, "x")])
    end = len(source.data) - 2
    assert fixed(source, "a.py", [Edit(end, end + 1, "2")]).endswith(b"x = 2\n")


def test_a_notebook_is_edited_in_its_cells() -> None:
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["# é\n"], "metadata": {}},
            {"cell_type": "code", "source": ["%time f()\n", "x = 'é'; y = 1"], "metadata": {}, "outputs": []},
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    data = json.dumps(notebook, indent=1).encode()
    at = len("%time f()\nx = 'é'; y = ".encode())
    result = fixed(read_source("a.ipynb", data), "a.ipynb", [Edit(at, at + 1, "2", cell=2)])
    assert json.loads(result)["cells"][1]["source"] == ["%time f()\n", "x = 'é'; y = 2"]
    with pytest.raises(Refused, match="would not compile"):
        fixed(read_source("a.ipynb", data), "a.ipynb", [Edit(at, at + 1, "(", cell=2)])
