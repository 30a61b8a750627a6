"""Conditions: the arm the analysed world takes, and what each arm knows."""

from __future__ import annotations

import pytest

from devlint.placement.domain import events
from devlint.placement.domain.abstract_values import Truth
from devlint.placement.domain.events import DeviceNamed
from tests.placement.walked import clashes, device, events_of, place, stored


@pytest.mark.parametrize(
    "probe",
    [
        "torch.cuda.is_available()",
        "torch.accelerator.is_available()",
        "torch.cuda.device_count() > 0",
        "torch.cuda.device_count() >= 1",
        "torch.cuda.device_count() != 0",
        "not torch.cuda.device_count() == 0",
        "not torch.cuda.device_count() < 1",
        "bool(torch.cuda.is_available())",
    ],
)
def test_the_world_analysed_has_an_accelerator(probe: str) -> None:
    program = f"""
    def f():
        if {probe}:
            y = torch.ones(3, device="cuda")
        else:
            y = torch.ones(3)
        z = y
    """
    assert device(program, "z") == "cuda"


def test_a_second_accelerator_is_anybodys_guess() -> None:
    program = """
    def f():
        y = torch.ones(3)
        if torch.cuda.device_count() > 1:
            y = y.to("cuda:1")
        z = y
    """
    assert device(program, "z") == "cuda:1 if torch.cuda.device_count() > 1 else cpu"


def test_the_first_true_probe_of_a_chain_is_taken() -> None:
    program = """
    def f():
        if torch.cuda.is_available():
            d = torch.device("cuda")
        elif torch.backends.mps.is_available():
            d = torch.device("mps")
        else:
            d = torch.device("cpu")
        y = torch.ones(3, device=d)
    """
    assert device(program) == "cuda"


def test_a_probe_picks_an_arm_of_a_conditional_expression() -> None:
    program = """
    d = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    y = torch.ones(3, device=d)
    """
    assert device(program) == "cuda"


def test_a_negated_probe_picks_the_other_arm() -> None:
    program = """
    d = "cpu" if not torch.cuda.is_available() else "cuda"
    y = torch.ones(3, device=d)
    """
    assert device(program) == "cuda"


def test_an_option_beside_a_probe_stays_open() -> None:
    program = """
    def f(no_cuda: bool):
        y = torch.ones(3)
        if torch.cuda.is_available() and not no_cuda:
            y = y.cuda()
        z = y
    """
    assert device(program, "z") == "cpu if no_cuda else cuda"


def test_an_or_with_a_probe_is_decided_by_it() -> None:
    program = """
    def f(force: bool):
        y = torch.ones(3)
        if torch.cuda.is_available() or force:
            y = y.cuda()
        z = y
    """
    assert device(program, "z") == "cuda"


def test_an_option_before_a_probe_stays_open_too() -> None:
    program = """
    def f(use: bool):
        y = torch.ones(3)
        if use and torch.cuda.is_available():
            y = y.cuda()
        z = y
    """
    assert device(program, "z") == "cuda if use else cpu"


def test_two_open_conditions_make_one_guard() -> None:
    program = """
    def f(a: bool, b: bool):
        y = torch.ones(3)
        if a and b:
            y = y.cuda()
        z = y
    """
    assert device(program, "z") == "cuda if a and b else cpu"


def test_the_side_that_is_never_reached_is_not_evaluated() -> None:
    program = """
    def f(x: torch.Tensor):
        if not torch.cuda.is_available() and (x + torch.ones(3)).any():
            pass
    """
    assert clashes(program) == []


def test_the_arm_for_the_cpu_is_walked_but_clashes_with_no_caller() -> None:
    program = """
    def f(x: torch.Tensor):
        if x.is_cuda:
            return x * torch.ones(3, device=x.device)
        return x * torch.ones(3)
    """
    assert clashes(program) == []


def test_a_clash_outside_the_arm_for_the_cpu_stands() -> None:
    program = """
    def f(x: torch.Tensor):
        if x.is_cuda:
            x = x * 2
        return x * torch.ones(3)
    """
    assert clashes(program) == ["x * torch.ones(3)"]


