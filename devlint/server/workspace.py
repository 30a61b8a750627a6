"""The diagnostics of files that are not open: those of all folders of the editor, as they are on the disk."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from lsprotocol import types
from pygls.progress import Progress as Reporting

from devlint.finding import Finding, Place
from devlint.server.buffers import Buffer, uri_of
from devlint.server.diagnostics import Diagnostics
from devlint.server.folder_check import CheckFailed, Found, Progress, checked
from devlint.server.linting import Linted
from devlint.source.decoding import Unreadable
from devlint.source.reading import NOTEBOOK
from devlint.source.source_file import read_source
from devlint.source.tree import WORKING_TREE

PAUSE_SECONDS = 1.0
"""After something was saved; another change in that time begins it anew."""

_TITLE = "devlint: checking the workspace"

ByUri = dict[str, list[types.Diagnostic]]


class WorkspaceDiagnostics:
    """Checks all folders, one check at a time, and publishes what belongs to files that are not open."""

    def __init__(
        self,
        reporting: Reporting,
        folders: Callable[[], list[str]],
        is_open: Callable[[str], bool],
        publish: Callable[[str, list[types.Diagnostic]], None],
        failed: Callable[[str], None],
    ) -> None:
        """``folders`` gives absolute paths; ``failed`` receives what is to be told to the user."""
        self.encoding = "utf-16"
        self.shows_progress = False
        """Whether the editor can show how far a check is, and cancel it there."""
        self.follows = False
        """Whether each saved file leads to another check."""
        self._reporting = reporting
        self._folders = folders
        self._is_open = is_open
        self._publish = publish
        self._failed = failed
        self._numbers = itertools.count(1)
        self._task: asyncio.Task[int | None] | None = None
        self._known: ByUri = {}

    def start(self, pause: float = 0.0) -> asyncio.Task[int | None]:
        """Check everything, instead of what is being checked; the result is how many findings there are."""
        self.stop()
        self._task = asyncio.get_running_loop().create_task(self._check(pause))
        self._task.add_done_callback(self._done)
        return self._task

    def changed(self) -> None:
        """Something was saved."""
        if self.follows:
            self.start(PAUSE_SECONDS)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def of_closed(self, uri: str) -> list[types.Diagnostic]:
        """What is known of a file that is not open any longer."""
        return self._known.get(uri, [])

    def _done(self, task: asyncio.Task[int | None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(f"internal error: {type(error).__name__}: {error}; please report this")

    async def _check(self, pause: float) -> int | None:
        """How many findings there are; None if the user cancelled it."""
        await asyncio.sleep(pause)
        token = await self._begun()
        found: ByUri = {}
        try:
            for folder in self._folders():
                async with aclosing(checked(folder)) as events:
                    async for event in events:
                        if token is not None and self._reporting.tokens[token].cancelled():
                            return None
                        if isinstance(event, Found):
                            found.update(await asyncio.to_thread(_diagnostics, event, Path(folder), self.encoding))
                        elif token is not None:
                            self._reporting.report(token, _report(event))
        except CheckFailed as error:
            self._failed(str(error))
            return None
        finally:
            if token is not None:
                self._reporting.end(token, types.WorkDoneProgressEnd())
                self._reporting.tokens.pop(token, None)
        self._replace(found)
        return sum(map(len, found.values()))

    def _replace(self, found: ByUri) -> None:
        before, self._known = self._known, found
        for uri in before.keys() | found.keys():
            now = found.get(uri, [])
            if now != before.get(uri, []) and not self._is_open(uri):
                self._publish(uri, now)

    async def _begun(self) -> str | None:
        if not self.shows_progress:
            return None
        token = f"devlint-workspace-{next(self._numbers)}"
        await self._reporting.create_async(token)
        self._reporting.begin(token, types.WorkDoneProgressBegin(_TITLE, cancellable=True, percentage=0))
        return token


def _report(event: Progress) -> types.WorkDoneProgressReport:
    percentage = 100 * event.done // max(event.total, 1)
    told = f"{event.done:,} of {event.total:,} files"
    return types.WorkDoneProgressReport(cancellable=True, message=told, percentage=percentage)


def _diagnostics(found: Found, root: Path, encoding: str) -> ByUri:
    by_path: dict[str, list[Finding]] = {}
    for finding in found.findings:
        by_path.setdefault(finding.place.path, []).append(finding)
    return {uri_of(path): list(_of_file(path, findings, root, encoding)) for path, findings in by_path.items()}


def _of_file(path: str, findings: Iterable[Finding], root: Path, encoding: str) -> Iterable[types.Diagnostic]:
    buffer = Buffer(uri_of(path), path, None, _text_of(path), root)
    diagnostics = Diagnostics(Linted(buffer), encoding, _text_of)
    return map(diagnostics.of, map(_in_file, findings))


def _in_file(finding: Finding) -> Finding:
    """A finding of a notebook at its line of the file: nobody shows the cells of one that is not open."""

    def placed(place: Place) -> Place:
        line = place.file_line
        return Place(place.path, line, 1, line, 1) if line else place

    trace = tuple(replace(step, place=placed(step.place)) for step in finding.trace)
    return replace(finding, place=placed(finding.place), trace=trace)


def _text_of(path: str) -> str:
    try:
        data = WORKING_TREE.read(path)
        return data.decode("utf-8", "replace") if path.endswith(NOTEBOOK) else read_source(path, data).text
    except (OSError, Unreadable):
        return ""
