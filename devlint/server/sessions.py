"""The open documents of one editor: linted as they change, each in its latest text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from devlint.server.buffers import Buffer, path_of
from devlint.server.diagnostics import Diagnostics, Published
from devlint.server.linting import Linted, Linter, Texts
from devlint.server.worker import TookTooLong, Worker

T = TypeVar("T")

PAUSE_SECONDS = (0.02, 0.15)
"""The pause in typing after which a text is linted that came while an earlier one was: a fifth of what the last one
took, between these two. Where nothing is being linted there is nothing to wait for: who types faster stops it."""

Publish = Callable[[Linted, Published], None]
"""Takes what was found in a document, with its diagnostics."""


class Session:
    """Lints documents in the worker. Of two texts of one document the later is linted, the other dropped."""

    def __init__(self, worker: Worker, publish: Publish, failed: Callable[[Exception], None]) -> None:
        """``failed`` receives errors that are devlint's own."""
        self.encoding = "utf-16"
        self.linter = Linter()
        self._worker = worker
        self._publish = publish
        self._failed = failed
        self._buffers: dict[str, Buffer] = {}
        self._owners: dict[str, str] = {}
        """The notebook that a document is a cell of."""
        self._linted: dict[str, Linted] = {}
        self._tasks: dict[str, asyncio.Task[Linted | None]] = {}
        self._answers: set[asyncio.Task[Any]] = set()

    @property
    def texts(self) -> Texts:
        """The bytes of every open document by its path."""
        return {buffer.path: buffer.data for buffer in self._buffers.values()}

    def buffer(self, uri: str) -> Buffer | None:
        return self._buffers.get(uri)

    def opened(self, buffer: Buffer) -> None:
        self._hold(buffer)
        self._lint(buffer.uri, 0)

    def changed(self, buffer: Buffer) -> None:
        if buffer.uri in self._buffers:
            self._hold(buffer)
            for answer in self._answers:
                answer.cancel()
            self._lint(buffer.uri, self._pause(buffer.uri) if buffer.uri in self._tasks else 0)

    def _hold(self, buffer: Buffer) -> None:
        self._buffers[buffer.uri] = buffer
        for cell in buffer.cells:
            self._owners[cell.uri] = buffer.uri

    def closed(self, uri: str) -> Buffer | None:
        """Forget a document; what is open beside it is linted with what is in its file."""
        buffer = self._buffers.pop(uri, None)
        for cell in buffer.cells if buffer is not None else ():
            self._owners.pop(cell.uri, None)
        self._linted.pop(uri, None)
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()
        if buffer is not None:
            self._lint_others(buffer)
        return buffer

    def changed_around(self, paths: Iterable[str], only_contents: bool) -> None:
        """Files have changed. Of an open document the text counts that is open, and it was linted with that.

        ``only_contents``: no file has come or gone, and none is a configuration.
        """
        own = {buffer.path for buffer in self._buffers.values()}
        changed = [path for path in paths if path not in own]
        for uri in self._buffers if changed else ():
            linted = self._linted.get(uri)
            if linted is None or not only_contents or any(map(linted.may_rest_on, changed)):
                self._lint(uri, PAUSE_SECONDS[1], urgent=False)

    async def latest(self, uri: str) -> Linted | None:
        """What was found in the text that a document has now; None if it was changed again, or is not open.

        Of a notebook's cell: what was found in the notebook.
        """
        uri = self._owners.get(uri, uri)
        buffer = self._buffers.get(uri)
        while (task := self._tasks.get(uri)) is not None and self._buffers.get(uri) is buffer:
            await asyncio.wait([task])
        linted = self._linted.get(uri)
        return linted if linted is not None and linted.buffer is buffer is self._buffers.get(uri) else None

    async def answer(self, work: Callable[[], T]) -> T | None:
        """The result of work for a request; None if a document is changed while it is done, or it takes too long."""
        task = asyncio.get_running_loop().create_task(self._worker.run(work))
        self._answers.add(task)
        try:
            return await task
        except (asyncio.CancelledError, TookTooLong):
            task.cancel()
            return None
        finally:
            self._answers.discard(task)

    def _pause(self, uri: str) -> float:
        linted = self._linted.get(uri)
        shortest, longest = PAUSE_SECONDS
        return min(max(shortest, linted.seconds / 5), longest) if linted is not None else longest

    def _lint(self, uri: str, pause: float, urgent: bool = True) -> None:
        running = self._tasks.get(uri)
        if running is not None:
            running.cancel()
        task = self._tasks[uri] = asyncio.get_running_loop().create_task(self._linted_after(uri, pause, urgent))
        task.add_done_callback(partial(self._done, uri))

    def _done(self, uri: str, task: asyncio.Task[Linted | None]) -> None:
        if self._tasks.get(uri) is task:
            del self._tasks[uri]
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self._failed(error)

    async def _linted_after(self, uri: str, pause: float, urgent: bool) -> Linted | None:
        await asyncio.sleep(pause)
        buffer, texts = self._buffers[uri], self.texts
        before = self._linted.get(uri)
        try:
            work = partial(_lint, self.linter, buffer, texts, self.encoding)
            linted, diagnostics = await self._worker.run(work, urgent)
        except TookTooLong:
            return None
        self._linted[uri] = linted
        self._publish(linted, diagnostics)
        if before is None or before.buffer.text != buffer.text:
            self._lint_others(buffer)
        return linted

    def _lint_others(self, changed: Buffer) -> None:
        """Lint again the documents in which another one may make a difference."""
        for uri, linted in list(self._linted.items()):
            if uri != changed.uri and uri in self._buffers and linted.may_rest_on(changed.path):
                self._lint(uri, 0, urgent=False)


def _lint(linter: Linter, buffer: Buffer, texts: Texts, encoding: str) -> tuple[Linted, Published]:
    started = time.perf_counter()
    linted = linter.lint(buffer, texts)
    diagnostics = Diagnostics(linted, encoding, linter.text_of).all()
    return replace(linted, seconds=time.perf_counter() - started), diagnostics


def root_of(uri: str, folders: Iterable[str], root: str | None) -> Path:
    """The innermost folder of the editor that a document is in; else its root, else the document's directory."""
    path = path_of(uri)
    around = [folder for folder in map(path_of, folders) if folder and path and Path(path).is_relative_to(folder)]
    if around:
        return Path(max(around, key=len))
    if root is not None:
        return Path(root)
    return Path(path).parent if path else Path.cwd()
