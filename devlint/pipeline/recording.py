"""The record of an analysis: what a cache keeps of it."""

from __future__ import annotations

from devlint.pipeline.lint_result import LintResult
from devlint.pipeline.task import FileReport, Record
from devlint.source.asked import Asked
from devlint.source.decoding import Source, Unreadable, content_digest
from devlint.source.gate import Refusal
from devlint.source.suppression import read_suppressions, speak_of_devlint


def record_of(result: LintResult, source: Source, asked: Asked, report: FileReport) -> Record:
    """The record of a file that was linted, or refused by the gate."""
    asked.settle()
    return Record(
        digest=source.digest.hex(),
        findings=result.findings,
        refusal=result.refusal,
        speaks=speak_of_devlint(read_suppressions(source.text, source.pieces)),
        asked=asked,
        budget=_budget() if asked.parsed else 0,
        report=report,
    )


def record_of_unreadable(data: bytes, error: Unreadable, asked: Asked, report: FileReport) -> Record:
    """The record of a file whose bytes could not be decoded."""
    refusal = Refusal(False, error.message, error.line, 1)
    return Record(content_digest(data).hex(), (), refusal, False, asked, 0, report)


def _budget() -> int:
    """Characters of other files beyond which one analysis does not look into further ones."""
    from devlint.placement.project.workspace import MAX_CHARACTERS

    return MAX_CHARACTERS
