"""Each bug of the seeds is confirmed by a run on the simulated machine, and no repaired twin confirms anything."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from devlint.check import Request
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import Finding, Severity, VerdictState
from devlint.pipeline.result import Result
from devlint.runtime import entries
from devlint.runtime.entries import Entry
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Wish
from tests.fixture_expectations import FIXTURES, expectations_of, fixtures_of

SEEDS = fixtures_of("seeds")
BUGS = [path for path in SEEDS if expectations_of(path, path.read_text("utf-8")).expected]
OTHERS = [path for path in SEEDS if path not in BUGS]

MORE = {
    "04_parameters_on_two_cards_unmoved": ["unregistered_parts", "registered_parts"],
    "05_aliases_and_legacy_types": ["made_on_the_current_device", "made_on_the_second_device"],
    "07_device_spellings": ["refused_by_the_constructor", "device_by_number", "device_by_name_and_number"],
    "08_legal_crossings": ["still_on_the_cpu"],
    "10_pinned_memory": ["pinned_for_nobody", "pageable"],
    "11_device_helpers": ["apart"],
}
"""Entries of fixtures/entries/seeds.py besides a seed's own."""

NOT_CONFIRMED = {
    ("05_aliases_and_legacy_types", 25): "it did not run without an accelerator",  # the `with` around it failed first
}
"""Why the run cannot tell, by seed and line."""

CANNOT_RUN_ALONE = {"12_distributed_worker": "a launcher starts it"}


def entries_of(path: Path) -> tuple[Entry, ...]:
    module = f"seeds.{path.stem}"
    names = {node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}
    own = [entries.built(f"{module}:build")] if "build" in names else [entries.script(f"seeds/{path.name}")]
    return (*own, *(entries.built(f"entries.seeds:{name}") for name in MORE.get(path.stem, ())))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The seeds and their entries where they may write files."""
    copied = tmp_path_factory.mktemp("programs")
    for folder in ("seeds", "entries"):
        shutil.copytree(FIXTURES / folder, copied / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return copied


def confirmed_by_running(path: Path, cwd: Path, nursery: Nursery) -> Result:
    overrides = Overrides({"select": ["ALL"]}, None, isolated=True)
    check = Request((f"seeds/{path.name}",), cwd, overrides, jobs=1)
    result, runs = confirm(ConfirmRequest(check, entries_of(path), Wish("sim"), timeout=60), nursery=nursery)
    assert not [o for run in runs for o in run.observations if o.kind == "not-simulated"]
    return result


def state_of(finding: Finding) -> VerdictState:
    assert finding.verdict is not None
    return finding.verdict.state


@pytest.mark.parametrize("path", BUGS, ids=lambda path: path.stem)
def test_bug_is_confirmed_and_both_births_are_named(path: Path, programs: Path, nursery: Nursery) -> None:
    result = confirmed_by_running(path, programs, nursery)
    told = [
        f"{f.place.line} {f.code} {f.origin}: {state_of(f).value} {f.verdict.reason if f.verdict else ''}"
        for f in result.findings
    ]
    expected = expectations_of(path, path.read_text("utf-8")).expected
    of_expected = {(f.place.line, f.code): f for f in result.findings if (f.place.line, f.code) in expected}
    assert of_expected.keys() == expected, told
    assert [f for f in result.findings if f.origin == "runtime"] == [], told
    for (line, code), finding in of_expected.items():
        verdict = finding.verdict
        assert verdict is not None
        if (path.stem, line) in NOT_CONFIRMED:
            assert (verdict.state, verdict.reason) == (VerdictState.INCONCLUSIVE, NOT_CONFIRMED[path.stem, line])
            continue
        assert verdict.simulated or verdict.device == "cpu"
        assert verdict.state is VerdictState.CONFIRMED, told
        if len(verdict.operands) > 1:
            assert {operand.device for operand in verdict.operands} >= {"cpu"} or code in ("DEV401", "DEV301")
            assert all(operand.born for operand in verdict.operands), verdict.operands
    assert result.exit_code == int(any(code < "DEV7" for _, code in expected))


@pytest.mark.parametrize(
    "path", [path for path in OTHERS if path.stem not in CANNOT_RUN_ALONE], ids=lambda path: path.stem
)
def test_right_program_confirms_nothing(path: Path, programs: Path, nursery: Nursery) -> None:
    result = confirmed_by_running(path, programs, nursery)
    assert result.not_run == ""
    # The notes about cost are true of right programs too.
    errors = [f for f in result.findings if f.severity > Severity.NOTE]
    assert [f for f in errors if state_of(f) is VerdictState.CONFIRMED] == []
    assert result.exit_code == 0
