"""Private functions: judged by the calls that the file shows."""

from __future__ import annotations

from textwrap import dedent

import pytest

from devlint.placement.domain.events import DeviceMismatch
from tests.placement.walked import clashes, events_of


@pytest.mark.parametrize("caller", ["torch.ones(3)", "torch.tensor(1.0)", "3", "None"])
def test_a_private_function_called_only_with_cpu_values_works_there(caller: str) -> None:
    program = f"""
    def _scaled(t: torch.Tensor):
        return t * torch.ones(3)

    def f():
        return _scaled({caller})
    """
    assert clashes(program) == []


@pytest.mark.parametrize(
    "other",
    [
        "def g(x: torch.Tensor):\n    return _scaled(x)",
        "def g(callbacks):\n    callbacks.append(_scaled)",
    ],
)
def test_a_private_function_that_others_may_call_is_judged(other: str) -> None:
    program = """
    def _scaled(t: torch.Tensor):
        return t * torch.ones(3)

    def f():
        return _scaled(torch.ones(3))
    """
    assert clashes(dedent(program) + other) == ["t * torch.ones(3)"]


def test_a_public_function_is_judged_whoever_calls_it_here() -> None:
    program = """
    def scaled(t: torch.Tensor):
        return t * torch.ones(3)

    def f():
        return scaled(torch.ones(3))
    """
    assert clashes(program) == ["t * torch.ones(3)"]


def test_a_nested_function_called_only_with_cpu_values_works_there() -> None:
    program = """
    def f():
        def scaled(t: torch.Tensor):
            return t * torch.ones(3)
        return scaled(torch.ones(3))
    """
    assert clashes(program) == []


def test_a_private_function_of_whose_arguments_no_call_tells_is_doubted() -> None:
    program = """
    import somewhere

    def _scaled(t: torch.Tensor):
        return t * torch.ones(3)

    def f():
        return _scaled(somewhere.fetch())
    """
    assert [clash.callers_on_cpu for clash in events_of(DeviceMismatch, dedent(program))] == [True]
    told = (
        program
        + """
    def g(x: torch.Tensor):
        return _scaled(x)
    """
    )
    assert [clash.callers_on_cpu for clash in events_of(DeviceMismatch, dedent(told))] == [False]


def test_a_method_of_whose_arguments_no_call_tells_is_not_doubted_unless_a_call_gives_a_cpu_tensor() -> None:
    program = """
    import somewhere

    class Curve:
        def area(self):
            return self._scaled(somewhere.fetch())

        def _scaled(self, t: torch.Tensor):
            return t * torch.ones(3)
    """
    assert [clash.callers_on_cpu for clash in events_of(DeviceMismatch, dedent(program))] == [False]
    on_the_cpu = (
        program
        + """
        def of_ones(self):
            return self._scaled(torch.ones(3))
    """
    )
    assert [clash.callers_on_cpu for clash in events_of(DeviceMismatch, dedent(on_the_cpu))] == [True]
