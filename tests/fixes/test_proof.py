"""A safe fix is proved: every fixture that has one is run before it and after it, on a simulated accelerator and on the
CPU. Before, its finding is confirmed; after, it is gone, and what the program computes is the same.

``fixtures/proofs/drivers.py`` says how each is run: all of them by one entry, in one process for each device.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from devlint.finding import Applicability
from tests.cli.conftest import environment
from tests.fixes.conftest import Known
from tests.fixes.fixing import FixedText, fix_text
from tests.fixture_expectations import FIXTURES, fixtures_of, name_in_family

FAMILIES = ("rules", "seeds", "idioms", "found", "lookalikes", "proofs")
DRIVERS = FIXTURES / "proofs" / "drivers.py"
DEVICES = ("cuda-0", "cuda-1", "cpu")

Results = dict[str, dict[str, Any]]
"""By case: its value, or its error."""

Site = tuple[str, str, str]
"""Fixture, definition and code of a safe fix."""

NOT_CONFIRMED: dict[Site, str] = {
    (
        "lookalikes/cpu_only_computation.py",
        "offset_affine",
        "DEV403",
    ): "a false alarm that is not shown: low confidence",
    **{
        ("rules/DEV101/made_like_an_argument.py", scope, "DEV101"): "nothing fails there: what it hands back is stray"
        for scope in ("frequencies", "gathered", "Codec.padding")
    },
    **{
        ("rules/DEV101/made_in_the_size_of_an_argument.py", scope, "DEV101"): "as with the dtype of an argument"
        for scope in ("zeros_for", "range_of", "grid_of", "Codebook.one_hot")
    },
    **{
        ("rules/DEV101/copied_parts.py", scope, "DEV101"): "as with the dtype of an argument"
        for scope in ("shifted", "_lengthened")
    },
    **{
        ("rules/DEV101/filled_in_one_arm.py", scope, "DEV101"): "as with the dtype of an argument"
        for scope in ("embedded", "spread")
    },
    **{
        (
            "rules/DEV101/written_by_masks.py",
            scope,
            "DEV101",
        ): "a mask of another device writes: what is handed back is stray"
        for scope in ("log_prob", "smoothed", "index_to_mask", "Sampler.chances")
    },
    ("rules/DEV101/samplers.py", "GreedySampler.log_prob", "DEV101"): "as what a mask writes",
    ("rules/DEV101/a_script.py", "handed_to_importers", "DEV101"): "nothing fails there: what it hands back is stray",
    ("rules/DEV205/there_and_back.py", "another_kind", "DEV205"): "only CUDA is simulated, and it says xpu",
    ("rules/DEV302/named.py", "another_accelerator", "DEV302"): "only CUDA is simulated, and it says xpu",
    ("rules/DEV101/read_by_numpy.py", "ranked", "DEV101"): "np.argsort refuses it elsewhere: low confidence",
    **{
        ("rules/DEV403/by_callers.py", "Matrix._filled", code): "what its caller gives is on the CPU: low confidence"
        for code in ("DEV101", "DEV403")
    },
    **{
        ("rules/DEV101/always_raises.py", scope, "DEV101"): "it raises on every device: low confidence"
        for scope in (
            "adds_a_list_to_a_number",
            "asks_a_number_for_an_item",
            "reduced_by_numpy",
            "leaves_one_out",
            "gives_one_too_many",
            "calls_what_raises",
            "builds_it",
            "Kept.shifted",
        )
    },
    ("rules/DEV101/private_classes.py", "_numbered", "DEV101"): "what its caller gives is on the CPU: low confidence",
    **{
        ("rules/DEV302/switches.py", f"Sampler.{name}", "DEV302"): "the arm runs for several GPUs only: low confidence"
        for name in ("step", "again")
    },
    (
        "rules/DEV403/compared_on_the_host.py",
        "Scored.measured",
        "DEV403",
    ): "the labels are on the CPU, or the comparison raises: low confidence",
    (
        "rules/DEV404/computed_else_given.py",
        "LengthsOfItsOwn.forward",
        "DEV404",
    ): "the caller's lengths may be on the CPU: low confidence",
}
"""Findings that a run does not confirm, and why."""

COST = "DEV701"
"""A tensor that is made and then moved is right, so a run has nothing to say of it; inside a Module's forward it is
seen as work on the CPU."""

TRANSFERS = "DEV203"
"""Its fix changes a result, and is there for that: the object instead of nothing."""


@dataclass(frozen=True)
class Proof:
    """One state of the fixtures: what devlint says of them, and what each case came to on each device."""

    findings: list[dict[str, Any]]
    entries: list[dict[str, Any]]
    results: dict[str, Results]

    def of(self, site: Site) -> list[dict[str, Any]]:
        return [f for f in self.findings if (f["path"], f["scope"], f["code"]) == site]


Fixes = dict[str, FixedText]
"""Every fixture that has safe fixes, with what becomes of it."""


def fixed(path: Path, known: Known) -> FixedText:
    text, name = path.read_text("utf-8"), name_in_family(path)
    return fix_text(text, name, unsafe=False, before=known.findings(text, name))


@pytest.fixture(scope="module")
def fixes(known: Known) -> Fixes:
    paths = [path for path in fixtures_of(*FAMILIES) if path != DRIVERS]
    found = {path.relative_to(FIXTURES).as_posix(): fixed(path, known) for path in paths}
    return {name: done for name, done in found.items() if done.applied}


def sites_of(fixes: Fixes) -> set[Site]:
    return {(name, finding.scope, finding.code) for name, done in fixes.items() for finding in done.applied}


@cache
def drivers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("proof_drivers", DRIVERS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(directory: Path, fixes: Fixes) -> Proof:
    """Confirm what stands in a directory, on two placements and on the CPU."""
    command = [sys.executable, "-m", "devlint", "confirm", "--isolated", "--output-format", "json"]
    command += ["--select", "ALL", "--min-confidence", "low", "--min-severity", "note"]
    command += ["--entry", "proofs.drivers:everything", "--device", "sim:0", "--placements", "first,second,cpu"]
    done = subprocess.run([*command, *fixes], cwd=directory, env=environment(), capture_output=True, check=False)
    assert done.stdout, done.stderr.decode()
    document = json.loads(done.stdout)
    results = {device: json.loads((directory / f"results-{device}.json").read_text("utf-8")) for device in DEVICES}
    return Proof(document["findings"], document["entries"], results)


def copied(directory: Path) -> Path:
    """The fixtures where they may be changed and may write files."""
    for family in FAMILIES:
        shutil.copytree(FIXTURES / family, directory / family, ignore=shutil.ignore_patterns("__pycache__"))
    return directory


def runnable() -> Iterator[tuple[str, str]]:
    """What is run here: the rest needs libraries that are not installed."""
    yield from ((fixture, name) for fixture, name, _ in drivers().cases())


def all_safe_fixes_are_driven(fixes: Fixes) -> None:
    assert all(
        finding.fix is not None and finding.fix.applicability is Applicability.SAFE
        for done in fixes.values()
        for finding in done.applied
    )
    driven = {(fixture, name) for fixture, calls in drivers().HERE.items() for name in calls}
    assert driven == {(fixture, scope) for fixture, scope, _ in sites_of(fixes)}
    assert NOT_CONFIRMED.keys() <= sites_of(fixes)


def test_each_safe_fix_is_proved(tmp_path: Path, fixes: Fixes) -> None:
    """One test, so that the fixtures are fixed and run once however the tests are spread over processes."""
    all_safe_fixes_are_driven(fixes)
    sites = sites_of(fixes)
    before = run(copied(tmp_path / "before"), fixes)
    repaired = copied(tmp_path / "after")
    for name, done in fixes.items():
        (repaired / name).write_text(done.text, "utf-8")
    after = run(repaired, fixes)
    for proof in (before, after):
        assert [entry["state"] for entry in proof.entries] == ["ran"] * len(DEVICES), proof.entries
    findings_are_confirmed(before, sites)
    assert [found for site in sites for found in after.of(site)] == []
    for device in DEVICES:
        results_are_the_same(device, sites, before.results[device], after.results[device])
    for device in ("cuda-0", "cuda-1"):
        assert {case: came for case, came in after.results[device].items() if "error" in came} == {}


def findings_are_confirmed(before: Proof, sites: set[Site]) -> None:
    here = set(runnable())
    told = {site: {f["verdict"]["state"] for f in before.of(site)} for site in sites if site[:2] in here}
    assert all(told.values()), [site for site, states in told.items() if not states]
    unconfirmed = {site for site, states in told.items() if states != {"confirmed"} and site[2] != COST}
    assert unconfirmed == {site for site in NOT_CONFIRMED if site[:2] in here}


def results_are_the_same(device: str, sites: set[Site], before: Results, after: Results) -> None:
    of_transfers = {site[:2] for site in sites if site[2] == TRANSFERS}
    assert before.keys() == after.keys()
    assert len(after) == len(set(runnable()))
    for case, was in before.items():
        now = after[case]
        if "error" in was:
            # What could not run at all may run now, or still need another device.
            assert "value" in now or now == was, (device, case)
        elif tuple(case.split("::")) in of_transfers:
            assert "value" in now, (device, case)
            assert None not in (now["value"], *(now["value"] if isinstance(now["value"], list) else ())[1:]), case
        else:
            assert now == was, (device, case)
