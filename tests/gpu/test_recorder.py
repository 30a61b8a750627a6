"""What the recorder sees on CUDA: judge and device say the same, repaired runs go on, and silence costs no values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from devlint.runtime.observation import Observation
from devlint.runtime.real import RealMachine
from devlint.runtime.session import Session, observe


def record(step: Callable[[Session], Any], **options: Any) -> list[Observation]:
    found: list[Observation] = []
    with observe(RealMachine("cuda"), found.append, device="cuda:0", **options) as session:
        step(session)
    return found


def on(*size: int) -> Tensor:
    return torch.ones(size, device="cuda:0")


INDEX = [0, 1]
CLASHES: dict[str, Callable[[], Any]] = {
    "add": lambda: on(3) + torch.ones(3),
    "in place": lambda: on(3).add_(torch.ones(3)),
    "in place into the CPU": lambda: torch.ones(3).add_(on(3)),
    "0-dim as the target": lambda: torch.zeros(()).add_(on()),
    "matmul": lambda: on(2, 2) @ torch.ones(2, 2),
    "cat": lambda: torch.cat([on(2), torch.ones(2)]),
    "where": lambda: torch.where(on(2) > 0, on(2), torch.ones(2)),
    "linear": lambda: F.linear(on(2, 3), torch.ones(4, 3)),
    "embedding": lambda: F.embedding(torch.tensor(INDEX), on(4, 2)),
    "gather": lambda: on(2, 2).gather(0, torch.zeros(2, 2, dtype=torch.int64)),
    "loss": lambda: F.cross_entropy(on(2, 3), torch.tensor(INDEX)),
    "convolution": lambda: F.conv2d(on(1, 1, 3, 3), torch.ones(1, 1, 2, 2)),
    "normalisation": lambda: F.layer_norm(on(2, 3), (3,), torch.ones(3)),
    "mask": lambda: on(2).masked_fill(torch.tensor([True, False]), 0.0),
}
LEGAL: dict[str, Callable[[], Any]] = {
    "0-dim operand": lambda: on(3) * torch.tensor(2.0),
    "index on the CPU": lambda: on(3)[torch.tensor(INDEX)],
    "slice assignment": lambda: on(3).__setitem__(slice(0, 2), torch.ones(2)),
    "copy_": lambda: torch.ones(3).copy_(on(3)),
    "0-dim in where": lambda: torch.where(on(2) > 0, on(2), torch.tensor(0.0)),
}


@pytest.mark.parametrize("name", CLASHES)
def test_a_clash_is_told_by_judge_and_device_alike_and_brought_together(name: str) -> None:
    found = [o for o in record(lambda session: CLASHES[name]()) if o.kind in ("clash", "index")]
    assert [o.judged for o in found] == ["both"], found
    assert {operand.device for operand in found[0].operands} == {"cuda:0", "cpu"}
    assert all(operand.born for operand in found[0].operands)


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_legal_is_not_told(name: str) -> None:
    assert [o for o in record(lambda session: LEGAL[name]()) if o.kind in ("clash", "index")] == []


def test_without_repair_the_device_speaks_for_itself() -> None:
    with pytest.raises(RuntimeError, match="same device"):
        record(lambda session: CLASHES["add"](), repair=False)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.rnn = nn.LSTM(4, 4)
        self.table = torch.arange(4.0)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.rnn(self.lin(x)[None])[0][0]
        return out * self.table


def test_a_module_is_moved_trained_and_what_it_left_behind_is_told() -> None:
    def step(session: Session) -> None:
        net = session.lift(Net())
        optimizer = torch.optim.Adam(net.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            net(on(3, 4)).sum().backward()
            optimizer.step()
        assert session.reached_device

    found = record(step)
    assert {"left-behind", "clash"} <= {o.kind for o in found}
    (clash,) = [o for o in found if o.kind == "clash"]
    assert clash.operands[0].name == "self.table"


def test_recording_changes_no_value() -> None:
    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).cuda(), torch.randn(4, 8).cuda()
    plain = net(x)
    seen: list[Tensor] = []
    assert record(lambda session: seen.append(net(x))) == []
    assert torch.equal(plain, seen[0])


def test_numpy_discarded_moves_and_copies_read_too_early() -> None:
    def step(session: Session) -> None:
        x = torch.ones(4)
        x.cuda()
        on(2).add(1).numpy()
        on(1 << 20).cumsum(0).to("cpu", non_blocking=True).tolist()

    if not _has_numpy():
        pytest.skip("numpy is not installed")
    assert {"discarded-transfer", "host-only", "early-read"} <= {o.kind for o in record(step)}


def _has_numpy() -> bool:
    try:
        torch.ones(1).numpy()
    except RuntimeError:
        return False
    return True


def test_streams_that_do_not_wait() -> None:
    def step(wait: bool) -> Callable[[Session], None]:
        def run(session: Session) -> None:
            numbers = torch.empty(1 << 20, device="cuda").normal_()
            side = torch.cuda.Stream()
            if wait:
                side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                numbers.sum()
            torch.cuda.synchronize()

        return run

    assert [o.kind for o in record(step(wait=False))] == ["stream"]
    assert record(step(wait=True)) == []
