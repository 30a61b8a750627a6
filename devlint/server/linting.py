"""One open document, linted as the command line would lint a file of its text. For the thread that analyses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from devlint.configuration.complaint import Complaint
from devlint.configuration.config import Configuration, Overrides
from devlint.finding import Finding, Place
from devlint.fixes.rounds import Wanted, settle
from devlint.gate.novelty import Novelty
from devlint.gate.wanted import Wanted as Known
from devlint.pipeline.earlier_uses import EarlierUses
from devlint.pipeline.explanation import Explained
from devlint.pipeline.failures import failed
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.planning import Planner
from devlint.pipeline.task import FileReport, FileTask, Record
from devlint.pipeline.workers import import_analysis
from devlint.pipeline.workspaces import forget
from devlint.server.buffer_tree import BufferTree
from devlint.server.buffers import Buffer
from devlint.server.records import Records
from devlint.source.deadline import OutOfTime, Unwanted, too_long
from devlint.source.decoding import Source, Unreadable
from devlint.source.discovery import is_excluded
from devlint.source.source_file import read_source

Texts = Mapping[str, bytes]
"""Every open document by its absolute path."""


@dataclass(frozen=True)
class Linted:
    """What was found in one document."""

    buffer: Buffer
    task: FileTask | None = None
    """None for a document that the settings exclude, and with settings that are wrong."""
    findings: tuple[Finding, ...] = ()
    """In order, without those of a baseline."""
    known: frozenset[tuple[str, str, str]] = frozenset()
    """The words of those of a baseline, which no fix touches."""
    source: Source | None = None
    """What the findings' edits count in; None for a document that cannot be read."""
    read: frozenset[str] | None = frozenset()
    """Other files whose programs were read, by their absolute paths; None if any may have been."""
    complaint: str = ""
    """What is wrong with the settings."""
    seconds: float = 0.0
    """What it took, by the clock."""

    def may_rest_on(self, path: str) -> bool:
        """Whether what was found may depend on another file; on one that is in no file yet, everything may."""
        return self.read is None or path in self.read or not os.path.exists(path)


def prepare() -> None:
    """Import what an analysis, a hover or a fix would import when it is the first."""
    import devlint.gate.baseline
    import devlint.pipeline.stages.first_pass
    import devlint.pipeline.stages.second_pass
    import devlint.placement.explanation.causes
    import devlint.placement.explanation.describing
    import devlint.placement.explanation.recording  # noqa: F401

    import_analysis()


class Linter:
    """Keeps what was read of the files around the documents from one edit to the next."""

    def __init__(self) -> None:
        self._tree = BufferTree({})
        self._records = Records()
        self._last: dict[str, Record] = {}
        """By the path of a document, what is known of its last text that could be read."""
        self._uses: dict[str, EarlierUses] = {}

    def lint(self, buffer: Buffer, texts: Texts) -> Linted:
        try:
            configuration = Configuration(Overrides(), buffer.root)
            configuration.for_directory(str(buffer.root))  # a mistake in it is an error, as on the command line
            if is_excluded(buffer.path, configuration):
                return Linted(buffer)
            planner = Planner(configuration, buffer.root, ignore_noqa=False)
            task = replace(planner.task(buffer.path, buffer.data), recorded=True)
            task = replace(task, uses=self._uses.setdefault(buffer.path, EarlierUses()))
            if (last := self._last.get(buffer.path)) is not None:
                task = replace(task, likely=last.scopes, leads_back=last.leads_back)
            self._look(texts)
            report = self._report(task)
            if report.record is not None and report.record.refusal is None:
                self._last[buffer.path] = report.record
            new = _new_ones(task, report, configuration, planner, buffer.root)
        except Complaint as error:
            return Linted(buffer, complaint=str(error))
        return Linted(
            buffer,
            task,
            new,
            frozenset(map(_words, set(report.findings) - set(new))),
            _source(buffer.path, buffer.data),
            _read(report),
        )

    def fixed(self, linted: Linted, texts: Texts) -> bytes:
        """The bytes of a document after all safe fixes, as ``--fix`` would leave them."""
        if linted.task is None:
            return linted.buffer.data

        def wanted(findings: Iterable[Finding]) -> list[Finding]:
            return [finding for finding in findings if _words(finding) not in linted.known]

        def again(tasks: list[FileTask], fixed: Texts) -> Iterator[FileReport]:
            self._look({**texts, **fixed})
            for task in tasks:
                yield self._report(task)

        self._look(texts)
        reports = {linted.task.shown_as: self._report(linted.task)}
        for file in settle([linted.task], reports, Wanted(selects=wanted), again):
            return file.after
        return linted.buffer.data

    def explained(self, linted: Linted, texts: Texts, line: int, column: int, cell: int = 0) -> tuple[Explained, ...]:
        """What the expressions around a place are held to be, the innermost first. Lines count in their cells."""
        if linted.task is None or linted.source is None:
            return ()
        self._look(texts)
        at = linted.source.text_line(Place(linted.buffer.path, line, column, line, column, cell))
        found = self._records.explained(linted.task, self._tree, at, column)
        return tuple(_placed(one, linted.task.shown_as, linted.source) for one in found)

    def hints(self, linted: Linted, texts: Texts) -> list[tuple[Place, str]]:
        """Behind each name that is bound to a tensor or a module: where that lies."""
        if linted.task is None or linted.source is None:
            return []
        self._look(texts)
        found = self._records.placements(linted.task, self._tree)
        return [(linted.source.placed(place), words) for place, words in found]

    def text_of(self, path: str) -> str:
        """The text of a file as it was analysed; empty for one that cannot be read."""
        try:
            source = _source(path, self._tree.read(path))
        except OSError:
            return ""
        return source.text if source is not None else ""

    def _look(self, texts: Texts) -> None:
        changed = self._tree.update(texts)
        if changed is None or changed:
            self._records.close()
        if changed is None:
            self._tree = BufferTree(texts)
        elif changed:
            forget(self._tree, changed, recorded=True)

    def _report(self, task: FileTask) -> FileReport:
        self._records.close()
        try:
            return analyse_file(task, self._tree)
        except Unwanted:
            raise
        except OutOfTime:
            return failed(task, too_long())


def _new_ones(
    task: FileTask, report: FileReport, configuration: Configuration, planner: Planner, root: Path
) -> tuple[Finding, ...]:
    """The findings without those that are in a baseline."""
    novelty = Novelty(Known(), configuration, root, planner.task, 1, lambda done, total: None)
    novelty.prepare([task])
    return novelty.judge([task], [report], []).new


def _read(report: FileReport) -> frozenset[str] | None:
    if report.record is None or report.record.dependencies.mentions:
        return None  # its package was searched for a word
    return frozenset(report.record.dependencies.parsed)


def _source(path: str, data: bytes) -> Source | None:
    try:
        return read_source(path, data)
    except Unreadable:
        return None


def _placed(one: Explained, path: str, source: Source) -> Explained:
    """What is known of an expression, its places in the cells of a notebook."""

    def placed(place: Place) -> Place:
        return source.placed(place) if place.path == path else place

    return replace(
        one,
        place=placed(one.place),
        trace=tuple(replace(step, place=placed(step.place)) for step in one.trace),
        unknown=tuple(replace(why, place=placed(why.place)) for why in one.unknown),
    )


def _words(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.scope, finding.snippet
