"""Programs with a device bug fail on CUDA as predicted, their repaired twins pass; confirm says so of them."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from devlint.check import Request
from devlint.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import VerdictState
from devlint.runtime import entries
from devlint.runtime.nursery import Nursery
from devlint.runtime.observation import Observation
from devlint.runtime.placements import Wish
from devlint.runtime.real import RealMachine
from devlint.runtime.session import observe
from devlint.semantics import classify
from tests.fixture_expectations import FIXTURES

BUG = "01_initial_hidden_state"
FOR_TWO = "04_parameters_on_two_cards"
TWINS = (
    "01_initial_hidden_state_repaired_given_device",
    "01_initial_hidden_state_repaired_moved",
    "01_initial_hidden_state_repaired_parameters",
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = tmp_path_factory.mktemp("programs")
    shutil.copytree(FIXTURES / "seeds", copied / "seeds", ignore=shutil.ignore_patterns("__pycache__"))
    return copied


def ran_on_cuda(name: str) -> None:
    """The seed's model and inputs on the first CUDA device, forward."""
    scope: dict[str, object] = {"__name__": name}
    exec(compile((FIXTURES / "seeds" / f"{name}.py").read_text("utf-8"), name, "exec"), scope)
    build = scope["build"]
    assert inspect.isfunction(build)
    model, inputs = build(torch.device("cuda")) if inspect.signature(build).parameters else build()
    model.cuda()(*(x.cuda() for x in inputs))
    torch.cuda.synchronize()


def test_a_program_with_the_bug_fails_as_predicted() -> None:
    with pytest.raises(RuntimeError) as raised:
        ran_on_cuda(BUG)
    kind = classify(str(raised.value))
    assert kind is not None
    assert kind.category == "device_mismatch"


def test_a_second_card_that_is_not_there_fails_as_predicted() -> None:
    if torch.cuda.device_count() > 1:
        pytest.skip("this machine has the second card")
    with pytest.raises((RuntimeError, AssertionError)) as raised:
        ran_on_cuda(FOR_TWO)
    kind = classify(str(raised.value))
    assert kind is not None
    assert kind.kind in ("invalid_ordinal", "invalid_device_id")


@pytest.mark.parametrize("name", TWINS)
def test_the_repaired_twin_passes(name: str) -> None:
    ran_on_cuda(name)


@pytest.mark.parametrize(("name", "state"), [(BUG, VerdictState.CONFIRMED), *((twin, None) for twin in TWINS)])
def test_a_run_on_cuda_gives_the_verdict(
    name: str, state: VerdictState | None, programs: Path, nursery: Nursery
) -> None:
    check = Request((f"seeds/{name}.py",), programs, Overrides({"select": ["DEV101"]}, None, isolated=True), jobs=1)
    entry = entries.built(f"seeds.{name}:build")
    result, _ = confirm(ConfirmRequest(check, (entry,), Wish("cuda"), timeout=300), nursery=nursery)
    states = {f.verdict.state for f in result.findings if f.verdict is not None}
    assert states == (set() if state is None else {state})


def test_a_clash_on_cuda_is_recorded_by_judge_and_device_alike() -> None:
    seen: list[Observation] = []
    with observe(RealMachine("cuda"), seen.append, device="cuda:0") as session:
        net = session.lift(nn.Linear(3, 3))
        net(torch.zeros(2, 3, device="cuda:0")) + torch.zeros(3)
    clashes = [o for o in seen if o.kind == "clash"]
    assert [o.judged for o in clashes] == ["both"]
    assert {s.device for s in clashes[0].operands} == {"cuda:0", "cpu"}
