"""Which message of the protocol leads to what, and the life of the server."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace

from lsprotocol import types

from devlint.server.actions import FIX_ALL
from devlint.server.buffers import path_of
from devlint.server.server import Server

CHECK_WORKSPACE = "devlint.checkWorkspace"

_SETTINGS = ".toml"

_END_SECONDS = 2.0
"""What the analysis gets to stop when the server ends."""


def _initialized(ls: Server, params: types.InitializedParams) -> None:
    ls.session.encoding = str(getattr(ls.workspace.position_encoding, "value", ls.workspace.position_encoding))
    ls.begin()


def _initialize(ls: Server, params: types.InitializeParams) -> None:
    ls.options = params.initialization_options


async def _check_workspace(ls: Server) -> int | None:
    task = ls.everything.start()
    await asyncio.wait([task])
    return None if task.cancelled() or task.exception() is not None else task.result()


def _did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    ls.opened(params.text_document)


def _did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    known = ls.session.buffer(uri)
    if known is not None:
        text = ls.workspace.get_text_document(uri).source
        ls.session.changed(replace(known, version=params.text_document.version, text=text))


def _did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is not None:
        ls.session.changed_around([path], only_contents=not path.endswith(_SETTINGS))
    ls.everything.changed()


def _did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.closed(params.text_document.uri)


def _notebook_opened(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
    ls.notebook_opened(params)


def _notebook_changed(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
    ls.notebook_changed(params)


def _notebook_closed(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
    ls.closed(params.notebook_document.uri)


def _watched_files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    paths = [path for path in (path_of(event.uri) for event in params.changes) if path is not None]
    told = all(event.type == types.FileChangeType.Changed for event in params.changes)
    ls.session.changed_around(paths, told and not any(path.endswith(_SETTINGS) for path in paths))
    ls.everything.changed()


async def _code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    return await ls.code_actions(params)


async def _resolve(ls: Server, params: types.CodeAction) -> types.CodeAction:
    return await ls.resolved(params)


async def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    return await ls.hover(params)


async def _inlay_hint(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint] | None:
    return await ls.inlay_hints(params)


def _shutdown(ls: Server, params: None) -> None:
    ls.was_shut_down = True
    ls.everything.stop()


_FEATURES = (
    (types.INITIALIZE, _initialize, None),
    (types.INITIALIZED, _initialized, None),
    (types.TEXT_DOCUMENT_DID_OPEN, _did_open, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, _did_change, None),
    (types.TEXT_DOCUMENT_DID_SAVE, _did_save, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, _did_close, None),
    (types.NOTEBOOK_DOCUMENT_DID_OPEN, _notebook_opened, None),
    (types.NOTEBOOK_DOCUMENT_DID_CHANGE, _notebook_changed, None),
    (types.NOTEBOOK_DOCUMENT_DID_CLOSE, _notebook_closed, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _watched_files_changed, None),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        _code_action,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True),
    ),
    (types.CODE_ACTION_RESOLVE, _resolve, None),
    (types.TEXT_DOCUMENT_HOVER, _hover, None),
    (types.TEXT_DOCUMENT_INLAY_HINT, _inlay_hint, None),
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
    for name, handler, options in _FEATURES:
        server.feature(name, options)(handler)
    server.command(CHECK_WORKSPACE)(_check_workspace)
    server.worker.start()
    server.start_io(sys.stdin.buffer, answers)
    code = 0 if server.was_shut_down else 1
    if not server.worker.end(_END_SECONDS):
        os._exit(code)  # native code is still running, which the interpreter's orderly end would abort with a crash
    return code
