"""Notebooks in the editor: one program in many documents."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from lsprotocol import types

from tests.server.editor import Editor, edited

IMPORT = "%matplotlib inline\nimport torch\n"
SHIFT = "def shift(x: torch.Tensor) -> torch.Tensor:\n    return x + torch.arange(x.size(0))\n"
RIGHT = SHIFT.replace("x.size(0))", "x.size(0), device=x.device)")
ALL = types.Range(types.Position(0, 0), types.Position(100, 0))


@pytest.fixture(autouse=True)
def _all_findings(project: Path) -> None:
    """In a notebook this finding is one of low confidence."""
    (project / "pyproject.toml").write_text('[tool.devlint]\nmin-confidence = "low"\n')


def _codes(editor: Editor, uri: str) -> list[str]:
    return [str(one.code) for one in editor.last(uri) or ()]


def test_a_finding_stands_in_its_cell(editor: Editor, project: Path) -> None:
    first, _, third = editor.open_notebook(project / "a.ipynb", IMPORT, "#%% Notes", SHIFT)
    editor.until(lambda: _codes(editor, third) == ["DEV101"])
    (found,) = editor.last(third) or []
    assert found.range == types.Range(types.Position(1, 15), types.Position(1, 38))
    assert {step.location.uri for step in found.related_information or ()} == {third}
    assert editor.last(first) == []


def test_what_a_cell_imports_counts_in_the_others(editor: Editor, project: Path) -> None:
    file = project / "a.ipynb"
    first, second = editor.open_notebook(file, IMPORT, SHIFT)
    editor.until(lambda: _codes(editor, second) == ["DEV101"])
    whole = types.TextDocumentContentChangeWholeDocument("import numpy as torch\n")
    identifier = types.VersionedTextDocumentIdentifier(2, first)
    content = types.NotebookDocumentCellContentChanges(identifier, [whole])
    editor.change_notebook(file, types.NotebookDocumentCellChanges(text_content=[content]))
    editor.until(lambda: _codes(editor, second) == [])


def test_a_part_of_a_cell_is_changed(editor: Editor, project: Path) -> None:
    file = project / "a.ipynb"
    _, second = editor.open_notebook(file, IMPORT, f"s = '🔥'\n{SHIFT}")
    editor.until(lambda: _codes(editor, second) == ["DEV101"])
    at = types.Position(2, 37)
    part = types.TextDocumentContentChangePartial(types.Range(at, at), ", device=x.device")
    identifier = types.VersionedTextDocumentIdentifier(2, second)
    content = types.NotebookDocumentCellContentChanges(identifier, [part])
    editor.change_notebook(file, types.NotebookDocumentCellChanges(text_content=[content]))
    editor.until(lambda: _codes(editor, second) == [])


def test_cells_come_go_and_move(editor: Editor, project: Path) -> None:
    file = project / "a.ipynb"
    _, second = editor.open_notebook(file, IMPORT, SHIFT)
    editor.until(lambda: _codes(editor, second) == ["DEV101"])
    third = f"vscode-notebook-cell:{file}#new"
    cell = types.NotebookCell(types.NotebookCellKind.Code, third)
    opened = types.TextDocumentItem(third, "python", 1, SHIFT.replace("shift", "again"))
    gone = types.TextDocumentIdentifier(second)
    structure = types.NotebookDocumentCellChangeStructure(types.NotebookCellArrayChange(1, 1, [cell]), [opened], [gone])
    editor.change_notebook(file, types.NotebookDocumentCellChanges(structure=structure))
    editor.until(lambda: _codes(editor, third) == ["DEV101"] and editor.last(second) == [])


def test_fixes_change_the_cell(editor: Editor, project: Path) -> None:
    _, second = editor.open_notebook(project / "a.ipynb", IMPORT, SHIFT)
    editor.until(lambda: _codes(editor, second) == ["DEV101"])
    fix, comment = editor.actions(second, ALL, ["quickfix"])
    assert edited(SHIFT, fix) == RIGHT
    assert "# noqa: DEV101" in edited(SHIFT, comment)
    (all_fixes,) = editor.actions(second, ALL, ["source.fixAll"])
    assert edited(SHIFT, all_fixes) == RIGHT


def test_a_hover_counts_lines_of_the_cell(editor: Editor, project: Path) -> None:
    _, second = editor.open_notebook(project / "a.ipynb", IMPORT, SHIFT)
    hover = editor.hover(second, 1, 20)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "made here, on cpu (line 2)" in hover.contents.value
    assert hover.range == types.Range(types.Position(1, 15), types.Position(1, 38))


def test_a_broken_cell_leaves_the_others(editor: Editor, project: Path) -> None:
    _, second, third = editor.open_notebook(project / "a.ipynb", IMPORT, "x = (\n", SHIFT)
    editor.until(lambda: _codes(editor, third) == ["DEV101"])
    assert _codes(editor, second) == ["DEV901"]


def test_a_closed_notebook_has_no_diagnostics(editor: Editor, project: Path) -> None:
    file = project / "a.ipynb"
    _, second = editor.open_notebook(file, IMPORT, SHIFT)
    editor.until(lambda: _codes(editor, second) == ["DEV101"])
    editor.close_notebook(file)
    editor.until(lambda: editor.last(second) == [])
