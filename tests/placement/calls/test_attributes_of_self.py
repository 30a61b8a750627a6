"""Attributes of ``self`` and of modules of the file, as a method finds them."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Constant, Kind, Module, Tensor, UnknownValue
from devlint.placement.domain.events import Loaded
from tests.placement.walked import clashes, device, events_of, returned, stored


def test_the_data_of_a_parameter_is_a_plain_tensor() -> None:
    program = """
    w = nn.Parameter(torch.ones(3))
    y = w.data
    """
    value = stored(program, "y")
    assert isinstance(value, Tensor)
    assert value.kind is Kind.PLAIN


def test_forward_finds_parameters_buffers_and_submodules_where_the_module_is() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))
            self.register_buffer("b", torch.ones(3))
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            w = self.w
            b = self.b
            layer = self.layer
            return layer(x) * w + b
    """
    assert [device(program, name) for name in ("w", "b", "layer")] == ["the module's device"] * 3
    assert clashes(program) == []


def test_forward_finds_a_plain_tensor_where_it_was_made() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.ones(3)

        def forward(self, x):
            return x + self.table
    """
    assert clashes(program) == ["x + self.table"]


@pytest.mark.parametrize("method", ["_apply(self, fn)", "to(self, device)", "cuda(self, device=None)"])
def test_a_class_that_moves_its_own_tensors_is_trusted(method: str) -> None:
    program = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.ones(3)
            self.tables = [torch.ones(3)]

        def {method}:
            return self

        def forward(self, x):
            return x + self.table + self.tables[0]
    """
    assert clashes(program) == []


def test_a_plain_tensor_that_another_method_assigns_may_be_anywhere() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.ones(3)

        def move(self, x):
            self.table = self.table.to(x)

        def forward(self, x):
            return x + self.table
    """
    assert clashes(program) == []


def test_a_tensor_in_a_plain_list_stays_behind() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.tables = [torch.ones(3)]
            self.named = {"a": torch.ones(3)}

        def forward(self, x):
            return x + self.tables[0], x + self.named["a"]
    """
    assert clashes(program) == ["x + self.tables[0]", 'x + self.named["a"]']


def test_parameters_placed_by_name_stay_there() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.left = nn.Linear(3, 3).to("cuda:0")
            self.right = nn.Linear(3, 3).to("cuda:1")

        def forward(self, x):
            left = self.left
            right = self.right
            return right(left(x))
    """
    assert [device(program, name) for name in ("left", "right")] == ["cuda:0", "cuda:1"]
    assert clashes(program) == ["right(left(x))"]


def test_an_attribute_assigned_in_the_method_is_what_was_assigned() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x):
            self.mask = torch.ones(3)
            return x * self.mask
    """
    assert clashes(program) == ["x * self.mask"]


def test_every_read_of_an_attribute_of_self_is_told() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x):
            self.seen = x
            return self.seen, self.missing, self.training
    """
    assert [event.attribute for event in events_of(Loaded, program)] == ["seen", "missing", "training"]


def test_a_property_gives_what_its_getter_returns() -> None:
    program = """
    class Net(nn.Module):
        @property
        def place(self):
            return next(self.parameters()).device

        @place.setter
        def place(self, value):
            pass

        def forward(self, x):
            y = torch.ones(3, device=self.place)
            return x + y
    """
    assert device(program) == "the module's device"
    assert clashes(program) == []


def test_a_module_without_a_device_of_its_own_follows_its_parameters() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x):
            return x + torch.ones(3, device=self.device)
    """
    assert clashes(program) == []


def test_an_attribute_of_a_module_of_this_file_is_where_that_module_is() -> None:
    program = """
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(3))

    def f(x: torch.Tensor):
        head = Head().to(x.device)
        y = head.scale
        z = head.missing
        return x * y
    """
    assert clashes(program) == []
    assert stored(program, "z") == UnknownValue()


def test_construction_does_not_know_where_its_attributes_are_later() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def reset_parameters(self):
            y = self.w
    """
    assert device(program) == "an unknown device"


def test_constants_of_self_are_constants() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.depth = 3

        def forward(self, x):
            return self.depth
    """
    assert returned(program, "Net.forward") == [Constant(3)]


def test_items_of_a_module_list_are_modules_where_it_is() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])

        def forward(self, x):
            first = self.layers[0]
            some = self.layers[len(x)]
            for layer in self.layers:
                x = layer(x)
            return x
    """
    first = stored(program, "first")
    assert isinstance(first, Module)
    assert first.type_name == "torch.nn.Linear"
    assert [device(program, name) for name in ("first", "some")] == ["the module's device"] * 2
    assert clashes(program) == []


def test_a_tensor_of_a_class_that_is_no_module_stays_where_it_was_made() -> None:
    program = """
    class Sampler:
        def __init__(self):
            self.table = torch.ones(3)

        def draw(self, x: torch.Tensor):
            return x + self.table
    """
    assert clashes(program) == ["x + self.table"]


@pytest.mark.parametrize("base", ["collections.abc.Callable", "contextlib.ContextDecorator", "typing.Generic[T]"])
def test_a_base_of_the_standard_library_moves_no_tensors(base: str) -> None:
    program = f"""
    import collections.abc
    import contextlib
    import typing

    T = typing.TypeVar("T")

    class Sampler({base}):
        def __init__(self):
            self.table = torch.ones(3)

        def draw(self, x: torch.Tensor):
            return x + self.table
    """
    assert clashes(program) == ["x + self.table"]


def test_a_class_with_an_unknown_base_may_move_its_tensors() -> None:
    program = """
    from somewhere import Base

    class Sampler(Base):
        def __init__(self):
            self.table = torch.ones(3)

        def draw(self, x: torch.Tensor):
            return x + self.table
    """
    assert clashes(program) == []
