"""Reports on files that could not be linted: no Python (DEV901), or not to be analysed (DEV902)."""

from __future__ import annotations

from pathlib import PurePath

from devlint.configuration.codes import SYNTAX_ERROR, UNREADABLE_FILE
from devlint.pipeline.own_findings import own_finding
from devlint.pipeline.stages.fingerprints import fingerprinted
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.gate import Refusal


def failed(task: FileTask, message: str, line: int = 1, column: int = 1, detail: str = "") -> FileReport:
    """The report on a file that could not be analysed."""
    finding = own_finding(UNREADABLE_FILE, task.shown_as, f"cannot be analysed: {message}", line, column)
    return FileReport(task.shown_as, fingerprinted([finding], task.identity), detail=detail)


def refused(task: FileTask, refusal: Refusal) -> FileReport:
    """The report on a file whose text the gate or LibCST refuses."""
    if not refusal.syntax:
        return failed(task, refusal.message, refusal.line, refusal.column)
    finding = own_finding(SYNTAX_ERROR, task.shown_as, refusal.message, refusal.line, refusal.column)
    return FileReport(task.shown_as, fingerprinted([finding], task.identity))


def crashed(task: FileTask, error: BaseException) -> FileReport:
    """The report on a file whose analysis ended with an error of devlint's own or of the machine."""
    if isinstance(error, MemoryError):
        return failed(task, "there was not enough memory")
    import traceback

    detail = "".join(traceback.format_exception(error))
    if isinstance(error, RecursionError):
        return failed(task, "its code is nested too deeply", detail=detail)
    kind = traceback.format_exception_only(error)[-1].strip()
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{PurePath(where.filename).name}:{where.lineno}"
    return failed(task, f"devlint itself failed on it ({kind}, at {place}); please report this", detail=detail)
