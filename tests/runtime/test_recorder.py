"""What the recorder observes, kind by kind, on the simulated machine."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from devlint.runtime.observation import Observation
from devlint.runtime.session import Session, observe
from devlint.runtime.simulated import NotSimulated, SimulatedMachine


def record(step: Callable[[Session], Any], **options: Any) -> list[Observation]:
    found: list[Observation] = []
    with observe(SimulatedMachine(), found.append, device="cuda:0", **options) as session:
        step(session)
    return found


def only(kind: str, step: Callable[[Session], Any]) -> Observation:
    (found,) = [o for o in record(step) if o.kind == kind]
    return found


def kinds(step: Callable[[Session], Any]) -> list[str]:
    return [o.kind for o in record(step)]


def line_of(text: str) -> int:
    with open(__file__, encoding="utf-8") as source:
        return next(n for n, line in enumerate(source, 1) if text in line and "line_of" not in line)


def test_discarded_statement_is_seen_and_an_assigned_one_is_not() -> None:
    def step(session: Session) -> None:
        t = torch.ones(3)
        t.cuda()  # discarded here
        t = t.cuda()
        t += 1

    found = only("discarded-transfer", step)
    assert (found.detail, found.operation) == ("statement", "Tensor.cuda")
    assert found.spots[0].line == line_of("# discarded here")
    assert found.operands[0].name == "t"


def test_modes_of_torch_between_a_discarded_transfer_and_the_recorder() -> None:
    def step(session: Session) -> None:
        t = torch.ones(3)
        with torch.device("cpu"):
            t.cuda()  # discarded in a context
            t.cpu()  # and with nothing to do

    lost, kept = record(step)
    assert (lost.kind, lost.spots[0].line) == ("discarded-transfer", line_of("# discarded in a context"))
    assert (kept.kind, kept.spots[0].line) == ("stayed", line_of("# and with nothing to do"))


def test_a_moved_value_that_a_name_holds_and_nobody_reads() -> None:
    def step(session: Session) -> None:
        t = torch.ones(3)
        moved = t.to("cuda")  # never read
        del moved
        used = t.to("cuda")
        used.sum()

    found = only("discarded-transfer", step)
    assert (found.detail, found.spots[0].line) == ("unread", line_of("# never read"))


def test_a_module_moved_in_place_discards_nothing() -> None:
    def step(session: Session) -> None:
        nn.Linear(2, 2).cuda()
        torch.ones(2).cuda().sum()

    assert kinds(step) == []


def test_a_transfer_with_nothing_to_do_loses_nothing_and_is_told() -> None:
    def step(session: Session) -> None:
        t = torch.ones(2)
        t.cpu()  # stays here
        t = t.cpu()
        t.sum()

    found = only("stayed", step)
    assert (found.detail, found.spots[0].line) == ("statement", line_of("# stays here"))
    assert found.message == "the tensor was on cpu already"


class MovesByItself(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        super().to(*args, **kwargs)
        return self


def test_a_transfer_of_its_own_that_asks_modules_discards_nothing() -> None:
    assert kinds(lambda session: MovesByItself().to("cuda")) == []


def early_reads(read: Callable[[Tensor], object], wait: Callable[[Tensor], object] = lambda t: None) -> list[str]:
    def step(session: Session) -> None:
        scores = torch.ones(4, device="cuda")
        host = scores.to("cpu", non_blocking=True)  # queued
        wait(scores)
        read(host)

    return [o.operation for o in record(step) if o.kind == "early-read"]


def test_a_copy_that_is_read_before_anything_waits_for_it() -> None:
    def step(session: Session) -> None:
        host = torch.ones(4, device="cuda").to("cpu", non_blocking=True)  # copied early
        host.numpy()  # read early
        host.numpy()

    found = only("early-read", step)
    assert found.spots[0].line == line_of("# read early")
    assert found.operands[0].moved is not None
    assert found.operands[0].moved.line == line_of("# copied early")


WAYS_TO_READ: dict[str, Callable[[Tensor], object]] = {
    "tolist": Tensor.tolist,
    "item": lambda t: t[0].item(),
    "repr": repr,
    "bool": lambda t: bool(t[0]),
    "operation": lambda t: t + 1,
    "through views": lambda t: t[1:].view(3).detach().numpy(),
    "a function of numpy": np.median,
}


@pytest.mark.parametrize("way", WAYS_TO_READ)
def test_ways_to_read_on_the_host(way: str) -> None:
    assert len(early_reads(WAYS_TO_READ[way])) == 1


def test_a_copy_into_memory_that_was_there() -> None:
    def step(pinned: bool) -> Callable[[Session], None]:
        def into(session: Session) -> None:
            host = torch.empty(4, pin_memory=pinned)
            host.copy_(torch.ones(4, device="cuda"), non_blocking=True)
            host.sum()

        return into

    assert only("early-read", step(True)).operation == "sum"
    assert kinds(step(False)) == []  # into pageable memory CUDA copies before it returns


@pytest.mark.parametrize(
    "wait",
    [
        lambda t: torch.cuda.synchronize(),
        lambda t: torch.cuda.current_stream().synchronize(),
        lambda t: torch.cuda.current_stream().record_event().synchronize(),
        lambda t: torch.accelerator.synchronize(),
        lambda t: t.sum().item(),
        lambda t: t.cpu(),
    ],
    ids=["device", "stream", "event", "accelerator", "item", "another copy"],
)
def test_what_waits_for_a_copy(wait: Callable[[Tensor], object]) -> None:
    assert early_reads(Tensor.numpy, wait) == []
    assert early_reads(Tensor.numpy) == ["Tensor.numpy"]


def test_a_copy_that_goes_on_to_the_device_is_not_read() -> None:
    assert early_reads(lambda host: host.to("cuda", non_blocking=True).sum()) == []
    assert early_reads(lambda host: host[1:]) == []


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.table = torch.arange(4.0).reshape(2, 2)
        self.steps = [torch.zeros(2)]
        self.heads = [nn.Linear(2, 2)]
        self.device = torch.device("cpu")

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + self.table


def test_what_a_moved_module_leaves_behind() -> None:
    found = [o for o in record(lambda s: s.lift(Table())) if o.kind in ("left-behind", "stale-device")]
    assert {(o.kind, o.detail, o.operands[0].name) for o in found} == {
        ("left-behind", "tensor", "self.table"),
        ("left-behind", "tensor", "self.steps[0]"),
        ("left-behind", "module", "self.heads[0]"),
        ("stale-device", "self.device=cpu", "self.device"),
    }
    table = next(o for o in found if o.operands[0].name == "self.table")
    assert table.operands[0].born is not None
    assert table.operands[0].born.scope == "Table.__init__"


def test_a_clash_names_the_attribute_and_its_birth() -> None:
    def step(session: Session) -> None:
        session.lift(Table())(session.lift(torch.ones(2, 2)))

    stray = only("clash", step).operands[0]
    assert stray.name == "self.table"
    assert stray.born is not None
    assert stray.born.line == line_of("self.table = torch.arange")


@pytest.mark.parametrize(
    ("made", "of_the_call"),
    [
        (lambda here, there: F.one_hot(here.long(), 4), False),
        (lambda here, there: torch.where(here > 0, here, -1.0), False),
        (lambda here, there: nn.utils.rnn.pad_sequence([here, here[:2]]), False),
        (lambda here, there: torch.zeros_like(here), False),
        (lambda here, there: torch.full((3,), here[0]), True),
        (lambda here, there: torch.tensor([here[0], here[1]]), True),
        (lambda here, there: torch.rand(3, device=here.device), False),
        (lambda here, there: torch.tensor([float(here[0])], device=here.device), False),
        (lambda here, there: torch.zeros_like(there, device=here.device), False),
        (lambda here, there: torch.rand(3, device=torch.device("cpu")), True),
        (lambda here, there: torch.zeros_like(there, device="cpu"), True),
        (lambda here, there: there.new_zeros(3, device="cpu"), True),
    ],
    ids=[
        "one_hot",
        "where",
        "pad_sequence",
        "zeros_like",
        "full",
        "tensor",
        "beside",
        "of a number beside",
        "zeros_like beside",
        "on the CPU",
        "zeros_like elsewhere",
        "new elsewhere",
    ],
)
def test_where_a_result_on_the_cpu_comes_from(made: Callable[[Tensor, Tensor], Tensor], of_the_call: bool) -> None:
    """Of its operands, also where torch makes a tensor for itself, or of the value whose device it is given; of the
    call, if that said where it goes."""

    def step(session: Session) -> None:
        here = torch.zeros(3)  # the operand on the CPU
        there = torch.zeros(3).to("cuda")
        away = made(here, there)
        there.sum(0, keepdim=True) + away.sum(-1, keepdim=True).view(-1).repeat(1)

    births = [spot.line for spot in only("clash", step).operands[0].births]
    assert (line_of("# the operand on the CPU") in births) is not of_the_call
    assert len(births) == 1


def test_a_parameter_lost_to_a_transfer() -> None:
    class Lost(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(2)).cuda()  # lost here
            self.kept = nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor) -> Tensor:
            kept = self.kept.to(x.device)
            return self.w * x + kept

    def step(session: Session) -> None:
        Lost()(torch.ones(2).cuda())

    assert only("lost-parameter", step).spots[0].line == line_of("# lost here")


def test_numpy_and_host_arguments_are_repaired_by_reading_on_the_host() -> None:
    read: list[Any] = []

    def step(session: Session) -> None:
        c = session.lift(torch.arange(1.0, 3.0))
        read.append(c.numpy())
        read.append(np.asarray(c))
        lengths = session.lift(torch.tensor([2, 1]))
        nn.utils.rnn.pack_padded_sequence(session.lift(torch.ones(2, 2, 1)), lengths)
        torch.tensor_split(c, session.lift(torch.tensor([1])))

    found = [o for o in record(step) if o.kind == "host-only"]
    assert [o.operation for o in found] == [
        "Tensor.numpy",
        "Tensor.__array__",
        "aten._pack_padded_sequence",
        "torch.tensor_split",
    ]
    assert [list(a) for a in read] == [[1.0, 2.0]] * 2


def test_index_generator_and_load() -> None:
    stream = io.BytesIO()
    first: list[Observation] = []
    with observe(SimulatedMachine(2), first.append, device="cuda:1") as session:
        torch.save(session.lift(torch.ones(2)), stream)
    stream.seek(0)

    def step(session: Session) -> None:
        h, i = torch.ones(3), session.lift(torch.tensor([0, 1]))
        assert h[i].shape == (2,)
        c = session.lift(torch.ones(3))
        c[torch.tensor([0, 1])] = torch.zeros(2)
        c.normal_(generator=torch.Generator())  # made and drawn from

    found = record(step)
    assert [o.kind for o in found] == ["index", "clash", "generator"]
    assert [o.name for o in found[0].operands] == ["i", "h"]
    (drawn_from,) = (operand for operand in found[2].operands if operand.device == "cpu")
    assert drawn_from.born is not None
    assert drawn_from.born.line == line_of("# made and drawn from")
    loaded: list[Any] = []
    seen: list[Observation] = []
    with observe(SimulatedMachine(1), seen.append, device="cuda:0"):
        loaded.append(torch.load(stream))
        assert loaded[0].device == torch.device("cuda:0")
    assert [o.kind for o in seen] == ["load"]


def test_work_that_strays_to_the_cpu_inside_forward() -> None:
    class Strays(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            self.linear(x)
            pair = torch.ones(2, 2)
            return pair * 2

    def step(session: Session) -> None:
        session.lift(Strays())(session.lift(torch.ones(2, 2)))
        torch.ones(2) * 2

    found = [o for o in record(step) if o.kind == "strayed"]
    assert [o.detail for o in found] == ["factory", "compute", "output"]
    assert all(o.operands[0].born is not None for o in found)


def test_copies_and_waits_are_counted() -> None:
    class Copies(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.scale = torch.ones(2)

        def forward(self, x: Tensor) -> Tensor:
            scale = self.scale.to(x.device)
            if x.sum() > 100:
                return x
            return self.linear(x) * scale

    def step(session: Session) -> None:
        net = session.lift(Copies())
        for _ in range(3):
            batch = torch.ones(2, 2).to("cuda")
            net(batch).sum().item()

    found = record(step)
    assert [(o.kind, o.detail) for o in found if o.kind in ("copy-per-step", "host-sync")] == [
        ("copy-per-step", "3"),
        ("host-sync", "3"),
        ("host-sync", "3"),
    ]


class WrongInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * torch.full((3,), 2.0)


def test_phases() -> None:
    def step(session: Session) -> None:
        x = session.lift(torch.ones(3)).requires_grad_()
        WrongInBackward.apply(x).sum().backward()
        assert x.grad is not None
        assert x.grad.device == torch.device("cuda:0")
        net = nn.Linear(3, 1)
        optimizer = torch.optim.Adam(net.parameters(), foreach=False)
        net(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        session.lift(net)
        net(session.lift(torch.ones(1, 3))).sum().backward()
        optimizer.step()

    found = [o for o in record(step) if o.kind == "clash"]
    assert {o.phase for o in found} == {"backward", "optimizer"}
    assert found[0].spots[0].scope == "WrongInBackward.backward"


def test_repair_keeps_gradients_where_their_leaves_are() -> None:
    def step(session: Session) -> None:
        net = nn.Linear(3, 2)
        loss = F.cross_entropy(net(session.lift(torch.ones(2, 3))), torch.tensor([0, 1]))
        loss.backward()
        assert net.weight.grad is not None
        assert net.weight.grad.device.type == "cpu"
        assert loss.device == torch.device("cuda:0")

    found = [o for o in record(step) if o.kind != "brought-over"]
    assert [o.kind for o in found] == ["clash", "clash", "clash"][: len(found)]
    assert [o.repaired for o in found][-1] is True


def test_in_place_into_a_cpu_tensor_is_repaired_at_the_other_side() -> None:
    def step(session: Session) -> None:
        loss = torch.tensor(0.0)
        loss += session.lift(torch.ones(())) * 2
        assert loss.item() == 2.0

    (found,) = [o for o in record(step) if o.kind == "clash"]
    assert found.operands[0].name == "loss"


def test_threads_are_recorded_too() -> None:
    def step(session: Session) -> None:
        c = session.lift(torch.ones(2))
        thread = threading.Thread(target=lambda: c + torch.ones(2))
        thread.start()
        thread.join()

    assert kinds(step) == ["clash"]


def test_what_leaves_the_program_becomes_an_observation() -> None:
    def told(step: Callable[[], Any], **options: Any) -> Observation | None:
        found: list[Observation] = []
        with observe(SimulatedMachine(), found.append, device="cuda:0", **options) as session:
            try:
                step()
            except (RuntimeError, AttributeError, ValueError) as error:
                return session.failed(error)
        raise AssertionError

    attribute = told(lambda: [torch.ones(1)].to("cuda"))  # type: ignore[attr-defined]
    assert attribute is not None
    assert (attribute.kind, attribute.detail) == ("attribute", "list.to")
    graph = told(lambda: torch.cuda.CUDAGraph())
    assert graph is not None
    assert (graph.kind, graph.detail) == ("not-simulated", "torch.cuda.CUDAGraph")
    other = told(lambda: int("x"))
    assert other is not None
    assert (other.kind, other.detail, other.spots[0].path) == ("error", "ValueError", __file__)
    assert told(lambda: torch.ones(2).cuda() + torch.ones(2), repair=False) is None
    assert issubclass(NotSimulated, NotImplementedError)


def test_a_healthy_training_step_is_silent() -> None:
    def step(session: Session) -> None:
        net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)).to(session.device)
        optimizer = torch.optim.AdamW(net.parameters())
        for _ in range(2):
            x, y = torch.randn(3, 4).to(session.device), torch.tensor([0, 1, 0], device=session.device)
            optimizer.zero_grad()
            F.cross_entropy(net(x), y).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()

    assert record(step) == []


def test_one_cause_met_often_is_one_observation() -> None:
    def step(session: Session) -> None:
        c, h = session.lift(torch.ones(2, 2)), torch.zeros(2, 2)
        for _ in range(3):
            torch.cat([c, h])

    assert kinds(step) == ["clash"]


def test_a_device_name_torch_refuses() -> None:
    def step(session: Session) -> None:
        with pytest.raises(RuntimeError):
            torch.ones(1).to("gpu")
        with pytest.raises(RuntimeError):
            torch.ones(1).to("cuda:9")

    assert kinds(step) == ["invalid-device", "invalid-device"]


def test_what_numpy_reads_is_told_at_each_call_of_it() -> None:
    def step(_: Session) -> None:
        x = torch.ones(2, 3, device="cuda")
        np.argmax(x, axis=-1)
        np.argmax(x + 1, axis=-1)
        for _row in range(2):
            np.argmax(x + 2, axis=-1)

    told = [each.spots[0] for each in record(step, repair=True) if each.kind == "host-only"]
    assert [spot.path for spot in told] == [__file__] * 3
    assert len({spot.line for spot in told}) == 3
