"""What a run says of small programs, right ones and wrong ones: fixtures/verdicts, each with its verdicts in comments.

``# verdict: DEV101 confirmed, DEV401 refuted`` at the line of a finding; there are no others, and what is refuted need
not be suspected in the first place. Every function called ``run_...`` is an entry.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from devlint.check import Request
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import Finding, Severity
from devlint.pipeline.result import Result
from devlint.runtime import entries
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Wish
from tests.fixture_expectations import FIXTURES

PROGRAMS = sorted((FIXTURES / "verdicts").glob("*.py"))
SIMULATED = Wish("sim")
_MARK = re.compile(r"# verdict: (.*)$")

Told = tuple[int, str, str]
"""Line, code, state."""


def expected_of(path: Path) -> Counter[Told]:
    expected: Counter[Told] = Counter()
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if mark := _MARK.search(line):
            for told in mark[1].split(", "):
                code, _, state = told.partition(" ")
                expected[(number, code, state)] += 1
    return expected


def judged(path: Path, nursery: Nursery, wish: Wish = SIMULATED) -> Result:
    names = [node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
    runs = tuple(entries.built(f"{path.stem}:{name}") for name in names if name.startswith("run_"))
    check = Request((path.name,), path.parent, Overrides({}, None, isolated=True), jobs=1)
    result, _ = confirm(ConfirmRequest(check, runs, wish, timeout=120), nursery=nursery)
    return result


def apart(path: Path, result: Result) -> tuple[Counter[Told], Counter[Told]]:
    """What a run says that it should not, and what it should and does not."""
    found = [finding for finding in result.findings if finding.severity > Severity.NOTE]
    told = Counter((f.place.line, f.code, state_of(f)) for f in found)
    expected = expected_of(path)
    missing = Counter({told: number for told, number in (expected - told).items() if told[2] != "refuted"})
    return told - expected, missing


def state_of(finding: Finding) -> str:
    assert finding.verdict is not None
    return finding.verdict.state.value


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_verdicts_are_as_expected(path: Path, nursery: Nursery) -> None:
    result = judged(path, nursery)
    shown = [f"{f.place.line} {f.code} {f.origin} {state_of(f)}: {f.verdict}" for f in result.findings]
    assert result.not_run == ""
    assert apart(path, result) == (Counter(), Counter()), "\n".join(shown)
