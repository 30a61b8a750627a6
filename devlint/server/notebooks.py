"""The notebooks that are open in the editor: each a document made of its cells, which are documents themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from lsprotocol import types

from devlint.server.buffers import Buffer, CellText
from devlint.server.positions import Positions


@dataclass
class _Cell:
    kind: types.NotebookCellKind
    language: str = "python"
    text: str = ""

    def as_text(self, uri: str) -> CellText:
        return CellText(uri, self.text, self.kind == types.NotebookCellKind.Code and self.language == "python")


@dataclass
class OpenNotebook:
    """One notebook as the editor tells of it. ``encoding``: what its columns count."""

    encoding: str
    order: list[str] = field(default_factory=list)
    """The URIs of all its cells, those of text included."""
    cells: dict[str, _Cell] = field(default_factory=dict)

    def opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._add(params.notebook_document.cells)
        self._hold(params.cell_text_documents)

    def changed(self, change: types.NotebookDocumentChangeEvent) -> None:
        cells = change.cells
        if cells is None:
            return
        if cells.structure is not None:
            array = cells.structure.array
            for uri in self.order[array.start : array.start + array.delete_count]:
                self.cells.pop(uri, None)
            self._add(array.cells or (), array.start, array.delete_count)
            self._hold(cells.structure.did_open or ())
        for cell in cells.data or ():
            if cell.document in self.cells:
                self.cells[cell.document].kind = types.NotebookCellKind(cell.kind)
        for content in cells.text_content or ():
            known = self.cells.get(content.document.uri)
            if known is not None:
                for one in content.changes:
                    known.text = self._edited(known.text, one)

    def buffer(self, known: Buffer, version: int | None) -> Buffer:
        """The notebook as a document to lint."""
        cells = tuple(self.cells[uri].as_text(uri) for uri in self.order)
        return Buffer(known.uri, known.path, version, _file_of(cells), known.root, cells)

    def _add(self, cells: Iterable[types.NotebookCell], at: int = 0, deleted: int = 0) -> None:
        cells = list(cells)
        self.order[at : at + deleted] = [cell.document for cell in cells]
        for cell in cells:
            self.cells[cell.document] = _Cell(types.NotebookCellKind(cell.kind))

    def _hold(self, documents: Iterable[types.TextDocumentItem]) -> None:
        for document in documents:
            if document.uri in self.cells:
                cell = self.cells[document.uri]
                cell.language, cell.text = str(document.language_id), document.text

    def _edited(self, text: str, change: types.TextDocumentContentChangeEvent) -> str:
        if not isinstance(change, types.TextDocumentContentChangePartial):
            return change.text
        offset = Positions(text, self.encoding).offset
        return text[: offset(change.range.start)] + change.text + text[offset(change.range.end) :]


class Notebooks:
    """All that are open, by their URIs."""

    def __init__(self) -> None:
        self._open: dict[str, OpenNotebook] = {}

    def opened(self, params: types.DidOpenNotebookDocumentParams, known: Buffer, encoding: str) -> Buffer:
        """``known`` is the notebook's document without its cells."""
        notebook = self._open[known.uri] = OpenNotebook(encoding)
        notebook.opened(params)
        return notebook.buffer(known, params.notebook_document.version)

    def changed(
        self, params: types.DidChangeNotebookDocumentParams, known: Callable[[str], Buffer | None]
    ) -> Buffer | None:
        uri = params.notebook_document.uri
        notebook, before = self._open.get(uri), known(uri)
        if notebook is None or before is None:
            return None
        notebook.changed(params.change)
        return notebook.buffer(before, params.notebook_document.version)

    def closed(self, uri: str) -> None:
        self._open.pop(uri, None)


def _file_of(cells: Iterable[CellText]) -> str:
    """The file that a notebook of these cells would be; numbers of cells are those of the editor."""
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code" if cell.is_python else "raw", "metadata": {}, "source": cell.text}
                for cell in cells
            ],
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        ensure_ascii=False,
    )
