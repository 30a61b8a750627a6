"""Notebooks: joined, told by cell, and written back with nothing else changed."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devlint.finding import Edit, Place
from devlint.source.decoding import Unreadable
from devlint.source.line_ends import split_lines
from devlint.source.magics import python_of
from devlint.source.notebook import Notebook, read_notebook
from devlint.source.notebook_file import source_lines, source_spans


def notebook(*sources: str | None, indent: int | None = 1, lines: bool = True, **metadata: Any) -> bytes:
    """A notebook of code cells; None is a cell of text."""
    cells: list[dict[str, Any]] = []
    for source in sources:
        text = "# title\n\nwords" if source is None else source
        cells.append(
            {"cell_type": "markdown" if source is None else "code", "id": f"c{len(cells)}", "metadata": {}}
            | ({} if source is None else {"execution_count": 3, "outputs": []})
            | {"source": text.splitlines(keepends=True) if lines else text}
        )
    document = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(document, indent=indent, ensure_ascii=False) + "\n").encode()


def test_cells_are_joined_without_text_and_other_languages() -> None:
    found = read_notebook(notebook("import torch", None, "%%bash\nls", "x = 1\n%ls\n"))
    assert found.text == "import torch\nx = 1\n0  \n\n"
    assert [(cell.number, cell.line) for cell in found.cells] == [(1, 1), (4, 2)]


@pytest.mark.parametrize("metadata", [{"language_info": {"name": "R"}}, {"kernelspec": {"language": "julia"}}])
def test_a_notebook_in_another_language_has_nothing_to_look_at(metadata: dict[str, Any]) -> None:
    assert read_notebook(notebook("x <- 1", **metadata)).cells == ()


@pytest.mark.parametrize("metadata", [{}, {"language_info": {"name": "python"}}, {"kernelspec": {"name": "x"}}])
def test_a_notebook_is_python_unless_it_says_otherwise(metadata: dict[str, Any]) -> None:
    assert len(read_notebook(notebook("x = 1", **metadata)).cells) == 1


def test_places_are_told_by_cell_and_by_line_of_the_file() -> None:
    data = notebook("import torch\n", None, "x = 1\nyy = 2\nz = 3")
    found = read_notebook(data)
    line = found.text.split("\n").index("yy = 2") + 1
    told = found.placed(Place("a.ipynb", line, 1, line, 3))
    assert (told.cell, told.line, told.end_line, told.column, told.end_column) == (3, 2, 2, 1, 3)
    assert told.position == "cell 3:2:1"
    assert b'"yy = 2\\n"' in data.splitlines()[told.file_line - 1]


@pytest.mark.parametrize(("indent", "lines"), [(1, True), (4, True), (None, True), (2, False), (None, False)])
def test_lines_of_the_file_in_every_layout(indent: int | None, lines: bool) -> None:
    text = notebook("a = 1\nb = 2\n", "c = 3", indent=indent, lines=lines).decode()
    rows = text.split("\n")
    for source, span in zip((["a = 1", "b = 2"], ["c = 3"]), source_spans(text), strict=True):
        assert span is not None
        numbers = source_lines(text, span)
        assert len(numbers) == len(source)
        for wanted, number in zip(source, numbers, strict=True):
            assert wanted in rows[number - 1]


def edited(found: Notebook, old: str, new: str) -> bytes:
    """The notebook after one edit in the joined text, by the way that fixes take."""
    start = len(found.text[: found.text.index(old)].encode())
    edit = found.original(Edit(start, start + len(old.encode()), new))
    source = next(cell.source for cell in found.cells if cell.number == edit.cell).encode()
    assert source[edit.start : edit.end].decode() == old[: edit.end - edit.start]
    return found.rewritten({edit.cell: source[: edit.start] + edit.text.encode() + source[edit.end :]})


LAYOUTS = [(1, True), (4, True), (None, True), (1, False), (None, False)]


@pytest.mark.parametrize(("indent", "lines"), LAYOUTS)
@pytest.mark.parametrize(("old", "new"), [("yy", "device"), ("x = 'é'\n", ""), ("yy = 2", "yy = 2\nw = 4")])
def test_a_fix_changes_the_source_of_its_cell_and_nothing_else(
    indent: int | None, lines: bool, old: str, new: str
) -> None:
    cells = ("import torch\n!echo 'é'", None, "x = 'é'\nyy = 2\nz = 3", "last = 'ü'")
    data = notebook(*cells, indent=indent, lines=lines, kernelspec={"name": "p", "display_name": "Python"})
    wanted = notebook(
        *cells[:2], cells[2].replace(old, new), cells[3], indent=indent, lines=lines,
        kernelspec={"name": "p", "display_name": "Python"},
    )  # fmt: skip
    written = edited(read_notebook(data), old, new)
    assert written == wanted
    nbformat.validate(nbformat.reads(written.decode(), as_version=4))


def test_byte_order_mark_escapes_and_missing_newline_stay() -> None:
    data = b"\xef\xbb\xbf" + json.dumps(json.loads(notebook("x = 'é'\ny = 'é'\nz = 1")), indent=2).encode()
    written = edited(read_notebook(data), "z = 1", "z = 'ü'")
    assert written == data.replace(b"z = 1", b"z = '\\u00fc'")


def test_a_removed_last_line_takes_its_line_end_along() -> None:
    data = notebook("x = 1\n# last", "y = 1")
    assert json.loads(edited(read_notebook(data), "# last\n", ""))["cells"][0]["source"] == ["x = 1"]


def test_a_cell_that_is_no_python_is_left_out_and_told() -> None:
    found = read_notebook(notebook("import torch", "def f(:\n    pass", "x = 1"))
    (refusal,) = found.broken
    assert (refusal.line, refusal.column, refusal.message) == (2, 7, "invalid syntax")
    assert found.text == "import torch\n" + " " * 7 + "\n" + " " * 8 + "\nx = 1\n"


@pytest.mark.parametrize(
    ("cell", "joined"),
    [
        ("x.cuda()", "x.cuda(),\n"),
        ("x.cuda()  # shown", "x.cuda(), # shown\n"),
        ("f(x,\n  'é')\n\n", "f(x,\n  'é'),\n\n\n"),
        ("await f()", "await f(),\n"),
        ("x.cuda();", "x.cuda();\n"),
        ("y = x.cuda()", "y = x.cuda()\n"),
        ("x.cuda()\npass", "x.cuda()\npass\n"),
        ("x.cuda(), y", "x.cuda(), y\n"),
    ],
)
def test_the_call_that_ends_a_cell_is_shown_and_not_thrown_away(cell: str, joined: str) -> None:
    assert read_notebook(notebook(cell)).text == joined


def test_version_three_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "T"},
        {"cell_type": "code", "language": "python", "input": ["x = 1\n", "y = 2"], "outputs": []},
        {"cell_type": "code", "language": "ruby", "input": "puts 1", "outputs": []},
    ]
    data = json.dumps({"metadata": {}, "nbformat": 3, "worksheets": [{"cells": cells}]}, indent=1).encode()
    found = read_notebook(data)
    assert found.text == "x = 1\ny = 2\n"
    assert found.cells[0].number == 2
    assert b'"y = 3"' in edited(found, "y = 2", "y = 3")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty, and a notebook is JSON"),
        (b"{", "a notebook is JSON, and this is not: expecting property name"),
        (b"import torch", "a notebook is JSON, and this is not: expecting value"),
        (b"[]", "its JSON is not that of a notebook"),
        (b'{"cells": 3}', "it has no list of `cells`"),
        (b'{"cells": [3]}', "cell 1 of the notebook is no JSON object"),
        (b'{"cells": [{"cell_type": "code", "source": 3}]}', "the `source` of cell 1 is neither"),
        (b'{"cells": ["\xff"]}', "byte 0xff is not valid utf-8"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_what_is_no_notebook_is_refused_in_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(Unreadable) as error:
        read_notebook(data)
    assert message in error.value.message


SOURCES = st.text(st.sampled_from("ax =%!?#'\"\\()[]\n\r\té\u2028😀"), max_size=30)


@given(
    cells=st.lists(SOURCES, min_size=1, max_size=4),
    new=SOURCES,
    indent=st.sampled_from([None, 1, 4]),
    lines=st.booleans(),
    ascii_only=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_whatever_is_in_a_cell_it_is_read_and_written_as_it_is(
    cells: list[str], new: str, indent: int | None, lines: bool, ascii_only: bool
) -> None:
    document = json.loads(notebook(*cells, lines=lines))
    data = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
    found = read_notebook(data)
    for cell, start in zip(found.cells, found.segments, strict=True):
        assert len(python_of(cell.source) or "") in (len(cell.source), 0)
        assert found.text.count("\n", 0, start) == 0 or found.text[start - 1] == "\n"
        first = Place("a.ipynb", cell.line, 1, cell.line, 1)
        assert (found.placed(first).cell, found.placed(first).line) == (cell.number, 1)
        assert found.text_line(found.placed(first)) == cell.line
    assert found.rewritten({cell.number: cell.source.encode() for cell in found.cells}) == data
    if found.cells:
        number = found.cells[0].number
        written = read_notebook(found.rewritten({number: new.encode()}))
        kept = new if found.cells[0].source.endswith("\n") else new.removesuffix("\n").removesuffix("\r")
        assert written.source_of(number) in (new, kept, "")
        for other in found.cells[1:]:
            assert written.source_of(other.number) == other.source


@given(parts=st.lists(st.text(st.sampled_from("ab\n"), max_size=5), max_size=5), indent=st.sampled_from([None, 1]))
@settings(max_examples=150, deadline=None)
def test_every_line_of_a_source_has_a_line_in_the_file(parts: list[str], indent: int | None) -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": parts}]}, indent=indent)
    (span,) = source_spans(text)
    assert span is not None
    numbers = source_lines(text, span)
    assert len(numbers) == max(len(split_lines("".join(parts))), 1)
    assert numbers == sorted(numbers)
    assert numbers[-1] <= text.count("\n") + 1
