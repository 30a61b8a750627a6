"""What ``devlint confirm`` says of a program does not depend on whether its accelerator is real or simulated."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Wish
from tests.gpu.outcomes import FIXTURES

pytestmark = pytest.mark.usefixtures("static_half")

FAMILIES = {
    "proofs.drivers:everything": ("rules", "seeds", "idioms", "found", "lookalikes", "proofs"),
    "proofs.found:everything": ("found", "proofs"),
}
"""Entries that run many programs, and the directories of fixtures that those stand in."""

TWO_CARDS = ("seeds/05_aliases_and_legacy_types.py", "on_several_accelerators")
"""Programs that name a second card, of which one with a single card has another thing to say."""

APART = {
    ("only_the_host", 40): "sizes that come of lengths which had been brought to the host are held to have been, too"
}
"""Where the real device is less sure than the simulated one, and why."""

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
    for family in FAMILIES[entry]:
        shutil.copytree(FIXTURES / family, tmp_path / family, ignore=shutil.ignore_patterns("__pycache__"))
    simulated, real = (told(entry, tmp_path, device) for device in ("sim", "cuda"))
    assert len(simulated) > 50
    differing = [told for told in (real - simulated) + (simulated - real) if not _wants_more_cards(told[0])]
    assert differing == []


@pytest.mark.parametrize("path", sorted((FIXTURES / "verdicts").glob("*.py")), ids=lambda path: path.stem)
def test_a_program_is_judged_as_its_comments_say(path: Path, nursery: Nursery) -> None:
    if _wants_more_cards(path.stem):
        pytest.skip("it names a second card")
    from tests.runtime.test_verdicts import apart, judged

    differing = [told for each in apart(path, judged(path, nursery, Wish("cuda"))) for told in each]
    assert [told for told in differing if (path.stem, told[0]) not in APART] == []


def _wants_more_cards(name: str) -> bool:
    return name in TWO_CARDS and torch.cuda.device_count() < 2
