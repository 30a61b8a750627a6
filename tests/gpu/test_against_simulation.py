"""What ``devlint confirm`` says of a program does not depend on whether its accelerator is real or simulated."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.gpu.outcomes import FIXTURES

FAMILIES = {
    "proofs.drivers:everything": ("rules", "seeds", "idioms", "found", "lookalikes", "proofs"),
    "proofs.found:everything": ("found", "proofs"),
}
"""Entries that run many programs, and the directories of fixtures that those stand in."""

Told = tuple[str, int, str, str]
"""File, line, code, state."""


def told(entry: str, directory: Path, device: str) -> Counter[Told]:
    """Findings that are confirmed or refuted by a run where one device is there."""
    command = [sys.executable, "-m", "devlint", "confirm", "--isolated", "--output-format", "json", "--select", "ALL"]
    command += ["--entry", entry, "--device", device, "--placements", "first,cpu"]
    done = subprocess.run([*command, "."], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    assert {run["state"] for run in document["entries"]} == {"ran"}, document["entries"]
    return Counter(
        (finding["path"], finding["line"], finding["code"], finding["verdict"]["state"])
        for finding in document["findings"]
        if finding["verdict"] is not None and finding["verdict"]["state"] in ("confirmed", "refuted")
    )


@pytest.mark.parametrize("entry", FAMILIES)
def test_verdicts_are_those_of_the_simulated_machine(entry: str, tmp_path: Path) -> None:
    for needed in ("libcst", "click"):
        pytest.importorskip(needed, reason="the static half needs it")
    for family in FAMILIES[entry]:
        shutil.copytree(FIXTURES / family, tmp_path / family, ignore=shutil.ignore_patterns("__pycache__"))
    simulated, real = (told(entry, tmp_path, device) for device in ("sim", "cuda"))
    assert len(simulated) > 50
    assert (real - simulated, simulated - real) == (Counter(), Counter())
