"""`devlint confirm` on CUDA: every seed with a bug confirmed, its repaired twins not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from devlint.finding import VerdictState
from devlint.runtime import entries
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Wish
from tests.gpu.outcomes import FIXTURES

pytestmark = pytest.mark.usefixtures("static_half")

BUGS = {
    "01_initial_hidden_state": "DEV101",
    "02_target_left_behind": "DEV208",
    "03_discarded_move": "DEV201",
    "09_side_stream": "DEV601",
}
TWINS = (
    "01_initial_hidden_state_repaired_given_device",
    "01_initial_hidden_state_repaired_moved",
    "01_initial_hidden_state_repaired_parameters",
    "02_target_left_behind_repaired",
    "03_discarded_move_repaired",
    "09_side_stream_repaired",
    "13_device_agnostic",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = tmp_path_factory.mktemp("programs")
    shutil.copytree(FIXTURES / "seeds", copied / "seeds", ignore=shutil.ignore_patterns("__pycache__"))
    return copied


def states(name: str, folder: Path, nursery: Nursery, *select: str) -> dict[str, set[VerdictState]]:
    """By code the verdicts of a run on CUDA, which must have come to its end there."""
    from devlint.check import Request
    from devlint.configuration.config import Overrides
    from devlint.confirm import ConfirmRequest, confirm

    check = Request((f"seeds/{name}.py",), folder, Overrides({"select": list(select)}, None, isolated=True), jobs=1)
    has_build = "def build" in (folder / "seeds" / f"{name}.py").read_text()
    entry = entries.built(f"seeds.{name}:build") if has_build else entries.script(f"seeds/{name}.py")
    result, runs = confirm(ConfirmRequest(check, (entry,), Wish("cuda"), timeout=300), nursery=nursery)
    assert not any(run.simulated for run in runs)
    assert result.not_run == ""
    found: dict[str, set[VerdictState]] = {}
    for finding in result.findings:
        if finding.verdict is not None:
            found.setdefault(finding.code, set()).add(finding.verdict.state)
    return found


@pytest.mark.parametrize(("name", "code"), BUGS.items())
def test_a_bug_is_confirmed(name: str, code: str, folder: Path, nursery: Nursery) -> None:
    assert states(name, folder, nursery, code) == {code: {VerdictState.CONFIRMED}}


@pytest.mark.parametrize("name", TWINS)
def test_a_right_program_confirms_nothing(name: str, folder: Path, nursery: Nursery) -> None:
    found = states(name, folder, nursery, "DEV1", "DEV2", "DEV4", "DEV5", "DEV6")
    assert all(VerdictState.CONFIRMED not in verdicts for verdicts in found.values()), found
