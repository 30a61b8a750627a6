"""Findings of the linter itself, about a file as such (DEV9)."""

from __future__ import annotations

from devlint.configuration.codes import all_codes
from devlint.finding import Confidence, Finding, Place


def own_finding(code: str, path: str, message: str, line: int, column: int) -> Finding:
    """A finding of a code that no rule has: it is about the file as such."""
    about = all_codes()[code]
    place = Place(path, line, column, line, column + 1)
    return Finding(code, about.name, about.severity, Confidence.HIGH, message, place)
