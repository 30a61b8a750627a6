"""Events that say where something happens: in which loops, beside what, and on which side of a test for a device."""

from __future__ import annotations

from devlint.placement.domain.events import Called, IndexedFromHost, LoopEntered, LoopLeft, Returned, UndecidedMismatch
from devlint.placement.syntax.nodes import code_of
from tests.placement.walked import events, events_of


def nesting(program: str) -> list[str]:
    """Calls and the loops around them, in order."""
    told = []
    for event in events(program):
        if isinstance(event, LoopEntered):
            told.append("(")
        elif isinstance(event, LoopLeft):
            told.append(")")
        elif isinstance(event, Called):
            told.append(event.name)
    return told


def test_a_call_in_an_inner_loop_is_told_inside_both() -> None:
    program = """
    def f(n):
        first()
        for i in items():
            while n:
                second()
        third()
    """
    assert nesting(program) == ["first", "items", "(", "(", "second", ")", ")", "third"]


def test_the_first_iterable_of_a_comprehension_is_read_once() -> None:
    assert nesting("def f(n): return [second(y) for x in first() for y in inner(x)]") == [
        "first", "(", "inner", "second", ")",
    ]  # fmt: skip


def test_an_early_exit_leaves_its_loop() -> None:
    program = """
    def f(n):
        for i in range(n):
            return first()
        second()
    """
    assert nesting(program) == ["range", "(", "first", ")", "second"]


STORED_DEVICE = """
class Net(nn.Module):
    def __init__(self, device: torch.device):
        super().__init__()
        self.device = device
        self.weight = nn.Parameter(torch.ones(3))
    def forward(self, x):
        {use}
"""


def uncertain(use: str) -> list[str]:
    return [code_of(event.node) for event in events_of(UndecidedMismatch, STORED_DEVICE.format(use=use))]


def test_a_tensor_of_a_stored_device_meets_a_parameter() -> None:
    assert uncertain("return self.weight + torch.zeros(3, device=self.device)") == [
        "self.weight + torch.zeros(3, device=self.device)"
    ]


def test_what_copies_across_devices_is_no_uncertain_meeting() -> None:
    assert uncertain("return self.weight.copy_(torch.zeros(3, device=self.device))") == []


def test_what_follows_the_module_meets_it_for_certain() -> None:
    assert uncertain("return self.weight + torch.zeros(3, device=x.device)") == []


def test_an_index_on_the_cpu_is_told() -> None:
    program = "def f(x: torch.Tensor): return x[torch.arange(3)], x[torch.arange(3, device=x.device)]"
    found = events_of(IndexedFromHost, program)
    assert [code_of(event.index.node) for event in found] == ["torch.arange(3)"]


def test_a_call_in_the_branch_of_the_cpu_says_so() -> None:
    program = """
    def f():
        if torch.cuda.is_available():
            first()
        else:
            second()
    """
    calls = {event.name: event.on_cpu for event in events_of(Called, program)}
    assert calls["second"]
    assert not calls["first"]


def test_a_return_behind_a_test_for_a_device_is_guarded() -> None:
    program = """
    def f(x: torch.Tensor):
        if x.is_cuda:
            return x
        return x + 1
    """
    assert next(event.guarded for event in events_of(Returned, program))
