"""Findings as diagnostics of the protocol."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from lsprotocol import types

from devlint.configuration.codes import UNUSED_SUPPRESSION
from devlint.finding import Finding, Place, Severity, TraceStep
from devlint.pipeline.path_symbols import absolute
from devlint.reports.wording import advice, step_words
from devlint.server.buffers import uri_of
from devlint.server.linting import Linted
from devlint.server.places import Places
from devlint.server.positions import Positions

SOURCE = "devlint"

Published = dict[str, list[types.Diagnostic]]
"""The diagnostics of one document, by what the editor shows it in: itself, or the cells of a notebook."""

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}

_TOLD = ("help", "suggestion")
"""Advice that no action gives."""


class Diagnostics:
    """Makes the diagnostics of one document. ``text_of`` gives the texts of other files, by their absolute paths."""

    def __init__(self, linted: Linted, encoding: str, text_of: Callable[[str], str]) -> None:
        self._buffer = linted.buffer
        self._findings = linted.findings
        self.places = Places(linted.buffer, encoding)
        self._of_file = cache(lambda path: Positions(text_of(path), encoding))

    def all(self) -> Published:
        found: Published = {uri: [] for uri in self._buffer.uris}
        for finding in self._findings:
            found.setdefault(self.places.uri(finding.place.cell), []).append(self.of(finding))
        return found

    def of(self, finding: Finding) -> types.Diagnostic:
        told = [finding.message, *(f"{kind}: {text}" for kind, text in advice(finding) if kind in _TOLD)]
        unused = finding.code == UNUSED_SUPPRESSION
        return types.Diagnostic(
            range=self.places.range(finding.place),
            message="\n".join(told),
            severity=_SEVERITIES[finding.severity],
            code=finding.code,
            source=SOURCE,
            tags=[types.DiagnosticTag.Unnecessary] if unused else None,
            related_information=[self._step(step) for step in finding.trace] or None,
        )

    def _step(self, step: TraceStep) -> types.DiagnosticRelatedInformation:
        return types.DiagnosticRelatedInformation(self._location(step.place), step_words(step))

    def _location(self, place: Place) -> types.Location:
        path = absolute(place.path, str(self._buffer.root))
        if path == self._buffer.path:
            return types.Location(self.places.uri(place.cell), self.places.range(place))
        return types.Location(uri_of(path), self._of_file(path).range(place))
