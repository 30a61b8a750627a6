"""Context managers and process-wide settings that decide where things are made."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Tensor
from devlint.placement.domain.events import DeviceNamed, Entered
from tests.placement.walked import clashes, device, events_of, stored


def test_a_device_context_makes_bare_creations_right() -> None:
    program = """
    def f(x: torch.Tensor):
        with torch.device(x.device):
            w = torch.ones(3)
        return x + w
    """
    assert clashes(program) == []


def test_a_device_context_ends_with_its_block() -> None:
    program = """
    def f():
        with torch.device("cuda"):
            with torch.device("mps"):
                a = torch.ones(3)
            b = torch.ones(3)
        c = torch.ones(3)
    """
    assert [device(program, name) for name in "abc"] == ["mps", "cuda", "cpu"]


def test_a_name_that_holds_a_device_is_a_context_too() -> None:
    program = """
    def f(device):
        with device:
            y = torch.ones(3)
    """
    assert device(program) == "`device`"


@pytest.mark.parametrize(
    ("imports", "context"),
    [
        ("from accelerate import init_empty_weights", "init_empty_weights()"),
        ("import accelerate", "accelerate.init_empty_weights()"),
        ("import deepspeed", "deepspeed.zero.Init()"),
        ("from torch._subclasses.fake_tensor import FakeTensorMode", "FakeTensorMode()"),
    ],
)
def test_contexts_that_allocate_nothing_leave_the_place_open(imports: str, context: str) -> None:
    program = f"{imports}\ndef f():\n    with {context}:\n        y = torch.ones(3)\n    z = torch.ones(3)\n"
    assert device(program) == "an unknown device"
    assert device(program, "z") == "cpu"


def test_other_contexts_change_nothing() -> None:
    program = """
    def f():
        with torch.no_grad(), torch.autocast("cuda"), open("a"):
            y = torch.ones(3)
    """
    assert device(program) == "cpu"
    assert len(events_of(Entered, program)) == 3


@pytest.mark.parametrize("setting", ["torch.cuda.set_device(1)", 'torch.cuda.set_device("cuda:1")'])
def test_the_current_device_is_what_a_bare_cuda_means(setting: str) -> None:
    program = f"""
    def f():
        {setting}
        y = torch.ones(3).cuda()
        z = torch.cuda.FloatTensor(3)
        w = torch.ones(3, device=torch.cuda.current_device())
        return y + torch.ones(3, device="cuda:1"), y + torch.ones(3, device="cuda:0")
    """
    assert [device(program, name) for name in "yzw"] == ["cuda:1"] * 3
    assert clashes(program) == ['y + torch.ones(3, device="cuda:0")']


def test_without_a_setting_the_current_device_is_unknown() -> None:
    program = """
    def f():
        y = torch.ones(3).cuda()
        return y + torch.ones(3, device="cuda:1")
    """
    assert clashes(program) == []


def test_a_device_that_is_set_by_a_value_leaves_the_index_open() -> None:
    program = """
    def f(rank):
        torch.cuda.set_device(1)
        torch.cuda.set_device(rank)
        y = torch.ones(3).cuda()
    """
    assert device(program) == "cuda"


def test_the_cuda_device_context_sets_the_current_index_inside() -> None:
    program = """
    def f(rank):
        with torch.cuda.device(1):
            a = torch.ones(3).cuda()
            w = torch.ones(3)
        b = torch.ones(3).cuda()
        with torch.cuda.device(rank):
            c = torch.ones(3).cuda()
        with torch.cuda.device():
            d = torch.ones(3).cuda()
    """
    assert [device(program, name) for name in "abcdw"] == ["cuda:1", "cuda", "cuda", "cuda", "cpu"]


def test_settings_without_an_argument_set_nothing() -> None:
    program = """
    torch.set_default_device()
    torch.set_default_tensor_type()
    torch.cuda.set_device()
    y = torch.ones(3)
    """
    assert device(program) == "cpu"


def test_a_default_device_of_the_module_holds_in_its_functions() -> None:
    program = """
    torch.set_default_device("cuda")

    def f():
        y = torch.ones(3)
    """
    assert device(program) == "cuda"


def test_a_default_device_inside_a_function_holds_from_there_on() -> None:
    program = """
    def f():
        a = torch.ones(3)
        torch.set_default_device("cuda")
        b = torch.ones(3)
    """
    assert [device(program, name) for name in "ab"] == ["an unknown device", "cuda"]


@pytest.mark.parametrize(
    ("spelled", "expected"),
    [
        ("'torch.cuda.FloatTensor'", "cuda"),
        ("torch.cuda.FloatTensor", "cuda"),
        ("torch.FloatTensor", "cpu"),
        ("unknown()", "an unknown device"),
    ],
)
def test_a_default_tensor_type_places_bare_creations(spelled: str, expected: str) -> None:
    program = f"torch.set_default_tensor_type({spelled})\ny = torch.ones(3)\n"
    assert device(program) == expected


def test_a_default_of_one_arm_is_a_choice() -> None:
    program = """
    def f(fast: bool):
        if fast:
            torch.set_default_device("cuda")
        else:
            torch.set_default_device("cpu")
        y = torch.ones(3)
    """
    assert device(program) == "cuda if fast else cpu"


def test_devices_named_by_settings_are_told() -> None:
    program = """
    def f():
        torch.cuda.set_device(0)
        with torch.cuda.device("cuda:1"):
            pass
        torch.set_default_device("cuda")
    """
    named = [(event.text, event.sink) for event in events_of(DeviceNamed, program)]
    assert named == [("0", "set_device()"), ("cuda:1", "device context"), ("cuda", "device context")]


def test_a_progress_bar_is_what_its_context_gives() -> None:
    program = """
    def f():
        with torch.device("cuda"):
            return torch.ones(3)
        y = torch.ones(3)
    """
    assert len(events_of(Entered, program)) == 1


def test_a_context_around_a_module_places_its_parameters() -> None:
    program = """
    def f(x: torch.Tensor):
        with torch.device("meta"):
            model = nn.Linear(3, 3)
        model = model.to_empty(device="cuda")
        y = model(torch.ones(3))
    """
    assert device(program, "model") == "cuda"
    assert clashes(program) == ["model(torch.ones(3))"]


def test_a_default_argument_that_names_a_device_is_told_once() -> None:
    program = """
    def f(x: torch.Tensor, device="cuda:1", size=3, target_device="cpu"):
        return x.to(device)
    """
    named = [(event.text, event.sink) for event in events_of(DeviceNamed, program)]
    assert ("cuda:1", "default argument") in named
    assert isinstance(stored("def f(n: int, device='cuda'):\n    y = torch.ones(n, device=device)\n", "y"), Tensor)
