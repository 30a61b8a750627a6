"""What the editor offers to do about findings: their fixes, a comment that silences them, all safe fixes at once."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from devlint.finding import Applicability, Edit, Finding
from devlint.fixes.add_noqa import NEVER, silenced
from devlint.fixes.applying import fixed
from devlint.fixes.byte_edits import Refused
from devlint.fixes.choosing import is_applicable
from devlint.server.diagnostics import Diagnostics
from devlint.server.linting import Linted
from devlint.source.decoding import Source
from devlint.source.line_ends import LINE_END
from devlint.source.notebook_file import read_cells

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.devlint"

_QUICK_FIX = types.CodeActionKind.QuickFix


def wants(only: Sequence[types.CodeActionKind | str] | None, kind: str) -> bool:
    """Whether actions of a kind are asked for: kinds are a hierarchy, told by dots."""
    asked = [one.value if isinstance(one, types.CodeActionKind) else one for one in only or ()]
    return only is None or any(not one or kind == one or kind.startswith(f"{one}.") for one in asked)


class Actions:
    """The quick fixes of one document."""

    def __init__(self, linted: Linted, diagnostics: Diagnostics, versioned: bool) -> None:
        """``versioned``: whether the editor is to be told which version of the document the edits are for."""
        self._linted = linted
        self._diagnostics = diagnostics
        self._versioned = versioned

    def quick_fixes(self, uri: str, where: types.Range) -> Iterator[types.CodeAction]:
        """For each finding that touches a range of a document: its fix, if it has one that compiles, then a comment."""
        source = self._linted.source
        if source is None:
            return
        for finding in self._linted.findings:
            diagnostic = self._diagnostics.of(finding)
            if self._diagnostics.places.uri(finding.place.cell) != uri or not _touch(diagnostic.range, where):
                continue
            fix = self._fix(finding, source, diagnostic)
            if fix is not None:
                yield fix
            comment = self._comment(finding, source, diagnostic)
            if comment is not None:
                yield comment

    def rewriting(self, after: bytes) -> types.WorkspaceEdit | None:
        """The edit that makes the document one of other bytes, of the lines that differ; None for the same bytes."""
        source = self._linted.source
        if source is None or after == source.data:
            return None
        if not self._linted.buffer.is_notebook:
            text = after.decode(source.encoding).removeprefix("\ufeff")
            return self._workspace_edit({0: list(self._line_edits(source.text, text, 0))})
        cells = self._linted.buffer.cells
        edits = {
            raw.number: list(self._line_edits(cells[raw.number - 1].text, raw.source, raw.number))
            for raw in read_cells(after)[0]
            if raw.source != cells[raw.number - 1].text
        }
        return self._workspace_edit(edits)

    @property
    def has_safe_fixes(self) -> bool:
        return any(is_applicable(finding, unsafe=False) for finding in self._linted.findings)

    def _fix(self, finding: Finding, source: Source, diagnostic: types.Diagnostic) -> types.CodeAction | None:
        fix = finding.fix
        if fix is None or not is_applicable(finding, unsafe=True):
            return None
        try:
            fixed(source, self._linted.buffer.path, fix.edits)
        except Refused:
            return None
        safe = fix.applicability is Applicability.SAFE
        return types.CodeAction(
            title=f"{finding.code}: {fix.message}{'' if safe else ' (unsafe)'}",
            kind=_QUICK_FIX,
            diagnostics=[diagnostic],
            is_preferred=True if safe else None,
            edit=self._byte_edits(fix.edits, source),
        )

    def _comment(self, finding: Finding, source: Source, diagnostic: types.Diagnostic) -> types.CodeAction | None:
        if finding.code in NEVER:
            return None
        try:
            edits, _ = silenced(source, self._linted.buffer.path, [finding])
        except Refused:
            return None
        if not edits:
            return None
        return types.CodeAction(
            title=f"{finding.code}: silence with a comment",
            kind=_QUICK_FIX,
            diagnostics=[diagnostic],
            edit=self._byte_edits(edits, source),
        )

    def _byte_edits(self, edits: Iterable[Edit], source: Source) -> types.WorkspaceEdit:
        found: dict[int, list[types.TextEdit]] = {}
        for edit in edits:
            start, end = (self._position(edit.cell, offset, source) for offset in (edit.start, edit.end))
            found.setdefault(edit.cell, []).append(types.TextEdit(types.Range(start, end), edit.text))
        return self._workspace_edit(found)

    def _position(self, cell: int, offset: int, source: Source) -> types.Position:
        """The position of an offset into the bytes of the document, or of a cell."""
        if cell:
            text = self._linted.buffer.cells[cell - 1].text
            source = Source(text.encode("utf-8"), text, "utf-8", bom=False)
        return self._diagnostics.places.of_cell(cell).position(*source.position(offset))

    def _line_edits(self, before: str, after: str, cell: int) -> Iterator[types.TextEdit]:
        position = self._diagnostics.places.of_cell(cell).position
        old, new = _lines(before), _lines(after)
        for kind, first, last, new_first, new_last in difflib.SequenceMatcher(None, old, new).get_opcodes():
            if kind != "equal":
                where = types.Range(position(first + 1, 1), position(last + 1, 1))
                yield types.TextEdit(where, "".join(new[new_first:new_last]))

    def _workspace_edit(self, edits: dict[int, list[types.TextEdit]]) -> types.WorkspaceEdit:
        """Edits by the numbers of cells; 0 stands for the document itself."""
        by_uri = {self._diagnostics.places.uri(cell): found for cell, found in edits.items()}
        if not self._versioned:
            return types.WorkspaceEdit(changes=by_uri)
        version = None if self._linted.buffer.is_notebook else self._linted.buffer.version
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version), found)
                for uri, found in by_uri.items()
            ]
        )


def _lines(text: str) -> list[str]:
    """The lines with their ends."""
    bounds = [0, *(match.end() for match in LINE_END.finditer(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(bounds) if start < end]


def _touch(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