@pytest.mark.parametrize(
    ("test", "clash"),
    [
        ('x.device.type == "cpu"', False),
        ('x.device.type != "cuda"', False),
        ('x.device.type == "cuda"', True),
        ('x.device.type != "cpu"', True),
        ('x.device.type in ("cuda", "mps")', True),
        ("x.device == other.device", True),
    ],
)
def test_a_comparison_of_device_types_tells_the_arm_for_the_cpu(test: str, clash: bool) -> None:
    program = f"""
    def f(x: torch.Tensor, other: torch.Tensor):
        if {test}:
            return x * torch.ones(3)
        return x
    """
    assert bool(clashes(program)) is clash


def test_a_flag_named_for_the_accelerator_is_off_on_the_cpu() -> None:
    program = """
    def f(x: torch.Tensor, args):
        if args.use_cuda:
            return x
        return x * torch.ones(3)
    """
    assert clashes(program) == []


def test_a_flag_named_against_the_accelerator_decides_nothing() -> None:
    program = """
    def f(x: torch.Tensor, args):
        if args.no_cuda:
            return x
        return x * torch.ones(3)
    """
    assert clashes(program) == ["x * torch.ones(3)"]


def test_a_wide_condition_is_no_guard() -> None:
    wide = " and ".join(f"option_{number}" for number in range(30))
    program = f"""
    def f(y: torch.Tensor):
        y = torch.ones(3)
        if {wide}:
            y = y.cuda()
        z = y
    """
    assert device(program, "z") == "an unknown device"


def test_a_constant_condition_takes_its_arm() -> None:
    program = """
    def f():
        if 0:
            y = torch.ones(3, device="cuda")
        else:
            y = torch.ones(3)
        z = y
    """
    assert device(program, "z") == "cpu"


def test_an_unreachable_arm_returns_nothing() -> None:
    program = """
    def helper():
        if not torch.cuda.is_available():
            return torch.device("cpu")
        return torch.device("cuda")

    def f():
        y = torch.ones(3, device=helper())
    """
    assert device(program) == "cuda"


def test_what_is_tested_is_told() -> None:
    program = """
    def f(x: torch.Tensor):
        if torch.cuda.is_available:
            pass
        assert x.is_cuda
        while x.any():
            pass
    """
    tested = [event.value for event in events_of(events.Tested, program)]
    assert [type(value).__name__ for value in tested] == ["Reference", "Truth", "Tensor"]
    assert tested[1] == Truth(about_device=True)


def test_a_device_named_under_a_probe_is_guarded() -> None:
    program = """
    def f(model: nn.Module):
        model.to("cuda:1")
        if torch.cuda.is_available():
            model.to("cuda:0")
        model.to("cuda:0" if torch.cuda.is_available() else "cpu")
    """
    assert [event.guarded for event in events_of(DeviceNamed, program)] == [False, True, True]


def test_an_expression_whose_device_is_compared_keeps_its_place() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.ones(3)
        if w.device != x.device:
            w = w.to(x.device)
        return w + x
    """
    assert clashes(program) == []
    assert place(stored(program, "w")) == "the device of `x`"


def test_after_an_arm_that_leaves_only_the_other_world_is_left() -> None:
    program = """
    def f(x: torch.Tensor, wide: bool):
        if x.is_cuda:
            if wide:
                return x
            x = x * 2
        return x * torch.ones(3)
    """
    assert clashes(program) == ["x * torch.ones(3)"]


def test_a_program_that_gives_up_without_an_accelerator_is_guarded_from_there_on() -> None:
    program = """
    def f(model: nn.Module):
        if not torch.cuda.is_available():
            raise RuntimeError("no GPU")
        model.to("cuda:0")
    """
    assert [event.guarded for event in events_of(DeviceNamed, program)] == [True]


def test_a_probe_that_both_arms_leave_behind_guards_nothing() -> None:
    program = """
    def f(model: nn.Module):
        if torch.cuda.is_available():
            print("fast")
        model.to("cuda:0")
    """
    assert [event.guarded for event in events_of(DeviceNamed, program)] == [False]


def test_a_setting_or_the_cpu_is_a_choice_about_devices() -> None:
    program = """
    def f(x: torch.Tensor, far: bool):
        device = torch.device(settings.device) if far else torch.device("cpu")
        y = torch.ones(3, device=device)
        return x + y
    """
    assert clashes(program) == []
    assert device(program) == "`settings.device` if far else cpu"


def test_break_and_continue_outside_a_loop_end_the_path() -> None:
    program = """
    def f(x: torch.Tensor):
        if x.any():
            break
        else:
            continue
        x + torch.ones(3)
    """
    assert clashes(program) == []
