"""An editor at the other end of the server's standard input and output: pygls' own client, called from plain tests."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from devlint.check import Request
from devlint.fix import fix
from tests.cli.conftest import environment

T = TypeVar("T")

SECONDS = 60.0
"""What an answer may take at most; nearly all are there within a tenth of a second."""

USUAL = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    )
)


class Editor:
    """Starts ``devlint server`` and speaks to it. Messages of the server are kept."""

    def __init__(self, folder: Path, capabilities: types.ClientCapabilities = USUAL) -> None:
        self._arrived = threading.Condition()
        self._published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self.registered: list[types.Registration] = []
        self._versions: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = LanguageClient("tests", "1")
        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(Editor._keep, self))
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(partial(Editor._keep_message, self))
        self._client.feature(types.CLIENT_REGISTER_CAPABILITY)(
            lambda params: self.registered.extend(params.registrations)
        )
        command = [sys.executable, "-m", "devlint", "server"]
        self._do(self._client.start_io(*command, cwd=folder, env=environment()))
        folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
        asked = types.InitializeParams(capabilities=capabilities, root_uri=folder.as_uri(), workspace_folders=folders)
        self.capabilities = self._do(self._client.initialize_async(asked)).capabilities
        self._send(self._client.initialized, types.InitializedParams())

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    def _send(self, notify: Callable[[Any], None], params: Any) -> None:
        async def sent() -> None:
            notify(params)

        self._do(sent())

    def _keep(self, params: types.PublishDiagnosticsParams) -> None:
        with self._arrived:
            self._published.setdefault(params.uri, []).append(params)
            self._arrived.notify_all()

    def _keep_message(self, params: types.ShowMessageParams) -> None:
        with self._arrived:
            self.messages.append(params.message)
            self._arrived.notify_all()

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of what has arrived."""
        with self._arrived:
            assert self._arrived.wait_for(holds, SECONDS), (self._published, self.messages)

    def open(self, file: Path, text: str) -> list[types.Diagnostic]:
        uri = file.as_uri()
        self._versions[uri] = 1
        document = types.TextDocumentItem(uri, "python", 1, text)
        self._send(self._client.text_document_did_open, types.DidOpenTextDocumentParams(document))
        return self.diagnostics(file)

    def change(self, file: Path, *texts: str) -> list[types.Diagnostic]:
        """Set one text after the other; the diagnostics of the last."""
        uri = file.as_uri()
        for text in texts:
            self._versions[uri] += 1
            document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
            whole = types.TextDocumentContentChangeWholeDocument(text)
            self._send(self._client.text_document_did_change, types.DidChangeTextDocumentParams(document, [whole]))
        return self.diagnostics(file)

    def save(self, file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        document = types.TextDocumentIdentifier(file.as_uri())
        self._send(self._client.text_document_did_save, types.DidSaveTextDocumentParams(document))

    def changed_on_disk(self, file: Path) -> None:
        event = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
        params = types.DidChangeWatchedFilesParams([event])
        self._send(self._client.workspace_did_change_watched_files, params)

    def close(self, file: Path) -> None:
        del self._versions[file.as_uri()]
        document = types.TextDocumentIdentifier(file.as_uri())
        self._send(self._client.text_document_did_close, types.DidCloseTextDocumentParams(document))

    def close_all(self) -> None:
        for uri in list(self._versions):
            document = types.TextDocumentIdentifier(uri)
            self._send(self._client.text_document_did_close, types.DidCloseTextDocumentParams(document))
        self._versions.clear()

    def published(self, file: Path) -> list[types.PublishDiagnosticsParams]:
        return self._published.get(file.as_uri(), [])

    def diagnostics(self, file: Path) -> list[types.Diagnostic]:
        """What was published for the text that the file has now."""
        version = self._versions[file.as_uri()]
        self.until(lambda: any(params.version == version for params in self.published(file)))
        return list([one for one in self.published(file) if one.version == version][-1].diagnostics)

    def codes(self, file: Path) -> list[str]:
        """The codes that were published last."""
        return [str(one.code) for one in self.published(file)[-1].diagnostics]

    def hover(self, file: Path, line: int, character: int) -> types.Hover | None:
        where = types.HoverParams(types.TextDocumentIdentifier(file.as_uri()), types.Position(line, character))
        return self._do(self._client.text_document_hover_async(where))

    def actions(self, file: Path, where: types.Range, only: list[str] | None = None) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(file.as_uri()), where, context)
        found = self._do(self._client.text_document_code_action_async(params))
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    def resolve(self, action: types.CodeAction) -> types.CodeAction:
        return self._do(self._client.code_action_resolve_async(action))

    def leave(self) -> int | None:
        """Shut the server down as the protocol wants it; its exit code."""
        self._do(self._client.shutdown_async(None))
        self._send(self._client.exit, None)
        return self._ended()

    def die(self) -> int | None:
        """Close the pipes without a word; the server's exit code."""
        process = self._client._server
        assert process is not None
        assert process.stdin is not None
        self._loop.call_soon_threadsafe(process.stdin.close)
        return self._ended()

    def _ended(self) -> int | None:
        process = self._client._server
        assert process is not None
        self._do(asyncio.wait_for(process.wait(), SECONDS))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        return process.returncode


def edited(text: str, action: types.CodeAction) -> str:
    """A text after the edits of an action, applied as an editor does whose columns count UTF-16 units."""
    edit = action.edit
    assert edit is not None
    if edit.document_changes is not None:
        (document,) = edit.document_changes
        assert isinstance(document, types.TextDocumentEdit)
        edits = list(document.edits)
    else:
        ((_, found),) = (edit.changes or {}).items()
        edits = list(found)
    for one in sorted(edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True):
        assert isinstance(one, types.TextEdit)
        start, end = (_offset(text, position) for position in (one.range.start, one.range.end))
        text = text[:start] + one.new_text + text[end:]
    return text


def _offset(text: str, position: types.Position) -> int:
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: position.line])
    if position.line >= len(lines):
        return len(text)
    units = lines[position.line].encode("utf-16-le")[: 2 * position.character]
    return before + len(units.decode("utf-16-le"))


def fixed_by_command(file: Path, text: str, unsafe: bool = False) -> str:
    """The text that ``devlint check --fix`` leaves."""
    request = Request(("-",), file.parent, jobs=1, stdin=text.encode(), stdin_filename=str(file))
    (fixed,) = fix(request, unsafe, write=False).files
    return fixed.after.decode()
