"""One observed run: what is recorded, and that the run goes on."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from devlint.runtime.observation import Observation, from_json, read_lines, to_json, write_line
from devlint.runtime.session import observe
from devlint.runtime.simulated import SimulatedMachine, simulate


class MaskInForward(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        mask = torch.zeros(3)
        return self.linear(x) + mask * 2


def run(step: Any, **options: Any) -> list[Observation]:
    found: list[Observation] = []
    with observe(SimulatedMachine(), found.append, device="cuda:0", **options) as session:
        step(session)
    return found


def test_clash_is_recorded_with_both_births_and_the_run_goes_on() -> None:
    reached = []

    def step(session: Any) -> None:
        net, x = session.lift(MaskInForward()), session.lift(torch.ones(2, 3))
        net(x).sum().backward()
        assert net.linear.weight.grad.device == torch.device("cuda:0")
        reached.append(session.reached_device)

    (clash,) = [o for o in run(step) if o.kind == "clash"]
    assert (clash.kind, clash.phase, clash.operation) == ("clash", "forward", "aten.add.Tensor")
    stray, other = clash.operands
    assert (stray.device, other.device) == ("cpu", "cuda:0")
    assert stray.born is not None
    assert stray.born.scope == "MaskInForward.forward"
    assert stray.made is not None
    assert stray.made.line == stray.born.line + 1
    assert other.moved is not None
    assert "found at least two devices, cuda:0 and cpu!" in clash.message
    assert reached == [True]


def test_without_repair_the_device_s_own_error_is_raised() -> None:
    found: list[Observation] = []
    with (
        pytest.raises(RuntimeError, match="at least two devices, cuda:0 and cpu"),
        observe(SimulatedMachine(), found.append, device="cuda:0", repair=False) as session,
    ):
        session.lift(MaskInForward())(torch.ones(2, 3).cuda())
    assert [o.kind for o in found if o.kind != "strayed"] == ["clash"]
    assert torch.zeros(1).device.type == "cpu"


def test_what_derives_from_a_repaired_value_is_marked() -> None:
    def step(session: Any) -> None:
        y = session.lift(MaskInForward())(session.lift(torch.ones(2, 3)))
        y.detach().numpy()

    assert [(o.kind, o.repaired) for o in run(step) if o.kind != "strayed"] == [("clash", False), ("host-only", True)]


def test_observations_survive_the_file_and_a_cut_last_line() -> None:
    found = run(lambda session: session.lift(MaskInForward())(session.lift(torch.ones(2, 3))))
    stream = io.StringIO()
    for observation in found:
        write_line(stream, to_json(observation))
    text = stream.getvalue() + '{"type": "observ'
    assert [from_json(row) for row in read_lines(text.splitlines())] == found


def test_simulations_do_not_nest() -> None:
    with simulate(), pytest.raises(RuntimeError, match="do not nest"), simulate():
        pass
