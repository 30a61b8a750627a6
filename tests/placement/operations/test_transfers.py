"""Transfers of tensors, modules and things unknown."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Container, Instance, Kind, Module, Opaque, Tensor, UnknownValue
from devlint.placement.domain.events import DeviceNamed, Moved
from devlint.placement.domain.provenance import StepKind
from tests.placement.walked import clashes, device, events_of, place, stored

ARGUMENTS = "x: torch.Tensor, other: torch.Tensor, model: nn.Module, device, dtype, n: int, options"


def moved(call: str) -> Moved:
    return events_of(Moved, f"def f({ARGUMENTS}):\n    y = {call}\n")[-1]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("x.cpu()", "cpu"),
        ("x.cuda()", "cuda"),
        ("x.cuda(1)", "cuda:1"),
        ('x.cuda("cuda:1")', "cuda:1"),
        ("x.cuda(device=1)", "cuda:1"),
        ("x.cuda(None)", "cuda"),
        ("x.cuda(True)", "cuda"),
        ("x.mps()", "mps"),
        ('x.to("cuda")', "cuda"),
        ("x.to(1)", "cuda:1"),
        ("x.to(device)", "`device`"),
        ("x.to(device=device)", "`device`"),
        ("x.to(other)", "the device of `other`"),
        ("x.to(other=other)", "the device of `other`"),
        ("x.to(other.device, torch.long)", "the device of `other`"),
        ("x.to(torch.long, device)", "`device`"),
        ("x.to(model)", "an unknown device"),
        ("x.to(*options)", "an unknown device"),
        ("x.type_as(other)", "the device of `other`"),
        ('x.type("torch.cuda.FloatTensor")', "cuda"),
    ],
)
def test_a_transfer_goes_where_its_argument_says(call: str, expected: str) -> None:
    assert place(moved(call).result) == expected


@pytest.mark.parametrize(
    "call",
    ["x.to(torch.float16)", "x.to(dtype=dtype)", "x.to(dtype)", "x.to(None)", "x.to()", "x.type(torch.long)",
     "x.to(options.dtype)", "x.to(torch.float16, True)"],
)  # fmt: skip
def test_a_dtype_moves_nothing(call: str) -> None:
    event = moved(call)
    assert not event.moves
    assert place(event.result) == "the device of `x`"


def test_asking_for_the_type_is_no_transfer() -> None:
    assert events_of(Moved, "def f(x: torch.Tensor):\n    y = x.type()\n") == []


def test_pinning_leaves_the_tensor_on_the_host() -> None:
    value = stored("y = torch.ones(3).pin_memory()", "y")
    assert isinstance(value, Tensor)
    assert value.pinned
    assert place(value) == "cpu"


def test_the_way_of_a_tensor_tells_its_moves() -> None:
    value = stored("y = torch.ones(3).cuda().cpu()", "y")
    assert isinstance(value, Tensor)
    assert value.provenance is not None
    assert [step.kind for step in value.provenance] == [StepKind.MOVED, StepKind.MOVED, StepKind.MADE]
    assert value.provenance.first.name == "torch.ones"


def test_a_parameter_that_is_moved_is_no_parameter_any_more() -> None:
    value = stored('y = nn.Parameter(torch.ones(3)).to("cuda")', "y")
    assert isinstance(value, Tensor)
    assert value.kind is Kind.UNWRAPPED
    same = stored("y = nn.Parameter(torch.ones(3)).to(torch.float16)", "y")
    assert isinstance(same, Tensor)
    assert same.kind is Kind.PARAMETER


def test_a_discarded_transfer_is_remembered_on_what_stayed_behind() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.ones(3)
        w.to(x.device)
        return x + w
    """
    assert clashes(program) == ["x + w"]
    kept = stored(program.replace("return x + w", "kept = w"), "kept")
    assert isinstance(kept, Tensor)
    assert kept.provenance is not None
    assert kept.provenance.step.kind is StepKind.DISCARDED


