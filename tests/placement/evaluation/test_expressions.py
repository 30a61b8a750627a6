"""Expressions, in the order in which Python evaluates them."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Constant, Container, DeviceName, Host, Tensor, Truth, UnknownValue
from devlint.placement.domain.events import Called, Created
from devlint.placement.domain.lattice import SOME_INDEX, Known
from devlint.placement.syntax.nodes import code_of
from tests.placement.walked import clashes, device, events_of, stored


def order(program: str) -> list[str]:
    """The first arguments of the calls ``step(n)``, as they are told."""
    return [code_of(event.call.node) for event in events_of(Called, program) if event.name == "step"]


@pytest.mark.parametrize(
    "expression",
    [
        "step(1) + step(2) * step(3)",
        "step(1)(step(2), *step(3), k=step(4))",
        "[step(1), step(2)], {step(3): step(4)}",
        "step(1)[step(2) : step(3), step(4)]",
        "step(1) < step(2) < step(3)",
        "(yield step(1)), (yield from step(2))",
        "f'{step(1)} and {step(2)}'",
        "(step(1), (a := step(2)), *step(3))",
        "-step(1) and ~step(2) or step(3)",
        "{**step(1), 'k': step(2)}",
    ],
)
def test_operands_are_evaluated_from_left_to_right(expression: str) -> None:
    calls = order(f"def f(step, g):\n    {expression}\n")
    steps = [call for call in calls if call.count("step") == 1]
    assert steps == [f"step({n})" for n in range(1, len(steps) + 1)]
    assert len(steps) >= 2


def test_the_condition_is_evaluated_before_the_arm() -> None:
    assert order("def f(step):\n    step(2) if step(1) else step(3)\n") == ["step(1)", "step(2)", "step(3)"]


@pytest.mark.parametrize(
    "comprehension",
    [
        "[step(4) for a in step(1) if step(2) for b in step(3)]",
        "{step(4) for a in step(1) if step(2) for b in step(3)}",
        "(step(4) for a in step(1) if step(2) for b in step(3))",
        "{step(4): step(5) for a in step(1) if step(2) for b in step(3)}",
    ],
)
def test_the_source_of_a_comprehension_is_evaluated_before_its_element(comprehension: str) -> None:
    calls = order(f"def f(step):\n    {comprehension}\n")
    assert calls == [f"step({n})" for n in range(1, len(calls) + 1)]


def test_a_walrus_binds_for_what_comes_after_it() -> None:
    program = """
    def f(x: torch.Tensor):
        if (w := torch.ones(3)) is not None:
            y = x + w
    """
    assert clashes(program) == ["x + w"]


def test_names_of_a_comprehension_do_not_leave_it() -> None:
    program = """
    def f(x: torch.Tensor):
        w = x
        parts = [w for w in [torch.ones(3)]]
        y = w
        z = parts[0]
    """
    assert device(program, "y") == "the device of `x`"
    assert device(program, "z") == "cpu"


def test_a_walrus_inside_a_comprehension_binds_outside_it() -> None:
    program = """
    def f(x: torch.Tensor):
        parts = [(last := torch.ones(3)) for _ in range(2)]
        y = last
    """
    assert device(program) == "cpu"


def test_a_dict_comprehension_holds_its_values() -> None:
    program = """
    def f(x: torch.Tensor):
        parts = {k: torch.ones(3) for k in "ab"}
        y = parts["a"]
    """
    assert device(program) == "cpu"


def test_a_conditional_expression_joins_its_arms() -> None:
    program = """
    def f(x: torch.Tensor, wide: bool):
        y = torch.ones(3) if wide else x
        z = torch.ones(3) if not wide else x
    """
    assert device(program, "y") == "cpu if wide else the device of `x`"
    assert device(program, "z") == "the device of `x` if wide else cpu"


def test_two_strings_in_the_arms_name_two_devices() -> None:
    program = """
    def f(fast: bool):
        name = "cuda" if fast else "cpu"
        y = torch.ones(3, device=name)
    """
    assert device(program) == "cuda if fast else cpu"


def test_a_probe_leaves_other_constants_alone() -> None:
    program = """
    workers = 4 if torch.cuda.is_available() else 0
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    """
    assert stored(program, "workers") == Constant(4)
    assert stored(program, "backend") == Constant("nccl")


def test_literals_are_constants() -> None:
    program = """
    a = 0x10
    b = 1_000.5
    c = "one" "two"
    d = 2j
    e = ...
    g = f"{1}-{'two'}"
    h = f"{a}" "b"
    i = f"{unknown}"
    """
    assert stored(program, "a") == Constant(16)
    assert stored(program, "b") == Constant(1000.5)
    assert stored(program, "c") == Constant("onetwo")
    assert stored(program, "d") == Host(number=True)
    assert stored(program, "e") == Host()
    assert stored(program, "g") == Constant("1-two")
    assert stored(program, "h") == Host()
    assert stored(program, "i") == Host()


def test_a_formatted_string_names_a_device_that_is_decided_elsewhere() -> None:
    program = """
    def f(rank):
        name = f"cuda:{rank}"
        y = torch.ones(3, device=name)
        fixed = f"cuda:{1}"
        z = torch.ones(3, device=fixed)
    """
    name = stored(program, "name")
    assert isinstance(name, DeviceName)
    assert name.device == Known("cuda", SOME_INDEX)
    assert device(program, "z") == "cuda:1"


def test_starred_and_unpacked_items_are_inside() -> None:
    program = """
    def f(x: torch.Tensor, *parts):
        a = [torch.ones(3), *[x]]
        b = {**{"k": x}, "w": torch.ones(3)}
        y = b["w"]
        c = {name(): torch.ones(3)}
        z = c["k"]
    """
    assert clashes("def f(x: torch.Tensor):\n    torch.cat([torch.ones(3), *[x]])\n")
    assert device(program) == "cpu"
    assert device(program, "z") == "cpu"


def test_slices_of_a_list_are_lists() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        parts = [torch.ones(3), torch.ones(4)]
        y = parts[1:]
        z = y[0]
        layers = nn.Sequential(nn.Linear(3, 3).cuda(), nn.Linear(3, 3).cuda())
        w = layers[:n]
    """
    assert isinstance(stored(program, "y"), Container)
    assert device(program, "z") == "cpu"
    assert type(stored(program, "w")).__name__ == "Module"


