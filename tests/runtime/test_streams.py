"""Streams and copies that do not wait, on the simulated machine: every function of the rules' fixtures, run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from devlint.runtime.observation import Observation
from devlint.runtime.recorder.ordering import DEFAULT, Ordering
from devlint.runtime.session import observe
from devlint.runtime.simulated import SimulatedMachine
from tests.fixture_expectations import FIXTURES, expectations_of

OF_RULE = {"DEV601": "stream", "DEV602": "early-read", "DEV705": "pageable-copy"}
FUNCTIONS = [
    (code, path, name)
    for code in OF_RULE
    for path in sorted((FIXTURES / "rules" / code).glob("*.py"))
    for name in (line[4:].partition("(")[0] for line in path.read_text("utf-8").splitlines() if line.startswith("def "))
]
LATER = {"from_elsewhere": "who calls it gives a tensor in pageable memory, and the rule does not speak of callers"}
THERE = {"_widest": "the finding speaks of those callers that have it on an accelerator"}

_ARGUMENTS: dict[str, Callable[[], Any]] = {
    "torch.Tensor": lambda: torch.ones(4),
    "torch.device": lambda: torch.device("cuda:0"),
    "torch.cuda.Stream": lambda: torch.cuda.Stream(),
    "np.ndarray": lambda: np.ones(4, dtype=np.float32),
    "list[float]": lambda: [1.0, 2.0],
    "list[int]": lambda: [1, 2],
    "int": lambda: 4,
}


def observed(function: Callable[..., Any]) -> list[Observation]:
    found: list[Observation] = []
    with observe(SimulatedMachine(), found.append, device="cuda:0"):
        annotations = [str(p.annotation) for p in inspect.signature(function).parameters.values()]
        given = [_ARGUMENTS.get(text, _ARGUMENTS["torch.Tensor"])() for text in annotations]
        function(*(value.cuda() if function.__name__ in THERE else value for value in given))
    return found


@pytest.mark.parametrize(("code", "path", "name"), FUNCTIONS, ids=lambda v: v.stem if isinstance(v, Path) else v)
def test_a_run_sees_what_the_rule_says(code: str, path: Path, name: str) -> None:
    text = path.read_text("utf-8")
    scope: dict[str, Any] = {"__name__": path.stem, "__annotations__": {}}
    exec(compile("from __future__ import annotations\n" + text.replace("\n", "", 1), str(path), "exec"), scope)
    function = scope[name]
    lines = range(function.__code__.co_firstlineno, function.__code__.co_firstlineno + _length(function))
    marked = {line for line, mark in expectations_of(path, text).expected if mark == code and line in lines}
    seen = [o for o in observed(function) if o.kind == OF_RULE[code]]
    if name in LATER:
        assert (len(seen), marked) == (1, set())
        return
    where = [o.operands[0].moved if code == "DEV602" else o.spots[0] for o in seen]
    assert sorted(spot.line for spot in where if spot is not None) == sorted(marked)
    assert all(o.operands[0].born for o in seen)


def _length(function: Any) -> int:
    lines = [line for _, _, line in function.__code__.co_lines() if line]
    return max(lines) - function.__code__.co_firstlineno + 1


def test_work_of_one_stream_is_in_order() -> None:
    order = Ordering()
    order.now = 5
    assert order.is_over_for(3, 3, 5)
    assert not order.is_over_for(3, DEFAULT, 5)
    assert not order.is_over_for_host(3, 5)


def test_waiting_is_passed_on() -> None:
    order = Ordering()
    order.now = 4
    order.stream_waits(1, order.recorded(DEFAULT))
    order.stream_waits(2, order.recorded(1))
    assert order.is_over_for(2, DEFAULT, 4)
    order.now = 5
    assert not order.is_over_for(2, DEFAULT, 5)
    order.host_waits(order.recorded(2))
    assert order.is_over_for_host(DEFAULT, 4)
    assert order.is_over_for(7, DEFAULT, 4)
    order.host_waits_for_all()
    assert order.is_over_for(7, 9, 5)


def test_what_a_blocking_copy_brings_is_there_for_every_stream() -> None:
    def step() -> None:
        x = torch.ones(4).cuda()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            x.sum()

    assert [o.kind for o in observed(step)] == []


def test_backward_is_ordered_by_the_engine() -> None:
    def step() -> None:
        w = torch.ones(4, device="cuda", requires_grad=True)
        torch.cuda.synchronize()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            loss = (w * w).exp().sum()
        loss.backward()

    assert [o for o in observed(step) if o.kind == "stream"] == []


def test_a_parameter_changed_in_place_on_another_stream() -> None:
    def step() -> None:
        w = torch.ones(4, device="cuda")
        torch.cuda.synchronize()
        w.add_(1)
        with torch.cuda.stream(torch.cuda.Stream()):
            w.sum()

    assert [o.kind for o in observed(step)] == ["stream"]


def on_the_second(function: Callable[..., Any]) -> list[Observation]:
    """A run on a device that is not the current one."""
    found: list[Observation] = []
    with observe(SimulatedMachine(), found.append, device="cuda:1"):
        function(torch.device("cuda:1"))
    return [o for o in found if o.kind in ("stream", "other-stream")]


def test_a_side_stream_of_the_current_device_serves_no_other() -> None:
    def step(device: torch.device) -> None:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            torch.ones(3).to(device, non_blocking=True)

    (seen,) = on_the_second(step)
    assert seen.kind == "other-stream"
    assert seen.operands[0].born is not None
    assert seen.operands[0].born.line == step.__code__.co_firstlineno + 1

    def told(device: torch.device) -> None:
        with torch.cuda.stream(torch.cuda.Stream(device)):
            torch.ones(3).to(device, non_blocking=True)

    assert on_the_second(told) == []


def test_a_wait_for_the_current_device_is_no_wait_for_another() -> None:
    def step(device: torch.device) -> None:
        x = torch.ones(3, device=device) * 2
        side = torch.cuda.Stream(device)
        side.wait_stream(torch.cuda.current_stream())
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            x.sum()

    assert [o.kind for o in on_the_second(step)] == ["other-stream", "stream"]


class Prefetcher:
    """Copies the next batch on a stream of its own while the current one is worked on."""

    def __init__(self, batches: list[Tensor]) -> None:
        self.batches = iter(batches)
        self.stream = torch.cuda.Stream()
        self.ahead: Tensor | None = None
        self.preload()

    def preload(self) -> None:
        batch = next(self.batches, None)
        with torch.cuda.stream(self.stream):
            self.ahead = None if batch is None else batch.pin_memory().cuda(non_blocking=True).sub_(0.5)

    def __iter__(self) -> Iterator[Tensor]:
        while self.ahead is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.ahead
            batch.record_stream(torch.cuda.current_stream())
            self.preload()
            yield batch


def prefetched() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 2)).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for batch in Prefetcher([torch.rand(4, 3) for _ in range(3)]):
        optimizer.zero_grad()
        net(batch).sum().backward()
        optimizer.step()


def offloaded() -> None:
    x, side, host = torch.rand(4, 4, device="cuda"), torch.cuda.Stream(), torch.empty(4, 4, pin_memory=True)
    for _ in range(3):
        y = x @ x
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            host.copy_(y, non_blocking=True)
            copied = side.record_event()
        y.record_stream(side)
        copied.synchronize()
        host.tolist()


def joined() -> None:
    first, second, here = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.current_stream()
    x = torch.rand(4, device="cuda")
    first.wait_stream(here)
    second.wait_stream(here)
    with torch.cuda.stream(first):
        u = x * 2
        done = first.record_event()
    second.wait_event(done)
    with torch.cuda.stream(second):
        u.add_(1)
    here.wait_stream(second)
    u.sum()


def trained_on_the_side() -> None:
    side, net = torch.cuda.Stream(), nn.Linear(3, 2).cuda()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        net(torch.rand(4, 3, device="cuda")).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    torch.optim.SGD(net.parameters(), lr=0.1).step()


@pytest.mark.parametrize("idiom", [prefetched, offloaded, joined, trained_on_the_side])
def test_idioms_that_wait_are_silent(idiom: Callable[[], None]) -> None:
    assert [o for o in observed(idiom) if o.kind in (*OF_RULE.values(), "other-stream")] == []
