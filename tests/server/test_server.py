"""The language server as an editor meets it: over standard input and output, by the protocol alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from lsprotocol import types

from devlint.cli.main import run
from tests.cli.conftest import environment
from tests.server.editor import Editor, edited, fixed_by_command

SHIFT = """\
import torch


def shift(x: torch.Tensor) -> torch.Tensor:
    return x + torch.arange(x.size(0))
"""
RIGHT = SHIFT.replace("x.size(0))", "x.size(0), device=x.device)")
NOISE = """

def noise(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(x.shape)
"""
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(1000, 0))


@pytest.fixture(scope="module")
def other(folder: Path) -> Iterator[Editor]:
    """An editor that counts columns in bytes, and asks for edits when they are wanted."""
    offered = types.CodeActionClientCapabilities(
        data_support=True, resolve_support=types.ClientCodeActionResolveOptions(["edit"])
    )
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(code_action=offered),
        general=types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind.Utf8]),
    )
    opened = Editor(folder, capabilities)
    yield opened
    assert opened.leave() == 0


def _at(line: int, first: int, last: int) -> types.Range:
    return types.Range(types.Position(line, first), types.Position(line, last))


def _titles(actions: list[types.CodeAction]) -> list[str]:
    return [action.title for action in actions]


def test_findings_of_the_open_text_are_published_with_all_they_tell(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    file.write_text("")  # what the file holds is not what is open
    (found,) = editor.open(file, SHIFT)
    assert (found.code, found.source) == ("DEV101", "devlint")
    assert found.severity is types.DiagnosticSeverity.Warning
    assert found.range == _at(4, 15, 38)
    assert "created on the CPU" in found.message
    steps = found.related_information or ()
    assert {step.location.uri for step in steps} == {file.as_uri()}
    assert steps[0].location.range == _at(4, 15, 38)
    assert steps[0].message.endswith("made here, on cpu")


def test_an_edit_changes_what_is_published(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    assert len(editor.open(file, SHIFT)) == 1
    (moved,) = editor.change(file, f"\n{SHIFT}")
    assert moved.range == _at(5, 15, 38)
    assert editor.change(file, RIGHT) == []


def test_of_many_edits_at_once_the_last_is_published(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    editor.open(file, RIGHT)
    editor.change(file, *(f"{RIGHT}# {'x' * typed}\n" for typed in range(40)), SHIFT)
    versions = [params.version or 0 for params in editor.published(file)]
    assert (versions[0], versions[-1]) == (1, 42)
    assert versions == sorted(set(versions))
    # How many are linted before the next one comes is the machine's affair; it is few of them.
    assert len(versions) < 20


def test_a_text_broken_in_mid_typing_has_its_syntax_error_until_it_is_whole(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    editor.open(file, SHIFT)
    (broken,) = editor.change(file, f"{SHIFT}y = torch.ones(\n")
    assert (broken.code, broken.severity) == ("DEV901", types.DiagnosticSeverity.Error)
    assert broken.range.start == types.Position(5, 14)
    assert [one.code for one in editor.change(file, f"{SHIFT}y = torch.ones(3)\n")] == ["DEV101"]


def test_a_closed_document_has_no_diagnostics(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    editor.open(file, SHIFT)
    editor.close(file)
    editor.until(lambda: editor.codes(file) == [])


def test_columns_after_an_emoji_count_utf_16_units(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    text = SHIFT.replace("return x +", "s = '🔥é'; return x +")
    (found,) = editor.open(file, text)
    assert found.range == _at(4, 15 + 11, 38 + 11)
    (fix,) = editor.actions(file, found.range, ["quickfix"])[:1]
    assert edited(text, fix) == RIGHT.replace("return x +", "s = '🔥é'; return x +")
    hover = editor.hover(file, 4, 15 + 11)
    assert hover is not None
    assert hover.range == _at(4, 15 + 11, 38 + 11)


def test_columns_count_bytes_for_an_editor_that_prefers_them(other: Editor, folder: Path) -> None:
    assert other.capabilities.position_encoding == types.PositionEncodingKind.Utf8
    (found,) = other.open(folder / "net.py", SHIFT.replace("return x +", "s = '🔥é'; return x +"))
    assert found.range == _at(4, 15 + 14, 38 + 14)


def test_lines_end_where_the_protocol_ends_them(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    (found,) = editor.open(file, f'"""One\x0cline\u2028of text."""\r\n{SHIFT}')
    assert found.range == _at(5, 15, 38)
    (found,) = editor.change(file, f'"""Two\x0c\rlines\u2028of text."""\r\n{SHIFT}')
    assert found.range == _at(6, 15, 38)


def test_a_declared_encoding_moves_no_column(editor: Editor, project: Path) -> None:
    text = SHIFT.replace("return x +", "s = 'é'; return x +")
    (found,) = editor.open(project / "net.py", f"# -*- coding: latin-1 -*-\n{text}")
    assert found.range == _at(5, 15 + 9, 38 + 9)


def test_a_safe_fix_gives_what_the_command_gives(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    (found,) = editor.open(file, SHIFT)
    fix, comment = editor.actions(file, found.range)[:2]
    assert (fix.kind, fix.is_preferred) == (types.CodeActionKind.QuickFix, True)
    assert [one.range for one in fix.diagnostics or ()] == [found.range]
    assert edited(SHIFT, fix) == fixed_by_command(file, SHIFT) == RIGHT
    assert comment.title == "DEV101: silence with a comment"
    silenced = edited(SHIFT, comment)
    assert silenced.splitlines()[4].endswith("  # noqa: DEV101")
    assert editor.change(file, silenced) == []


def test_an_unsafe_fix_is_called_so_and_never_preferred(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    text = f"import torch\n{NOISE}"
    (found,) = editor.open(file, text)
    fix = editor.actions(file, found.range)[0]
    assert fix.title.endswith(" (unsafe)")
    assert not fix.is_preferred
    assert edited(text, fix) == fixed_by_command(file, text, unsafe=True) != text


def test_a_suggestion_is_told_and_not_offered(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    (project / "pyproject.toml").write_text('[tool.devlint]\nunfixable = ["DEV101"]\n')
    (found,) = editor.open(file, SHIFT)
    assert "\nsuggestion: " in found.message
    assert _titles(editor.actions(file, EVERYWHERE)) == ["DEV101: silence with a comment"]


def test_no_action_is_offered_where_there_is_no_finding(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    editor.open(file, SHIFT)
    assert editor.actions(file, _at(0, 0, 0), ["quickfix"]) == []


def test_all_safe_fixes_at_once_give_what_the_command_gives(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    text = SHIFT + NOISE + SHIFT.replace("shift", "again").replace("import torch\n", "") + "y = 0  # noqa: DEV101\n"
    editor.open(file, text)
    for only in (["source.fixAll.devlint"], ["source.fixAll"], ["source"]):
        (action,) = editor.actions(file, EVERYWHERE, only)
        assert edited(text, action) == fixed_by_command(file, text) != text
    assert editor.actions(file, EVERYWHERE, ["source.fixAll.other"]) == []
    assert editor.actions(file, EVERYWHERE, ["refactor"]) == []


def test_the_edit_of_all_fixes_waits_for_an_editor_that_asks_for_it_later(other: Editor, folder: Path) -> None:
    file = folder / "later.py"
    other.open(file, SHIFT)
    (action,) = other.actions(file, EVERYWHERE, ["source.fixAll"])
    assert action.edit is None
    assert edited(SHIFT, other.resolve(action)) == RIGHT
    other.change(file, f"{SHIFT}\n")
    assert other.resolve(types.CodeAction(action.title, data=action.data)).edit is None


def test_a_hover_tells_what_an_expression_is_held_to_be(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    editor.open(file, SHIFT)
    hover = editor.hover(file, 4, 20)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "torch.arange(x.size(0))" in hover.contents.value
    assert "A tensor on cpu" in hover.contents.value
    assert "1. `torch.arange`: made here, on cpu (line 5)" in hover.contents.value
    assert hover.range == _at(4, 15, 38)
    assert editor.hover(file, 1, 0) is None


def test_a_hover_tells_why_no_more_is_known(editor: Editor, project: Path) -> None:
    file = project / "net.py"
    editor.open(file, "import torch\nimport somewhere\n\nx = somewhere.load()\ny = x\n")
    hover = editor.hover(file, 4, 4)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "No more is known:" in hover.contents.value
    assert "somewhere.load" in hover.contents.value


MAKER = "import torch\n\n\ndef made(x: torch.Tensor) -> torch.Tensor:\n    return torch.ones(3)\n"
USER = "from maker import made\n" + SHIFT.replace("x + torch.arange(x.size(0))", "x.cuda() + made(x)")


def test_the_unsaved_text_of_an_imported_file_counts(editor: Editor, project: Path) -> None:
    maker, user = project / "maker.py", project / "user.py"
    maker.write_text(MAKER)
    (found,) = editor.open(user, USER)
    assert maker.as_uri() in {step.location.uri for step in found.related_information or ()}
    assert editor.open(maker, MAKER) == []
    editor.change(maker, MAKER.replace("ones(3)", "ones(3, device='cuda')"))
    editor.until(lambda: editor.codes(user) == [])
    editor.close(maker)  # unsaved: the file is as it was
    editor.until(lambda: editor.codes(user) == ["DEV101"])


def test_a_file_that_was_never_saved_is_imported(editor: Editor, project: Path) -> None:
    maker, user = project / "maker.py", project / "user.py"
    assert editor.open(user, USER) == []
    editor.open(maker, MAKER)
    editor.until(lambda: editor.codes(user) == ["DEV101"])


def test_a_file_that_changes_on_the_disk_counts(editor: Editor, project: Path) -> None:
    maker, user = project / "maker.py", project / "user.py"
    maker.write_text(MAKER)
    assert len(editor.open(user, USER)) == 1
    maker.write_text(MAKER.replace("ones(3)", "ones(3, device='cuda')"))
    editor.changed_on_disk(maker)
    editor.until(lambda: editor.codes(user) == [])


def test_changed_settings_hold_at_once(editor: Editor, project: Path) -> None:
    assert [one.method for one in editor.registered] == [types.WORKSPACE_DID_CHANGE_WATCHED_FILES]
    file, settings = project / "net.py", project / "pyproject.toml"
    assert len(editor.open(file, SHIFT)) == 1
    settings.write_text('[tool.devlint]\nignore = ["DEV1"]\n')
    editor.changed_on_disk(settings)
    editor.until(lambda: editor.codes(file) == [])
    editor.save(settings, "")
    editor.until(lambda: editor.codes(file) == ["DEV101"])


def test_wrong_settings_are_one_error_and_not_the_end(editor: Editor, project: Path) -> None:
    file, settings = project / "net.py", project / "devlint.toml"
    assert len(editor.open(file, SHIFT)) == 1
    settings.write_text("selct = []\n")
    editor.changed_on_disk(settings)
    editor.until(lambda: any("devlint.toml:1: unknown key `selct`" in message for message in editor.messages))
    told = len(editor.messages)
    editor.change(file, f"{SHIFT}\n")
    assert len(editor.messages) == told
    settings.write_text("")
    editor.changed_on_disk(settings)
    editor.until(lambda: editor.codes(file) == ["DEV101"])


def test_an_excluded_document_has_no_diagnostics(editor: Editor, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.devlint]\nexclude = ["old/"]\n')
    (project / "old").mkdir()
    assert editor.open(project / "old" / "net.py", SHIFT) == []


def test_a_known_finding_is_neither_shown_nor_fixed(
    editor: Editor, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / "net.py"
    file.write_text(SHIFT)
    (project / "pyproject.toml").write_text('[tool.devlint]\nbaseline = "known.json"\n')
    monkeypatch.chdir(project)
    assert run(["baseline", "write", "--baseline", "known.json", "net.py"]) == 0
    assert editor.open(file, SHIFT) == []
    assert [one.code for one in editor.change(file, SHIFT + SHIFT.replace("shift", "again"))] == ["DEV101"]
    (action,) = editor.actions(file, EVERYWHERE, ["source.fixAll"])
    fixed = edited(SHIFT + SHIFT.replace("shift", "again"), action)
    assert fixed == SHIFT + RIGHT.replace("shift", "again")


def test_what_is_no_python_file_is_left_alone(editor: Editor, project: Path) -> None:
    cell = types.TextDocumentItem("vscode-notebook-cell:/a.ipynb#1", "python", 1, "%magic\n")
    editor._send(editor._client.text_document_did_open, types.DidOpenTextDocumentParams(cell))
    editor.open(project / "net.py", SHIFT)
    assert cell.uri not in editor._published


def test_a_client_that_dies_ends_the_server(folder: Path) -> None:
    editor = Editor(folder)
    editor.open(folder / "dying.py", SHIFT)
    assert editor.die() == 1


def test_without_pygls_one_error_names_the_extra(tmp_path: Path) -> None:
    program = "import sys; sys.modules['pygls'] = None; from devlint.cli.main import main; main(['server'])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "Error: the language server needs pygls: pip install 'devlint[lsp]'\n"
