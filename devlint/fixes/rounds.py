"""Fixes applied to a run's files, and the files looked at again, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from devlint.finding import Finding
from devlint.fixes.applying import fixed
from devlint.fixes.byte_edits import Refused
from devlint.fixes.choosing import chosen
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.decoding import Unreadable, content_digest
from devlint.source.reading import reason
from devlint.source.source_file import read_source
from devlint.source.tree import WORKING_TREE

MAX_ROUNDS = 50
"""Each round applies a fix at least; a file that still changes after so many has one that brings back its finding."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be fixed. ``selects`` says which of a file's findings; by default all that are shown."""

    unsafe: bool = False
    selects: Callable[[Iterable[Finding]], Iterable[Finding]] = lambda findings: findings


@dataclass(slots=True)
class FixedFile:
    """One file on its way. Where something went wrong ``after`` is what it was before, and ``problem`` says why."""

    task: FileTask
    before: bytes
    after: bytes
    applied: list[Finding] = field(default_factory=list)
    problem: str = ""
    unwritten: bool = False
    """Whether it is still as it was though its fixes led somewhere."""

    @property
    def changed(self) -> bool:
        return self.after != self.before

    def give_up(self, problem: str) -> None:
        self.after, self.problem = self.before, problem
        self.applied.clear()


Lint = Callable[[list[FileTask], Mapping[str, bytes]], Iterable[FileReport]]
"""Looks at files; the mapping holds what other files, by their absolute paths, are to be taken for."""


def settle(tasks: Iterable[FileTask], reports: dict[str, FileReport], wanted: Wanted, lint: Lint) -> list[FixedFile]:
    """Fix the files of a run. ``reports``, by the path in findings, are brought up to date with what is left.

    Nothing is written. A file whose fixes lead nowhere, or would leave code that does not compile, is left as it was.
    """
    by_name = {task.shown_as: task for task in tasks}
    files: dict[str, FixedFile] = {}
    pending = sorted(by_name)
    for _ in range(MAX_ROUNDS):
        changed = [name for name in pending if name in reports and _advance(files, by_name[name], reports, wanted)]
        if changed:
            pending = changed
        elif len(pending) < len(by_name) and any(file.changed for file in files.values()):
            # A fix may have changed what is true of another file.
            pending = sorted(by_name)
        else:
            break
        _look_again(pending, by_name, files, reports, lint)
    else:
        stuck = [name for name in pending if _is_unsettled(files, reports, wanted, name)]
        for name in stuck:
            files[name].give_up(f"its fixes do not come to an end within {MAX_ROUNDS} rounds")
        _look_again(stuck, by_name, files, reports, lint)
    return [files[name] for name in sorted(files)]


def _advance(files: dict[str, FixedFile], task: FileTask, reports: dict[str, FileReport], wanted: Wanted) -> bool:
    """Apply what can be applied to one file now; whether that changed it."""
    report = reports[task.shown_as]
    file = files.get(task.shown_as)
    findings = chosen(wanted.selects(report.findings), wanted.unsafe)
    if not findings or (file is not None and file.problem):
        return False
    try:
        if file is None:
            data = _read(task, report)
            file = files[task.shown_as] = FixedFile(task, data, data)
        source = read_source(task.path, file.after)
        edits = [edit for finding in findings if finding.fix is not None for edit in finding.fix.edits]
        after = fixed(source, task.path, edits)
    except (Refused, Unreadable, OSError) as error:
        if file is None:
            file = files[task.shown_as] = FixedFile(task, b"", b"")
        codes = ", ".join(sorted({f"{finding.code} at line {finding.place.line}" for finding in findings}))
        was_changed = file.changed
        file.give_up(f"{_reason(error)} ({codes})")
        return was_changed
    if after == file.after:
        return False
    file.after = after
    file.applied += findings
    return True


def _read(task: FileTask, report: FileReport) -> bytes:
    """What was looked at: the edits are offsets into that and nothing else."""
    data = task.data
    if data is None:
        data = WORKING_TREE.read(task.path)
    if report.digest and content_digest(data) != report.digest:
        raise Refused("it was changed while it was being fixed")
    return data


def _look_again(
    names: list[str],
    tasks: dict[str, FileTask],
    files: dict[str, FixedFile],
    reports: dict[str, FileReport],
    lint: Lint,
) -> None:
    now = {file.task.path: file.after for file in files.values() if file.changed}
    again = [replace(tasks[name], data=now.get(tasks[name].path, tasks[name].data)) for name in names]
    for report in lint(again, now):
        reports[report.shown_as] = report


def _is_unsettled(files: dict[str, FixedFile], reports: dict[str, FileReport], wanted: Wanted, name: str) -> bool:
    return name in files and bool(chosen(wanted.selects(reports[name].findings), wanted.unsafe))


def _reason(error: Exception) -> str:
    return reason(error) if isinstance(error, OSError) else str(error)
