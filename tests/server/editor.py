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
from pygls.uris import to_fs_path

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

    def __init__(
        self, folder: Path, capabilities: types.ClientCapabilities = USUAL, options: dict[str, bool] | None = None
    ) -> None:
        self._arrived = threading.Condition()
        self._published: dict[str, list[types.PublishDiagnosticsParams]] = {}
        self.messages: list[str] = []
        self.registered: list[types.Registration] = []
        self._versions: dict[str, int] = {}
        self._notebooks: dict[str, list[types.TextDocumentItem]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = LanguageClient("tests", "1")
        self._client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(Editor._keep, self))
        self._client.feature(types.WINDOW_SHOW_MESSAGE)(partial(Editor._keep_message, self))
        self.progress: list[Any] = []
        """What the server has told of how far it is."""
        self.cancels = False
        """Whether what the server begins is cancelled at once."""
        self._client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda params: None)
        self._client.feature(types.PROGRESS)(partial(Editor._keep_progress, self))
        self._client.feature(types.CLIENT_REGISTER_CAPABILITY)(
            lambda params: self.registered.extend(params.registrations)
        )
        command = [sys.executable, "-P", "-m", "devlint", "server"]
        self._do(self._client.start_io(*command, cwd=folder, env=environment()))
        folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
        asked = types.InitializeParams(
            capabilities=capabilities,
            root_uri=folder.as_uri(),
            workspace_folders=folders,
            initialization_options=options,
        )
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

    def _keep_progress(self, params: types.ProgressParams) -> None:
        with self._arrived:
            self.progress.append(params.value)
            self._arrived.notify_all()
        if self.cancels:
            self._client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(params.token))

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
        for text in texts:
            self.change_without_waiting(file, text)
        return self.diagnostics(file)

    def change_without_waiting(self, file: Path, text: str) -> None:
        uri = file.as_uri()
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self._send(self._client.text_document_did_change, types.DidChangeTextDocumentParams(document, [whole]))

    def open_notebook(self, file: Path, *cells: str) -> list[str]:
        """A notebook of these cells; text where they begin with ``#%%``. The URIs of the cells."""
        uris = [f"vscode-notebook-cell:{file}#{number}" for number in range(len(cells))]
        kinds = [types.NotebookCellKind(1 if cell.startswith("#%%") else 2) for cell in cells]
        made = [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)]
        notebook = types.NotebookDocument(file.as_uri(), "jupyter-notebook", 1, made)
        texts = [
            types.TextDocumentItem(uri, "python", 1, cell)
            for kind, uri, cell in zip(kinds, uris, cells, strict=True)
            if kind == types.NotebookCellKind.Code
        ]
        self._send(
            self._client.notebook_document_did_open,
            types.DidOpenNotebookDocumentParams(notebook, cell_text_documents=texts),
        )
        self._notebooks[file.as_uri()] = texts
        return uris

    def change_notebook(self, file: Path, cells: types.NotebookDocumentCellChanges) -> None:
        document = types.VersionedNotebookDocumentIdentifier(2, file.as_uri())
        change = types.NotebookDocumentChangeEvent(cells=cells)
        params = types.DidChangeNotebookDocumentParams(document, change)
        self._send(self._client.notebook_document_did_change, params)

    def close_notebook(self, file: Path) -> None:
        documents = [types.TextDocumentIdentifier(text.uri) for text in self._notebooks.pop(file.as_uri())]
        closed = types.NotebookDocumentIdentifier(file.as_uri())
        params = types.DidCloseNotebookDocumentParams(closed, documents)
        self._send(self._client.notebook_document_did_close, params)

    def last(self, uri: str) -> list[types.Diagnostic] | None:
        """The diagnostics that were published last for a document; None if there were none yet."""
        found = self._published.get(uri)
        return list(found[-1].diagnostics) if found else None

    def save(self, file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        document = types.TextDocumentIdentifier(file.as_uri())
        self._send(self._client.text_document_did_save, types.DidSaveTextDocumentParams(document))

    def changed_on_disk(self, *files: Path) -> None:
        """Tell of files that were written, or are gone."""
        kinds = types.FileChangeType
        events = [types.FileEvent(file.as_uri(), kinds.Changed if file.exists() else kinds.Deleted) for file in files]
        params = types.DidChangeWatchedFilesParams(events)
        self._send(self._client.workspace_did_change_watched_files, params)

    def close(self, file: Path) -> None:
        del self._versions[file.as_uri()]
        document = types.TextDocumentIdentifier(file.as_uri())
        self._send(self._client.text_document_did_close, types.DidCloseTextDocumentParams(document))

    def close_all(self) -> None:
        for uri in list(self._notebooks):
            self.close_notebook(Path(to_fs_path(uri) or ""))
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

    def now(self, file: Path) -> list[types.Diagnostic]:
        """What is shown now, once something is shown for the text that the file has."""
        self.diagnostics(file)
        return self.last(file.as_uri()) or []

    def codes(self, file: Path) -> list[str]:
        """The codes that were published last."""
        return [str(one.code) for one in self.published(file)[-1].diagnostics]

    def hover(self, file: Path | str, line: int, character: int) -> types.Hover | None:
        where = types.HoverParams(_document(file), types.Position(line, character))
        return self._do(self._client.text_document_hover_async(where))

    def actions(self, file: Path | str, where: types.Range, only: list[str] | None = None) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=only)
        params = types.CodeActionParams(_document(file), where, context)
        found = self._do(self._client.text_document_code_action_async(params))
        return [one for one in found or () if isinstance(one, types.CodeAction)]

    def command(self, name: str) -> object:
        """The result of a command."""
        return self._do(self._client.workspace_execute_command_async(types.ExecuteCommandParams(name)))

    def hints(self, file: Path, where: types.Range) -> list[types.InlayHint]:
        params = types.InlayHintParams(_document(file), where)
        found = self._do(self._client.text_document_inlay_hint_async(params))
        return list(found or ())

    def resolve(self, action: types.CodeAction) -> types.CodeAction:
        return self._do(self._client.code_action_resolve_async(action))

    @property
    def pid(self) -> int:
        process = self._client._server
        assert process is not None
        return process.pid

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


def _document(file: Path | str) -> types.TextDocumentIdentifier:
    """A file, or a document by its URI."""
    return types.TextDocumentIdentifier(file if isinstance(file, str) else file.as_uri())


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