def test_a_lambda_is_walked_after_what_holds_it() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.ones(3)
        g = lambda z: x + w
        return g
    """
    assert clashes(program) == ["x + w"]


def test_a_lambda_inside_a_lambda_is_walked_too() -> None:
    program = """
    def f(x: torch.Tensor):
        return lambda: lambda: x + torch.ones(3)
    """
    assert clashes(program) == ["x + torch.ones(3)"]


def test_calling_a_lambda_gives_back_its_body() -> None:
    program = """
    def f(x: torch.Tensor):
        make = lambda t: t.exp()
        y = make(x)
    """
    assert device(program) == "the device of `x`"


def test_the_result_of_awaiting_is_anything() -> None:
    assert stored("async def f(x: torch.Tensor):\n    y = await x\n", "y") == UnknownValue()


def test_an_expression_of_a_template_string_is_anything() -> None:
    assert stored("def f(g):\n    y = (g for _ in g)\n", "y").__class__ is Container


def test_integer_subscripts_pick_items_of_literals() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        pair = (x, torch.ones(3))
        a = pair[0]
        b = pair[-1]
        c = pair[n]
        d = {"k": x}["k"]
    """
    assert device(program, "a") == "the device of `x`"
    assert device(program, "b") == "cpu"
    assert device(program, "c") == "an unknown device"
    assert device(program, "d") == "the device of `x`"


def test_a_call_in_the_index_of_something_unknown_is_evaluated() -> None:
    program = """
    def f(table: dict):
        table()[torch.ones(3)]
        {}[torch.ones(2) : torch.ones(1)]
    """
    assert len(events_of(Created, program)) == 3


def test_running_over_a_dict_gives_its_keys() -> None:
    program = """
    def f(x: torch.Tensor):
        for key in {"k": x}:
            a = key
        for key in dict():
            b = key
        for key in {k: x for k in x}:
            c = key
    """
    assert stored(program, "a") == Host()
    assert not isinstance(stored(program, "b"), Tensor)
    assert not isinstance(stored(program, "c"), Tensor)


@pytest.mark.parametrize(
    ("comparison", "told"),
    [
        ("x.relu() == [1, 2]", Truth),
        ("tuple(x.shape) != given", Truth),
        ("given == {}", Truth),
        ("x.relu() == 3", Tensor),
        ("x.relu() == given", Tensor),
        ("numpy.ones(3) == [1, 2, 3]", Host),
    ],
)
def test_a_tensor_is_equal_to_no_sequence(comparison: str, told: type) -> None:
    assert isinstance(stored(f"import numpy\ndef f(x, given):\n    y = {comparison}\n", "y"), told)
