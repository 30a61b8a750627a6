"""What a fixture says about itself, in comments at the end of its lines.

``# expect: DEV101, DEV301`` findings at this line; ``# known miss: DEV101`` a finding that should be here and is not;
``# known false alarm: DEV101`` one that is here and should not be. A first line
``# gate: severity=note confidence=low`` changes what counts as reported; without it that is severity warning and
confidence medium, and notes for DEV7.
"""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path, PurePath

import libcst as cst

from devlint.finding import Confidence, Finding, Severity
from devlint.rules.engine import lint_module
from devlint.source.role import role_of

FIXTURES = Path(__file__).parents[1] / "fixtures"

_MARK = re.compile(r"(expect|known miss|known false alarm):\s*(DEV\d{3}(?:\s*,\s*DEV\d{3})*)")
_GATE = re.compile(r"# gate:(?: severity=(?P<severity>\w+))?(?: confidence=(?P<confidence>\w+))?\s*$")

Mark = tuple[int, str]
"""Line and code."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """The marks of one fixture by kind, and its gate."""

    expected: frozenset[Mark]
    known_misses: frozenset[Mark]
    known_false_alarms: frozenset[Mark]
    severity: Severity
    confidence: Confidence

    def reported(self, findings: list[Finding]) -> frozenset[Mark]:
        """What of the findings passes the gate."""
        return frozenset(
            (finding.place.line, finding.code)
            for finding in findings
            if finding.severity >= self.severity and finding.confidence >= self.confidence
        )


def expectations_of(path: Path, text: str) -> Expectations:
    """Read from tokens, so that a mark in a string is none. Raises ValueError for a mark that cannot be read."""
    marks: dict[str, set[Mark]] = {"expect": set(), "known miss": set(), "known false alarm": set()}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.string.lstrip("# ").startswith(("expect", "known ")) and not _MARK.search(token.string):
                raise ValueError(f"{path}:{token.start[0]}: cannot read the mark {token.string!r}")
            for kind, codes in _MARK.findall(token.string):
                marks[kind].update((token.start[0], code.strip()) for code in codes.split(","))
    expected, misses, false_alarms = (frozenset(found) for found in marks.values())
    return Expectations(expected, misses, false_alarms, *_gate(path, text))


def _gate(path: Path, text: str) -> tuple[Severity, Confidence]:
    severity = Severity.NOTE if path.parent.name.startswith("DEV7") else Severity.WARNING
    confidence = Confidence.MEDIUM
    first = text.split("\n", 1)[0]
    if first.startswith("# gate:"):
        gate = _GATE.match(first)
        if gate is None:
            raise ValueError(f"{path}:1: cannot read the gate {first!r}")
        severity = Severity[gate["severity"].upper()] if gate["severity"] else severity
        confidence = Confidence[gate["confidence"].upper()] if gate["confidence"] else confidence
    return severity, confidence


def lint_text(text: str, path: str) -> list[Finding]:
    """The findings of one text; its role is that of a file with this path in a project of its own."""
    return lint_module(cst.parse_module(text), text, path, role_of(PurePath(path), text))


def lint_fixture(path: Path) -> list[Finding]:
    """The findings of a fixture, whose role is told by its path below the fixtures' own folder."""
    return lint_text(path.read_text("utf-8"), name_in_family(path))


def name_in_family(path: Path) -> str:
    """The path of a fixture below its family's folder, by which its role is told."""
    return path.relative_to(FIXTURES / path.relative_to(FIXTURES).parts[0]).as_posix()


def fixtures_of(*families: str) -> list[Path]:
    """All programs of these folders of ``fixtures/``, in order."""
    return sorted(path for family in families for path in (FIXTURES / family).rglob("*.py"))
