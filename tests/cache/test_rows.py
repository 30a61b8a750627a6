"""A finding in the cache is the finding that was put there, in every field."""

from __future__ import annotations

import json
from dataclasses import fields

from devlint.cache.rows import finding_row, read_finding
from devlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, TraceStep

PLACE = Place("a.py", 3, 5, 4, 9, cell=2, file_line=31)
WHOLE = Finding(
    code="DEV101",
    name="creation-without-device",
    severity=Severity.ERROR,
    confidence=Confidence.MEDIUM,
    message="it is made on the CPU",
    place=PLACE,
    scope="Net.forward",
    snippet="torch.zeros(3)",
    trace=(TraceStep(PLACE, "made here", "cpu", begins=True), TraceStep(PLACE, "met here")),
    help="make it there",
    fix=Fix(Applicability.SAFE, "pass device", (Edit(1, 2, "x", "b.py", 3), Edit(4, 4, ""))),
    related_lines=(3, 4),
    fingerprint="0123",
)


def test_a_finding_comes_back_whole() -> None:
    left_out = {field.name for field in fields(Finding) if getattr(WHOLE, field.name) == field.default}
    assert left_out == {"origin", "verdict"}, "a run's findings are not kept; every other field is tried"
    back = read_finding(json.loads(json.dumps(finding_row(WHOLE))))
    assert (back, back.related_lines) == (WHOLE, WHOLE.related_lines)
