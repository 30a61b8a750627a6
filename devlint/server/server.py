"""The server: the messages of the protocol, and what devlint answers.

Nothing is analysed in the thread that reads messages. Documents are synchronised whole: pygls splits lines at form
feeds and Unicode separators too, where neither editors nor Python do, and would put partial changes elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from devlint import __version__
from devlint.server.actions import FIX_ALL, Actions, wants
from devlint.server.buffers import Buffer, is_python, path_of
from devlint.server.diagnostics import Diagnostics, Published
from devlint.server.hints import inlay_hints
from devlint.server.hover import hover_text
from devlint.server.linting import Linted, prepare
from devlint.server.notebooks import Notebooks
from devlint.server.places import Places
from devlint.server.sessions import Session, root_of
from devlint.server.worker import Worker
from devlint.server.workspace import WorkspaceDiagnostics
from devlint.source.reading import NOTEBOOK

WATCHED = "**/*.{py,pyi,toml}"
"""Files that have a say in what is found in others, and configurations, also those that others extend."""

_NOTEBOOKS = types.NotebookDocumentFilterWithNotebook("jupyter-notebook", [types.NotebookCellLanguage("python")])


class Server(LanguageServer):
    """What one editor is told."""

    def __init__(self) -> None:
        super().__init__(
            "devlint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            notebook_document_sync=types.NotebookDocumentSyncOptions([_NOTEBOOKS]),
        )
        self.worker = Worker(prepare)
        self.session = Session(self.worker, self._publish, self._failed)
        self.notebooks = Notebooks()
        self.everything = WorkspaceDiagnostics(
            self.work_done_progress, self._folders, self._is_open, self._publish_closed, self._complain
        )
        self.was_shut_down = False
        self.options: object = None
        """The initialization options: ``workspaceDiagnostics`` and ``inlayHints`` may be true."""
        self.complaints: dict[str, str] = {}
        """What is wrong with the settings of each document, as the editor was told."""

    def opened(self, document: types.TextDocumentItem) -> None:
        if is_python(document.uri, document.language_id):
            self.session.opened(
                replace(self._placed(document.uri, ".py"), version=document.version, text=document.text)
            )

    def _placed(self, uri: str, ending: str) -> Buffer:
        """A document without its text; ``ending``: of its name, for one that was never saved."""
        folders = [folder.uri for folder in self.workspace.folders.values()]
        root = root_of(uri, folders, self.workspace.root_path)
        path = path_of(uri) or str(root / f"{os.path.basename(uri).replace(':', '-').removesuffix(ending)}{ending}")
        return Buffer(uri, path, None, "", root)

    def notebook_opened(self, params: types.DidOpenNotebookDocumentParams) -> None:
        known = self._placed(params.notebook_document.uri, NOTEBOOK)
        if known.is_notebook:
            self.session.opened(self.notebooks.opened(params, known, self.session.encoding))

    def notebook_changed(self, params: types.DidChangeNotebookDocumentParams) -> None:
        changed = self.notebooks.changed(params, self.session.buffer)
        if changed is not None:
            before = self.session.buffer(changed.uri)
            self.session.changed(changed)
            self._clear(set(before.uris if before is not None else ()) - set(changed.uris))

    def closed(self, uri: str) -> None:
        self.complaints.pop(uri, None)
        self.notebooks.closed(uri)
        buffer = self.session.closed(uri)
        self._clear(buffer.uris if buffer is not None else ())

    def _clear(self, uris: Iterable[str]) -> None:
        for uri in uris:
            self._publish_closed(uri, self.everything.of_closed(uri))

    def _folders(self) -> list[str]:
        """The folders of the editor, without those inside of others."""
        root = self.workspace.root_path
        found = [path_of(folder.uri) for folder in self.workspace.folders.values()] or [root and os.path.normpath(root)]
        paths = sorted({path for path in found if path})
        return [path for path in paths if not any(path.startswith(other + os.sep) for other in paths)]

    def _is_open(self, uri: str) -> bool:
        return self.session.buffer(uri) is not None

    def _publish_closed(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions for a range of a document."""
        only = params.context.only
        linted = await self.session.latest(params.text_document.uri)
        if linted is None or linted.source is None:
            return []
        actions: list[types.CodeAction] = []
        if wants(only, types.CodeActionKind.QuickFix.value):
            asked = self._actions(linted)
            uri, where = params.text_document.uri, params.range
            actions += await self.session.answer(lambda: list(asked.quick_fixes(uri, where))) or []
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

    async def inlay_hints(self, params: types.InlayHintParams) -> list[types.InlayHint] | None:
        """Where what is assigned lies, if the user asks for that."""
        if not self._is_on("inlayHints"):
            return None
        linted = await self.session.latest(params.text_document.uri)
        if linted is None or linted.task is None:
            return None
        places = Places(linted.buffer, self.session.encoding)
        cell = places.cell(params.text_document.uri)
        found = await self.session.answer(partial(self.session.linter.hints, linted, self.session.texts))
        return inlay_hints(found or (), places.of_cell(cell), cell, params.range)

    def _is_on(self, option: str) -> bool:
        return isinstance(self.options, dict) and self.options.get(option) is True

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        linted = await self.session.latest(params.text_document.uri)
        if linted is None or linted.task is None:
            return None
        places = Places(linted.buffer, self.session.encoding)
        cell = places.cell(params.text_document.uri)
        line, column = places.of_cell(cell).place(params.position)
        work = partial(self.session.linter.explained, linted, self.session.texts, line, column, cell)
        found = await self.session.answer(work)
        if not found:
            return None
        told = types.MarkupContent(types.MarkupKind.Markdown, hover_text(found, linted.task.shown_as))
        return types.Hover(told, places.range(found[0].place))

    def begin(self) -> None:
        """The editor is ready."""
        window = self.client_capabilities.window
        self.everything.shows_progress = bool(window and window.work_done_progress)
        self.everything.encoding = self.session.encoding
        self.everything.follows = self._is_on("workspaceDiagnostics")
        if self.everything.follows:
            self.everything.start()
        self.watch()

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

    def _publish(self, linted: Linted, diagnostics: Published) -> None:
        buffer = linted.buffer
        version = None if buffer.is_notebook else buffer.version
        for uri, found in diagnostics.items():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))
        told = set(self.complaints.values())
        self.complaints[buffer.uri] = linted.complaint
        if linted.complaint and linted.complaint not in told:
            self._complain(linted.complaint)

    def _complain(self, complaint: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"devlint: {complaint}"))

    def _failed(self, error: Exception) -> None:
        message = f"devlint: internal error: {type(error).__name__}: {error}; please report this"
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))
