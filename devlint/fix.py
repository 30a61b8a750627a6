"""The fixing pipeline, top to bottom: check, apply, check again until nothing changes, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from devlint.check import Request, check
from devlint.finding import Finding
from devlint.fixes.fixed_tree import FixedTree
from devlint.fixes.rounds import FixedFile, Wanted, settle
from devlint.fixes.writing import NotWritten, replace_content
from devlint.pipeline.processors import available_processors
from devlint.pipeline.result import Result
from devlint.pipeline.task import FileReport, FileTask
from devlint.pipeline.workers import run
from devlint.source.tree import Tree


@dataclass(frozen=True)
class Fixing:
    """What is left after fixing, and what was done to which files, in the order of their paths."""

    result: Result
    files: tuple[FixedFile, ...]

    @property
    def changed(self) -> tuple[FixedFile, ...]:
        return tuple(file for file in self.files if file.changed)

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """The files that could not be fixed as wished, each with the reason."""
        return tuple((file.task.shown_as, file.problem) for file in self.files if file.problem)


def fix(
    request: Request,
    unsafe: bool,
    write: bool,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Fixing:
    """Check and fix the files of a request; without ``write`` only find out what would come of it.

    What is known, by a baseline or from the base of a comparison, stays as it is. Raises what checking raises.
    """
    files: list[FixedFile] = []
    jobs = request.jobs or available_processors()

    def amend(
        tasks: list[FileTask], reports: list[FileReport], new: tuple[Finding, ...], tree: Tree
    ) -> list[FileReport]:
        def lint(again: list[FileTask], texts: Mapping[str, bytes]) -> Iterator[FileReport]:
            return run(again, jobs, FixedTree(tree, texts))

        by_name = {report.shown_as: report for report in reports}
        files.extend(settle(tasks, by_name, Wanted(unsafe, _selection(reports, new)), lint))
        if write and request.stdin is None:
            for file in files:
                _write(file)
            if any(file.unwritten for file in files):
                # What is on the disk is not what was looked at: one file's fix may have been another's cure.
                now = {file.task.path: file.after for file in files if file.changed}
                again = [replace(task, data=now.get(task.path, task.data)) for task in tasks]
                by_name |= {report.shown_as: report for report in lint(again, now)}
        return list(by_name.values())

    result = check(request, progress, amend)
    texts = {file.task.shown_as: file.after for file in files if file.changed}
    fixed = sum(len(file.applied) for file in files)
    return Fixing(replace(result, fixed=fixed, texts={**result.texts, **texts}), tuple(files))


def _selection(reports: list[FileReport], new: tuple[Finding, ...]) -> Callable[[Iterable[Finding]], list[Finding]]:
    """What leaves alone the findings that are not new; they are told by their words, as numbers shift with each fix."""
    names = {(finding.place.path, finding.fingerprint) for finding in new}
    known = {
        _words(finding)
        for report in reports
        for finding in report.findings
        if (finding.place.path, finding.fingerprint) not in names
    }
    return lambda findings: [finding for finding in findings if _words(finding) not in known]


def _words(finding: Finding) -> tuple[str, str, str, str]:
    return finding.place.path, finding.code, finding.scope, finding.snippet


def _write(file: FixedFile) -> None:
    try:
        replace_content(file.task.path, file.before, file.after)
    except NotWritten as error:
        file.give_up(f"cannot be written: {error}")
        file.unwritten = True
