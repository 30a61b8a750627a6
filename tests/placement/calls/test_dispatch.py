"""Calls: what is called, and what comes back."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Reference, UnknownValue
from devlint.placement.domain.events import Called, Created
from tests.placement.walked import clashes, device, events_of, place, stored


def test_library_calls_are_told_under_their_qualified_names() -> None:
    program = """
    from torch import zeros as nothing
    import torch.nn.functional

    def f(x: torch.Tensor):
        nothing(3)
        F.relu(x)
        torch.nn.functional.relu(x)
        x.relu()
        print(x)
    """
    names = [event.name for event in events_of(Called, program)]
    assert names == ["torch.zeros", "torch.nn.functional.relu", "torch.nn.functional.relu", ".relu", "print"]


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import torch as t", "t.ones(3)"),
        ("from torch import ones", "ones(3)"),
        ("from torch import ones as o", "o(3)"),
        ("import torch", "torch.ones(3)"),
    ],
)
def test_aliases_of_imports_are_seen_through(imports: str, call: str) -> None:
    program = f"def f(x):\n    return x.exp() + {call}\n"
    assert clashes(program, imports + "\n") == [f"x.exp() + {call}"]


def test_a_parameter_shadows_an_import() -> None:
    program = """
    def f(x: torch.Tensor, torch):
        y = torch.ones(3)
    """
    assert device(program) != "cpu"


def test_a_callable_argument_works_where_its_arguments_are() -> None:
    program = """
    def f(x: torch.Tensor, model, other: torch.Tensor):
        y = model(x)
        z = model(x, other)
        w = model(x, torch.ones(3))
    """
    assert device(program, "y") == "the device of `x`"
    assert device(program, "z") == "the device of `x`"
    assert stored(program, "w") == UnknownValue()


def test_a_result_of_something_unknown_is_unknown() -> None:
    assert stored("def f(x: torch.Tensor):\n    y = unknown(x)\n", "y") == UnknownValue()


def test_star_arguments_may_hold_any_tensor() -> None:
    program = """
    def f(x: torch.Tensor, parts):
        torch.add(x, *parts)
        torch.cat((x, *[torch.ones(3)]))
        torch.add(**parts)
    """
    assert clashes(program) == ["torch.cat((x, *[torch.ones(3)]))"]


def test_keywords_bind_like_positions() -> None:
    program = """
    def f(x: torch.Tensor):
        torch.add(input=x, other=torch.ones(3))
        torch.add(other=torch.ones(3), input=x)
        torch.matmul(x, other=torch.ones(3))
    """
    assert len(clashes(program)) == 3


def test_tensors_given_one_by_one_stand_in_a_list_of_tensors() -> None:
    program = """
    def f(x: torch.Tensor):
        torch.cat([x, torch.ones(3)])
        torch.broadcast_tensors(x, torch.ones(3))
        torch.einsum("i,i->", x, torch.ones(3))
        torch.einsum("i,i->", *[x, torch.ones(3)])
    """
    assert len([clash for clash in clashes(program) if "cat" in clash or "einsum" in clash]) == 3


def test_functions_and_classes_called_through_names_of_other_files() -> None:
    program = """
    from .layers import Layer
    y = Layer
    """
    assert stored(program, "y") == Reference(".layers.Layer")


def test_calling_a_call_evaluates_both() -> None:
    program = """
    def f():
        unknown(torch.ones(1))(torch.ones(2))
        [torch.ones(3)][0](torch.ones(4))
    """
    assert len(events_of(Created, program)) == 4


def test_streams_and_instances_have_no_place_of_their_own() -> None:
    program = """
    class Box:
        def __init__(self):
            self.w = torch.ones(3)

        def get(self):
            return torch.ones(3)

    def f():
        box = Box()
        y = box.get()
        z = box.missing()
        g = box.w
    """
    assert device(program) == "cpu"
    assert stored(program, "z") == UnknownValue()
    assert place(stored(program, "box")) == "an unknown device"
