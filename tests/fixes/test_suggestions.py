"""Every edit that is offered, by itself: an editor applies one at a time, also those that `--fix` leaves to people."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from devlint.finding import Confidence, Finding, Severity
from devlint.fixes.applying import apply_edits
from tests.fixture_expectations import FIXTURES, fixtures_of, lint_text

pytestmark = pytest.mark.no_cover
"""A sweep: traced it takes twice as long, and covers no line that the other tests do not."""

REVEALED: dict[tuple[str, str], str] = {
    ("DEV101", "DEV302"): "what goes where the other operand is names the accelerator that it was put on",
    ("DEV101", "DEV308"): "the device parameter of the function is ignored still, and nothing else speaks of it now",
    ("DEV101", "DEV312"): "what goes where the other operand is needs the accelerator that it was put on",
    ("DEV101", "DEV401"): "what an object makes where it is told is on the CPU where it is told that",
    ("DEV104", "DEV101"): "once the module has left the CPU, an input that one arm makes there stands alone",
    ("DEV104", "DEV312"): "what goes where the others are needs the accelerator that they name",
    ("DEV104", "DEV302"): "what goes to the input's device now stands beside an accelerator that is named",
    ("DEV201", "DEV302"): "a transfer that is kept names the accelerator",
    ("DEV204", "DEV302"): "a transfer of the items names the accelerator",
    ("DEV206", "DEV302"): "a part that is moved as the others are names the accelerator that they name",
    ("DEV208", "DEV302"): "what goes to the other operand's device now stands beside an accelerator that is named",
    ("DEV301", "DEV302"): "without its index it is the current accelerator, whatever the caller is on",
    ("DEV301", "DEV312"): "without its index it is the current accelerator, which nothing asks for",
    ("DEV307", "DEV312"): "a context needs an accelerator as what it stands for did",
    ("DEV301", "DEV310"): "without its index it is the current accelerator, behind a guard about the type",
    ("DEV306", "DEV301"): "what is chosen in the body has the index that it had",
    ("DEV306", "DEV302"): "what is chosen in the body is named there",
    ("DEV403", "DEV101"): "what numpy gives back is on the CPU, and now the input need not be",
    ("DEV405", "DEV301"): "the index that the other operand has is written a second time",
    ("DEV501", "DEV101"): "once what is kept moves along, what a base class makes beside it stands alone",
    ("DEV603", "DEV301"): "the index that the tensor has is written a second time",
}
"""A finding's code, and that of one that its edit brings to light: of another repair."""

FAMILIES = ("rules", "seeds", "idioms", "found", "lookalikes")


def of_scope(findings: list[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.code, finding.scope) for finding in findings)


def gating(findings: list[Finding]) -> list[Finding]:
    return [f for f in findings if f.severity > Severity.NOTE and f.confidence > Confidence.LOW]


@pytest.mark.parametrize("folder", sorted({path.parent for path in fixtures_of(*FAMILIES)}), ids=lambda path: path.name)
def test_each_edit_compiles_and_takes_its_finding_away(folder: object) -> None:
    for path in fixtures_of(*FAMILIES):
        if path.parent != folder:
            continue
        text, name = (
            path.read_text("utf-8"),
            path.relative_to(FIXTURES / path.relative_to(FIXTURES).parts[0]).as_posix(),
        )
        before = lint_text(text, name)
        for finding in before:
            if finding.fix is None or not finding.fix.edits:
                continue
            what = f"{path.relative_to(FIXTURES)}:{finding.place.line} {finding.code}: {finding.fix.message}"
            edited = apply_edits(text.encode(), finding.fix.edits).decode()
            compile(edited, what, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            after = lint_text(edited, name)
            assert same(finding, after) < same(finding, before), what
            new = of_scope(gating(after)) - of_scope(before)
            assert all((finding.code, code) in REVEALED for code, _ in new), (what, new)


def same(finding: Finding, among: list[Finding]) -> int:
    key = (finding.code, finding.scope, finding.message)
    return sum((other.code, other.scope, other.message) == key for other in among)
