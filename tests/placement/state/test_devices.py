"""Events about devices that a module chooses, that arguments default to, and that nobody reads."""

from __future__ import annotations

import pytest

from devlint.placement.domain.events import Begun, Defaulted, DeviceNamed, GlobalRead, Moved, ParameterIgnored, Sink
from devlint.placement.syntax.nodes import code_of
from tests.placement.walked import events_of

CHOSEN = 'DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'


def test_device_of_the_module_is_read_by_the_definition_that_names_it() -> None:
    read = events_of(GlobalRead, CHOSEN + "def f(n):\n    return torch.zeros(n, device=DEVICE)\n")
    assert [(event.name, event.scope.qualname) for event in read] == [("DEVICE", "f")]


def test_local_name_hides_the_device_of_the_module() -> None:
    program = CHOSEN + "def f(x):\n    DEVICE = x.device\n    return torch.zeros(2, device=DEVICE)\n"
    assert not events_of(GlobalRead, program)


def test_default_argument_that_names_a_device_is_reported_where_it_stands() -> None:
    found = events_of(Defaulted, CHOSEN + "def f(n, device=DEVICE):\n    return torch.zeros(n, device=device)\n")
    assert [(event.parameter, event.scope.qualname) for event in found] == [("device", "")]


def test_definition_begins_with_what_its_parameters_hold() -> None:
    begun = events_of(Begun, "def f(x: torch.Tensor, device):\n    return x.to(device)\n")
    assert [(name, type(value).__name__) for name, value in begun[0].arguments] == [
        ("x", "Tensor"),
        ("device", "DeviceName"),
    ]


@pytest.mark.parametrize(
    ("body", "overwritten"),
    [("return torch.zeros(n)", ""), ('device = torch.device("cpu")\n    return torch.zeros(n, device=device)', "cpu")],
)
def test_device_parameter_that_is_never_read(body: str, overwritten: str) -> None:
    found = events_of(ParameterIgnored, f"def f(n, device):\n    {body}\n")
    assert len(found) == 1
    replaced = found[0].overwritten
    assert overwritten in (code_of(replaced) if replaced is not None else "")


def test_move_knows_the_conditions_it_stands_under() -> None:
    moved = events_of(Moved, "def f(x: torch.Tensor, y):\n    if x.is_cuda:\n        y = y.cuda()\n    return y\n")
    assert [(event.guarded, event.arms[0].guard.text) for event in moved] == [(True, "x.is_cuda")]


def test_rank_of_an_accelerator_object_is_no_question_about_devices() -> None:
    program = "def f(accelerator, y):\n    if accelerator.is_main_process:\n        y = y.cuda()\n    return y\n"
    assert [event.guarded for event in events_of(Moved, program)] == [False]


@pytest.mark.parametrize("call", ['torch.autocast("cuda")', 'torch.amp.GradScaler(device="cuda")'])
def test_type_of_device_is_named_to_what_works_for_one_type(call: str) -> None:
    named = events_of(DeviceNamed, f"def f():\n    return {call}\n")
    assert [(event.text, event.sink) for event in named] == [("cuda", Sink.DEVICE_TYPE)]


def test_current_device_set_to_an_unknown_one_is_no_longer_any() -> None:
    program = "def f(x: torch.Tensor):\n    with torch.cuda.device_of(x):\n        return x.cpu().cuda()\n"
    assert [getattr(event.target, "index", None) for event in events_of(Moved, program)] == [None, -1]
