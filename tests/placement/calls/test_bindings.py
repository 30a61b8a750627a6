"""Bindings: names, attributes, items, unpacking."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import UnknownValue
from devlint.placement.domain.events import Created, Fate, Moved, Stored
from devlint.placement.syntax.nodes import code_of
from tests.placement.walked import clashes, device, events_of, stored


def test_the_value_is_evaluated_before_the_target() -> None:
    program = """
    def f(x: torch.Tensor, table: dict):
        table[torch.ones(1)] = torch.zeros(2)
    """
    assert [event.factory.name for event in events_of(Created, program)] == ["torch.zeros", "torch.ones"]
    targets = """
    def f(x: torch.Tensor):
        x[torch.ones(1)] = torch.zeros(2)
    """
    assert [event.factory.name for event in events_of(Created, targets)] == ["torch.zeros", "torch.ones"]


def test_chained_targets_get_one_value() -> None:
    program = """
    def f():
        a = b = torch.ones(3)
    """
    assert stored(program, "a") == stored(program, "b")
    assert len(events_of(Created, program)) == 1


def test_a_result_read_by_a_nested_definition_is_used() -> None:
    program = """
    def f(x: torch.Tensor):
        y = x.cuda()
        def inner():
            return y
        return inner
    """
    assert [event.fate for event in events_of(Moved, program)] == [Fate.USED]


def test_a_result_bound_to_a_global_is_used() -> None:
    program = """
    def f(x: torch.Tensor):
        global kept
        kept = x.cuda()
    """
    assert [event.fate for event in events_of(Moved, program)] == [Fate.USED]


def test_the_targets_of_a_loop_are_items_of_what_it_runs_over() -> None:
    program = """
    def f(x: torch.Tensor):
        for i, (a, b) in enumerate(zip(x, [torch.ones(3)])):
            u = a
            v = b
            y = a + b
    """
    assert device(program, "u") == "the device of `x`"
    assert device(program, "v") == "cpu"
    assert clashes(program) == ["a + b"]


def test_with_binds_what_its_target_names() -> None:
    program = """
    def f(x: torch.Tensor):
        with torch.no_grad(), open("a") as file:
            y = x + torch.ones(3)
            seen = file
    """
    assert clashes(program) == ["x + torch.ones(3)"]
    assert stored(program, "seen") == UnknownValue()


def test_del_forgets_names_and_items() -> None:
    program = """
    def f(x: torch.Tensor):
        y = torch.ones(3)
        z = {"k": torch.ones(3)}
        z["k"] = torch.ones(3)
        del (y, z["k"])
        a = y
        b = z["k"]
    """
    assert stored(program, "a") == UnknownValue()
    assert stored(program, "b") == UnknownValue()


@pytest.mark.parametrize("target", ["a.b", "a['k']"])
def test_a_written_place_is_read_back(target: str) -> None:
    program = f"""
    def f(a):
        {target} = torch.ones(3)
        y = {target}
    """
    assert device(program) == "cpu"


def test_what_is_written_into_a_sequence_is_not_followed() -> None:
    program = """
    def f(a):
        a[0] = torch.ones(3)
        y = a[0]
    """
    assert device(program) == "the device of `a`"


def test_unpacking_gives_each_target_its_item() -> None:
    program = """
    def f(x: torch.Tensor):
        a, [b, c] = torch.ones(1), (x, torch.ones(2))
        head, *rest = x, torch.ones(3)
    """
    assert [device(program, name) for name in "abc"] == ["cpu", "the device of `x`", "cpu"]
    assert device(program, "head") == "the device of `x`"
    assert device(program, "rest") == "an unknown device"


def test_unpacking_tells_the_expression_each_target_got() -> None:
    program = """
    def f(x: torch.Tensor):
        a, b = x, torch.ones(2)
    """
    values = {e.target: e.value_node for e in events_of(Stored, program)}
    assert {name: node and code_of(node) for name, node in values.items()} == {"a": "x", "b": "torch.ones(2)"}


def test_writing_an_item_replaces_it_in_its_container() -> None:
    program = """
    def f(x: torch.Tensor):
        named = {"a": torch.ones(3), "b": torch.ones(3)}
        named["a"] = named["a"].to(x.device)
        named["c"] = x
        for value in named.values():
            torch.stack([x, value])
        parts = [torch.ones(3), torch.ones(3)]
        parts[0] = x
        torch.stack([x, *parts[:1]])
        first, second = parts
        return x + first, x + second, x + named["b"]
    """
    assert clashes(program) == ["x + second", 'x + named["b"]']


def test_writing_under_a_key_that_is_not_written_out_may_replace_any_item() -> None:
    program = """
    def f(x: torch.Tensor):
        named = {"a": torch.ones(3)}
        for key in named:
            named[key] = named[key].to(x.device)
        return x + named["a"]
    """
    assert clashes(program) == []


def test_assigning_the_data_of_a_tensor_moves_it() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.ones(3)
        w.data = w.data.to(x.device)
        return x + w
    """
    assert clashes(program) == []


def test_a_call_of_a_method_that_assigns_an_attribute_makes_it_unknown() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x):
            self.mask = torch.ones(3)
            {call}
            return x * self.mask

        def _move(self, x):
            self.mask = self.mask.to(x.device)

        def _look(self, x):
            return x
    """
    assert clashes(program.format(call="self._move(x)")) == []
    assert clashes(program.format(call="self._look(x)")) == ["x * self.mask"]
