"""The JSON of a notebook: what it says of each cell, and where, so that one cell's source can be written in place.

Formats 4 (``cells``, ``source``) and 1 to 3 (``worksheets``, ``input``), as nbformat's documentation describes them.
Writing changes the text of the changed sources and nothing else: indentation, order of keys, escapes, outputs stay.
"""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from devlint.records import dataclass
from devlint.source.decoding import Unreadable
from devlint.source.line_ends import LINE_END

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class RawCell:
    """One cell as the file has it. ``number`` counts all cells from 1, those of text included."""

    number: int
    code: bool
    language: str
    """What the cell itself says it is written in; empty for the notebook's language."""
    source: str


def read_cells(data: bytes) -> tuple[list[RawCell], str]:
    """The cells of a notebook and its language, ``python`` where it names none. Raises :class:`Unreadable`."""
    document = _document(data)
    cells = [
        RawCell(number, cell.get("cell_type") == "code", _language_of_cell(cell), _source(cell, number))
        for number, cell in enumerate(_cells(document), 1)
    ]
    return cells, _language(document)


def text_of(data: bytes) -> str:
    """The file's text. Raises :class:`Unreadable`."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(LINE_END.findall(data[: error.start].decode("latin-1"))) + 1
        raise Unreadable(
            f"byte 0x{data[error.start]:02x} is not valid utf-8, which notebooks are written in", line
        ) from None


def write_sources(data: bytes, sources: Mapping[int, str]) -> bytes:
    """The same notebook with new sources for some cells, by their numbers.

    A list of lines stays a list of lines, in the file's own layout; lines that did not change keep their escapes.
    """
    text = text_of(data)
    ascii_only = text.isascii() and "\\u" in text
    written: list[str] = []
    at = 0
    for number, span in enumerate(source_spans(text), 1):
        if number in sources and span is not None:
            start, end = span
            written += [text[at:start], _encoded(text[start:end], sources[number], ascii_only)]
            at = end
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return mark + "".join([*written, text[at:]]).encode("utf-8")


def source_spans(text: str) -> list[tuple[int, int] | None]:
    """Where each cell's source stands in the text of a notebook that could be read; None for a cell without one."""
    top = dict(_members(text, _skip(text, 0)))
    if "cells" in top:
        return [dict(_members(text, start)).get("source") for start, _ in _elements(text, top["cells"][0])]
    return [
        dict(_members(text, cell)).get("input") or dict(_members(text, cell)).get("source")
        for sheet, _ in _elements(text, top["worksheets"][0])
        for cell, _ in _elements(text, dict(_members(text, sheet))["cells"][0])
    ]


def source_lines(text: str, span: tuple[int, int]) -> list[int]:
    """The line of the file on which each line of a source stands."""
    start, _ = span
    elements = list(_elements(text, start)) if text[start] == "[" else [span]
    numbers: list[int] = []
    line = text.count("\n", 0, start) + 1
    open_line = False
    for first, _ in elements:
        line += text.count("\n", start, first)
        start = first
        for part in _LINE.findall(_DECODER.raw_decode(text, first)[0]):
            if not open_line:
                numbers.append(line)
            open_line = not part.endswith(("\n", "\r"))
    return numbers or [line]


def _document(data: bytes) -> dict[str, Any]:
    text = text_of(data)
    if not text.strip():
        raise Unreadable("the file is empty, and a notebook is JSON")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise Unreadable(
            f"a notebook is JSON, and this is not: {error.msg.lower()} (column {error.colno})", error.lineno
        ) from None
    except RecursionError:
        raise Unreadable("its JSON is nested too deeply") from None
    if not isinstance(document, dict):
        raise Unreadable("its JSON is not that of a notebook: no object with `cells`")
    return document


def _cells(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = document.get("cells")
    if found is None and isinstance(document.get("worksheets"), list):
        found = []
        for sheet in document["worksheets"]:
            found += (sheet.get("cells") or []) if isinstance(sheet, dict) else []
    if not isinstance(found, list):
        raise Unreadable("its JSON is not that of a notebook: it has no list of `cells`")
    for number, cell in enumerate(found, 1):
        if not isinstance(cell, dict):
            raise Unreadable(f"cell {number} of the notebook is no JSON object")
    return found


def _source(cell: dict[str, Any], number: int) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise Unreadable(f"the `source` of cell {number} is neither a string nor a list of strings")
    # Half of a surrogate pair stands for no character, and no Python file can hold it.
    return re.sub("[\ud800-\udfff]", "\ufffd", source)


def _language(document: dict[str, Any]) -> str:
    metadata = document.get("metadata")
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        about = metadata.get(table) if isinstance(metadata, dict) else None
        if isinstance(about, dict) and isinstance(about.get(key), str):
            return str(about[key]).lower()
    return "python"


def _language_of_cell(cell: dict[str, Any]) -> str:
    metadata = cell.get("metadata")
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    named = editor.get("languageId") if isinstance(editor, dict) else cell.get("language")
    return named.lower() if isinstance(named, str) else ""


def _encoded(old: str, source: str, ascii_only: bool) -> str:
    if not old.startswith("["):
        return json.dumps(source, ensure_ascii=ascii_only)
    spans = list(_elements(old, 0))
    lines = source.splitlines(keepends=True)
    written = [json.dumps(line, ensure_ascii=ascii_only) for line in lines]
    if not spans or not lines:
        return "[" + ", ".join(written) + "]"
    before, after = old[1 : spans[0][0]], old[spans[-1][1] : -1]
    gaps = [old[end:start] for (_, end), (start, _) in itertools.pairwise(spans)]
    import difflib

    between = [(gaps or ["," + (before or " ")])[0]] * len(lines)
    present = [_DECODER.raw_decode(old, start)[0] for start, _ in spans]
    for block in difflib.SequenceMatcher(None, present, lines, autojunk=False).get_matching_blocks():
        for was, now in zip(range(block.a, block.a + block.size), range(block.b, block.b + block.size), strict=True):
            start, end = spans[was]
            written[now] = old[start:end]
            between[now] = gaps[was - 1] if was else between[now]
    inner = "".join(gap + line for gap, line in zip(between[1:], written[1:], strict=True))
    return "[" + before + written[0] + inner + after + "]"


def _members(text: str, start: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The keys of the object at ``start`` with the spans of their values. The text must be valid JSON."""
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, value)
        yield key, (value, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """The spans of the elements of the array at ``start``."""
    at = _skip(text, start + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        yield at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
