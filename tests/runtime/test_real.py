"""The real machine, as far as it can be seen without one: an accelerator module of the same shape, and the CPU."""

from __future__ import annotations

import copy
import traceback
from typing import Any

import pytest
import torch

from devlint.runtime.generators import birth_of
from devlint.runtime.judging import judge
from devlint.runtime.observation import Observation
from devlint.runtime.real import NoDevice, RealMachine
from devlint.runtime.sanitizer import report_to
from devlint.runtime.session import observe


class TwoDevices:
    """Answers as `torch.accelerator` does on a machine with two CUDA devices, the second one current."""

    def current_accelerator(self, check_available: bool = False) -> torch.device | None:
        return torch.device("cuda")

    def current_device_index(self) -> int:
        return 1

    def device_count(self) -> int:
        return 2


def test_devices_are_named_with_their_index() -> None:
    machine = RealMachine("cuda", TwoDevices())
    assert [str(machine.resolve(d)) for d in ("cuda", 0, "cuda:0", "cpu", torch.device("cuda"))] == [
        "cuda:1",
        "cuda:0",
        "cuda:0",
        "cpu",
        "cuda:1",
    ]


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("mps", "the accelerator of this machine is cuda, mps was asked for"),
        ("cuda:2", "cuda:2 was asked for, the last device of this machine is cuda:1"),
    ],
)
def test_a_device_that_is_not_there_is_refused_by_name(device: str, message: str) -> None:
    with pytest.raises(NoDevice, match=message):
        RealMachine(device, TwoDevices())


@pytest.mark.skipif(torch.accelerator.is_available(), reason="this machine has an accelerator")
def test_without_an_accelerator_the_machine_says_so() -> None:
    with pytest.raises(NoDevice, match="no accelerator is available to this process, cuda was asked for"):
        RealMachine("cuda")


def test_judge_and_device_have_each_their_word() -> None:
    machine = RealMachine("cuda", TwoDevices())
    places = {3: torch.device("cuda:0"), 2: torch.device("cpu")}

    def meeting(*shapes: int) -> Any:
        return judge(
            torch.ops.aten.add.Tensor, [torch.ones(3), torch.ones(2)], {}, lambda t: places[t.numel()] if shapes else 0
        )

    clash = meeting(1)
    assert clash.clash is not None
    assert machine.verdict(clash, refused=True) == "both"
    assert machine.verdict(clash, refused=False) == "disagree"


def test_where_the_device_takes_what_the_judge_would_not_the_device_is_right() -> None:
    class ByDim(RealMachine):
        def device_of(self, value: Any) -> torch.device:
            return torch.device("cuda:0" if value.dim() == 1 else "cpu")

    found: list[Observation] = []
    with observe(ByDim("cuda", TwoDevices()), found.append, device="cuda:0"):
        total = torch.ones(3) + torch.ones(1, 3)
    assert total.tolist() == [[2.0, 2.0, 2.0]]
    (disagreement,) = [each for each in found if each.operation == "aten.add.Tensor"]
    assert (disagreement.kind, disagreement.judged) == ("disagreement", "disagree")
    assert disagreement.message.endswith("yet the device took it")


def test_what_is_compiled_runs_eagerly_while_it_is_watched() -> None:
    asked: list[object] = []

    def backend(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Any:
        asked.append(graph)
        return graph.forward

    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    scripted = torch.jit.script(doubled)
    found: list[Observation] = []
    with observe(RealMachine("cpu"), found.append, device="cpu"):
        torch.compile(doubled, backend=backend)(torch.ones(2))
        scripted(torch.ones(2))
        assert not isinstance(torch.jit.script(doubled), torch.jit.ScriptFunction)
    assert (asked, found) == ([], [])
    assert isinstance(torch.jit.script(doubled), torch.jit.ScriptFunction)


def test_a_generator_knows_where_it_was_made() -> None:
    before = torch.Generator
    with observe(RealMachine("cpu"), lambda _: None, device="cpu"):
        made = torch.Generator(device="cpu").manual_seed(3)
        assert isinstance(made, torch.Generator)
        assert isinstance(torch.default_generator, torch.Generator)
        drawn = torch.rand(2, generator=made)
        assert copy.deepcopy(made).initial_seed() == 3
    born = birth_of(made)
    assert born is not None
    assert born[0].co_name == "test_a_generator_knows_where_it_was_made"
    assert torch.Generator is before
    assert torch.equal(drawn, torch.rand(2, generator=torch.Generator().manual_seed(3)))


def test_the_cpu_is_a_machine_too() -> None:
    found: list[Observation] = []
    with observe(RealMachine("cpu"), found.append, device="cpu") as session:
        net = session.lift(torch.nn.Linear(2, 2))
        net(torch.ones(1, 2)).sum().backward()
        assert session.reached_device
    assert found == []


def test_a_race_between_streams_is_told_once_with_both_accesses() -> None:
    sanitizer = pytest.importorskip("torch.cuda._sanitizer")
    found: list[Observation] = []
    handler = sanitizer.EventHandler()
    report_to(handler, found.append)
    handler._handle_stream_creation(1)
    handler._handle_memory_allocation(7)
    for stream in (0, 1, 1):
        errors = handler._handle_kernel_launch(stream, set(), {7}, set(), "aten::add_(Tensor self)", {7: ["self"]})
        assert errors == []
    (race,) = found
    assert race.kind == "stream"
    assert race.message == "stream 0x1 is writing to a tensor without waiting for stream 0x0, which was writing to it"
    assert race.spots[0].path == __file__
    assert race.operands[0].moved is not None
    assert race.operands[0].born is not None
    assert isinstance(traceback.extract_stack(), traceback.StackSummary)
