"""The record of an analysis: what a cache keeps of it."""

from __future__ import annotations

from devlint.pipeline.lint_result import LintResult
from devlint.pipeline.task import FileReport, Record
from devlint.source.decoding import Source, Unreadable, content_digest
from devlint.source.dependencies import Dependencies, Extent
from devlint.source.gate import Refusal
from devlint.source.suppression import has_directives, read_suppressions


def record_of(result: LintResult, source: Source, dependencies: Dependencies, report: FileReport) -> Record:
    """The record of a file that was linted, or refused by the gate."""
    dependencies.settle()
    return Record(
        digest=source.digest.hex(),
        findings=result.findings,
        refusal=result.refusal,
        has_directives=has_directives(read_suppressions(source.text, source.segments)),
        dependencies=dependencies,
        extent=dependencies.extent(_character_limit()) if dependencies.parsed else Extent(),
        report=report,
        scopes=result.scopes,
        leads_back=result.leads_back,
    )


def record_of_unreadable(data: bytes, error: Unreadable, dependencies: Dependencies, report: FileReport) -> Record:
    """The record of a file whose bytes could not be decoded."""
    refusal = Refusal(False, error.message, error.line, 1)
    return Record(content_digest(data).hex(), (), refusal, False, dependencies, Extent(), report)


def _character_limit() -> int:
    """Characters of other files beyond which one analysis does not read further ones."""
    from devlint.placement.project.workspace import MAX_CHARACTERS_READ

    return MAX_CHARACTERS_READ