def test_a_discarded_transfer_of_an_unnamed_place_is_only_told() -> None:
    program = """
    def f(parts):
        torch.ones(3).cuda()
    """
    assert [event.fate for event in events_of(Moved, program)] == ["discarded"]


def test_something_unknown_may_have_moved_in_place() -> None:
    program = """
    def f(batch):
        batch.to("cuda")
        y = batch
    """
    assert device(program) == "an unknown device"


def test_something_unknown_that_is_moved_stays_unmoved_under_its_name() -> None:
    program = """
    def f():
        batch = unknown()
        batch.to(device_of_mine)
        y = batch
        z = unknown().to("cuda")
        u = unknown().to(other())
    """
    assert stored(program, "y") == UnknownValue()
    assert isinstance(stored(program, "z"), Opaque)
    assert device(program, "z") == "cuda"
    assert stored(program, "u") == UnknownValue()


def test_a_module_moves_in_place_and_is_given_back() -> None:
    program = """
    def f(model: nn.Module, half):
        moved = model.to("cuda")
        same = model
        typed = model.to(torch.float16)
    """
    assert isinstance(stored(program, "moved"), Module)
    assert [device(program, name) for name in ("moved", "same", "typed")] == ["cuda"] * 3


def test_a_module_moved_in_the_cpus_branch_only_stays_where_it_was() -> None:
    program = """
    def f(use_cuda: bool):
        model = nn.Linear(3, 3)
        if not use_cuda:
            model.to("cpu")
            y = model
        z = model
    """
    assert device(program, "z") == "cpu"


def test_an_object_of_any_type_is_moved() -> None:
    program = """
    def f(batch):
        y = batch.to("cuda")
        z = batch.to(torch.float16)
        return y, z
    """
    assert device(program) == "cuda"
    assert device(program, "z") == "the device of `batch`"


def test_transfers_of_lists_and_instances_give_them_back() -> None:
    program = """
    class Box:
        pass

    def f():
        y = [torch.ones(3)].to("cuda")
        z = Box().to("cuda")
    """
    assert isinstance(stored(program, "y"), Container)
    assert isinstance(stored(program, "z"), Instance)
    assert [type(event.receiver).__name__ for event in events_of(Moved, program)] == ["Container", "Instance"]


def test_self_that_is_moved_is_still_self() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x):
            me = self.cuda()
            return me.w + x
    """
    assert clashes(program) == []


def test_an_item_left_behind_clashes_with_its_moved_sibling() -> None:
    program = """
    def train(model: nn.Module, loader, device):
        for x, y in loader:
            x = x.to(device)
            loss = F.cross_entropy(x, y)
    """
    assert clashes(program) == ["F.cross_entropy(x, y)"]
    assert clashes(program.replace("x = x.to(device)", "x, y = x.to(device), y.to(device)")) == []


def test_an_item_brought_to_the_cpu_says_nothing_of_its_siblings() -> None:
    program = """
    def train(loader):
        for x, y in loader:
            x = x.cpu()
            loss = F.cross_entropy(x, y)
    """
    assert clashes(program) == []


def test_names_given_to_a_transfer_are_told_where_they_are_spelled() -> None:
    program = """
    def f(x: torch.Tensor):
        name = "cuda:1"
        x.to(name)
        x.to(torch.device("cuda:0"))
        x.cuda(2)
    """
    assert [(event.text, event.sink) for event in events_of(DeviceNamed, program)] == [
        ("cuda:1", ".to()/.cuda()"),
        ("cuda:0", "torch.device(...)"),
        ("cuda:0", ".to()/.cuda()"),
        ("2", ".to()/.cuda()"),
    ]


def test_the_buffer_that_is_cast_is_a_plain_tensor() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", torch.ones(3))

        def forward(self, x):
            y = self.b.to(torch.float16)
            return y
    """
    value = stored(program, "y")
    assert isinstance(value, Tensor)
    assert value.kind is Kind.PLAIN
