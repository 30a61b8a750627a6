"""The server: the messages of the protocol, and what devlint answers.

Nothing is analysed in the thread that reads messages. Documents are synchronised whole: pygls splits lines at form
feeds and Unicode separators too, where neither editors nor Python do, and would put partial changes elsewhere.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from devlint import __version__
from devlint.server.actions import FIX_ALL, Actions, wants
from devlint.server.buffers import Buffer, is_python, path_of
from devlint.server.diagnostics import Diagnostics
from devlint.server.hover import hover_text
from devlint.server.linting import Linted, prepare
from devlint.server.positions import Positions
from devlint.server.sessions import Session, root_of
from devlint.server.worker import Worker

WATCHED = "**/*.{py,pyi,toml}"
"""Files that have a say in what is found in others, and configurations, also those that others extend."""

_SETTINGS = ".toml"

_END_SECONDS = 2.0
"""What the analysis gets to stop when the server ends."""


class Server(LanguageServer):
    """What one editor is told."""

    def __init__(self) -> None:
        super().__init__("devlint", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.worker = Worker(prepare)
        self.session = Session(self.worker, self._publish, self._failed)
        self.was_shut_down = False
        self.complaints: dict[str, str] = {}
        """What is wrong with the settings of each document, as the editor was told."""
        for name, handler, options in _FEATURES:
            self.feature(name, options)(handler)

    def opened(self, document: types.TextDocumentItem) -> None:
        if is_python(document.uri, document.language_id):
            folders = [folder.uri for folder in self.workspace.folders.values()]
            root = root_of(document.uri, folders, self.workspace.root_path)
            path = path_of(document.uri) or str(root / f"{os.path.basename(document.uri).replace(':', '-')}.py")
            self.session.opened(Buffer(document.uri, path, document.version, document.text, root))

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions for a range of a document."""
        only = params.context.only
        linted = await self.session.latest(params.text_document.uri)
        if linted is None or linted.source is None:
            return []
        actions: list[types.CodeAction] = []
        if wants(only, types.CodeActionKind.QuickFix.value):
            asked = self._actions(linted)
            actions += await self.session.answer(lambda: list(asked.quick_fixes(params.range))) or []
        if wants(only, FIX_ALL) and self._actions(linted).has_safe_fixes:
            data = {"uri": linted.buffer.uri, "version": linted.buffer.version}
            action = types.CodeAction(title="devlint: apply all safe fixes", kind=FIX_ALL, data=data)
            actions.append(action if self._resolves_edits() else await self.resolved(action))
        return actions

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        """An action with its edit; without one if the document has changed since."""
        asked = action.data if isinstance(action.data, dict) else {}
        linted = await self.session.latest(str(asked.get("uri", "")))
        if linted is not None and linted.buffer.version == asked.get("version"):
            linter, texts, actions = self.session.linter, self.session.texts, self._actions(linted)
            action.edit = await self.session.answer(lambda: actions.rewriting(linter.fixed(linted, texts)))
        return action

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        linted = await self.session.latest(params.text_document.uri)
        if linted is None or linted.task is None:
            return None
        positions = Positions(linted.buffer.text, self.session.encoding)
        line, column = positions.place(params.position)
        work = partial(self.session.linter.explained, linted, self.session.texts, line, column)
        found = await self.session.answer(work)
        if not found:
            return None
        told = types.MarkupContent(types.MarkupKind.Markdown, hover_text(found, linted.task.shown_as))
        return types.Hover(told, positions.range(found[0].place))

    def watch(self) -> None:
        """Have the editor tell of changes in files, if it can."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(WATCHED)])
        registration = types.Registration("devlint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        self.client_register_capability(types.RegistrationParams([registration]))

    def _actions(self, linted: Linted) -> Actions:
        diagnostics = Diagnostics(linted, self.session.encoding, self.session.linter.text_of)
        workspace = self.client_capabilities.workspace
        edits = workspace.workspace_edit if workspace is not None else None
        return Actions(linted, diagnostics, bool(edits and edits.document_changes))

    def _resolves_edits(self) -> bool:
        document = self.client_capabilities.text_document
        offered = document.code_action if document is not None else None
        resolve = offered.resolve_support if offered is not None else None
        return bool(resolve and offered and offered.data_support and "edit" in resolve.properties)

    def _publish(self, linted: Linted, diagnostics: list[types.Diagnostic]) -> None:
        buffer = linted.buffer
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=buffer.uri, diagnostics=diagnostics, version=buffer.version)
        )
        told = set(self.complaints.values())
        self.complaints[buffer.uri] = linted.complaint
        if linted.complaint and linted.complaint not in told:
            message = f"devlint: {linted.complaint}"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))

    def _failed(self, error: Exception) -> None:
        message = f"devlint: internal error: {type(error).__name__}: {error}; please report this"
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))


def _initialized(ls: Server, params: types.InitializedParams) -> None:
    ls.session.encoding = str(getattr(ls.workspace.position_encoding, "value", ls.workspace.position_encoding))
    ls.watch()


def _did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    ls.opened(params.text_document)


def _did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    document = ls.workspace.get_text_document(params.text_document.uri)
    ls.session.changed(params.text_document.uri, params.text_document.version, document.source)


def _did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is not None:
        ls.session.changed_around([path], only_contents=not path.endswith(_SETTINGS))


def _did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.complaints.pop(params.text_document.uri, None)
    if ls.session.closed(params.text_document.uri) is not None:
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))


def _watched_files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    paths = [path for path in (path_of(event.uri) for event in params.changes) if path is not None]
    told = all(event.type == types.FileChangeType.Changed for event in params.changes)
    ls.session.changed_around(paths, told and not any(path.endswith(_SETTINGS) for path in paths))


async def _code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    return await ls.code_actions(params)


async def _resolve(ls: Server, params: types.CodeAction) -> types.CodeAction:
    return await ls.resolved(params)


async def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    return await ls.hover(params)


def _shutdown(ls: Server, params: None) -> None:
    ls.was_shut_down = True


_FEATURES = (
    (types.INITIALIZED, _initialized, None),
    (types.TEXT_DOCUMENT_DID_OPEN, _did_open, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, _did_change, None),
    (types.TEXT_DOCUMENT_DID_SAVE, _did_save, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, _did_close, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _watched_files_changed, None),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        _code_action,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True),
    ),
    (types.CODE_ACTION_RESOLVE, _resolve, None),
    (types.TEXT_DOCUMENT_HOVER, _hover, None),
    (types.SHUTDOWN, _shutdown, None),
)


def serve() -> int:
    """Serve the editor at the other end of standard input and output until it is gone; the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # pygls would wait for its thread that reads standard input. Nothing is written that could be left half done.
        signal.signal(number, lambda number, frame: os._exit(128 + number))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anybody prints is no message of the protocol
    server = Server()
    server.worker.start()
    server.start_io(sys.stdin.buffer, answers)
    code = 0 if server.was_shut_down else 1
    if not server.worker.end(_END_SECONDS):
        os._exit(code)  # native code is still running, which the interpreter's orderly end would abort with a crash
    return code
