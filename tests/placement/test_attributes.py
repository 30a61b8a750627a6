"""Attributes of tensors, modules, ``self`` and what is unknown."""

from __future__ import annotations

import pytest

from devlint.placement.events import Loaded
from devlint.placement.values import Constant, DeviceName, Function, Host, Kind, Module, Tensor, Truth, UnknownValue
from tests.placement.walked import clashes, device, events_of, place, returned, stored


def of_argument(expression: str, annotation: str = ": torch.Tensor") -> object:
    return stored(f"def f(x{annotation}):\n    y = {expression}\n", "y")


@pytest.mark.parametrize("view", ["x.T", "x.mT", "x.data", "x.grad", "x.real"])
def test_views_of_a_tensor_stay_with_it(view: str) -> None:
    value = of_argument(view)
    assert isinstance(value, Tensor)
    assert place(value) == "the device of `x`"


@pytest.mark.parametrize("fact", ["x.shape", "x.dtype", "x.ndim", "x.requires_grad", "x.layout"])
def test_facts_of_a_tensor_are_plain_values(fact: str) -> None:
    assert isinstance(of_argument(fact), Host)


def test_the_device_of_a_tensor_is_a_device_of_its_own() -> None:
    value = of_argument("x.device")
    assert isinstance(value, DeviceName)
    assert value.of_tensor
    assert place(value) == "the device of `x`"


@pytest.mark.parametrize("question", ["x.is_cuda", "x.is_cpu", "x.is_meta"])
def test_questions_about_the_device_are_truth_values_about_devices(question: str) -> None:
    assert of_argument(question) == Truth(about_device=True)


def test_an_attribute_that_tensors_lack_is_anything() -> None:
    assert of_argument("x.node_features") == UnknownValue()


def test_the_type_and_index_of_a_device_are_not_the_device() -> None:
    kind = of_argument("x.device.type")
    assert isinstance(kind, DeviceName)
    assert kind.is_type
    assert of_argument("x.device.index") == Host(number=True)
    assert of_argument("x.device.other") == UnknownValue()


@pytest.mark.parametrize("name", ["shape", "hidden_size", "num_heads", "config", "use_cache"])
def test_names_for_plain_facts_are_plain_values_on_arguments_of_any_type(name: str) -> None:
    assert of_argument(f"x.{name}", "") == Host()


def test_other_attributes_of_an_argument_stay_with_it() -> None:
    assert place(of_argument("x.edge_index", "")) == "the device of `x`"  # type: ignore[arg-type]
    assert of_argument("x.detach", "") == UnknownValue()


def test_the_weight_of_a_module_is_a_parameter_where_the_module_is() -> None:
    weight = of_argument("x.weight", ": nn.Module")
    mean = of_argument("x.running_mean", ": nn.Module")
    assert isinstance(weight, Tensor)
    assert isinstance(mean, Tensor)
    assert (weight.kind, mean.kind) == (Kind.PARAMETER, Kind.BUFFER)
    assert place(weight) == "the device of `x`"


def test_other_attributes_of_a_module_argument() -> None:
    assert place(of_argument("x.device", ": nn.Module")) == "the device of `x`"  # type: ignore[arg-type]
    assert of_argument("x.config", ": nn.Module") == Host()
    assert of_argument("x.anything", ": nn.Module") == UnknownValue()


def test_the_data_of_a_parameter_is_a_plain_tensor() -> None:
    program = """
    w = nn.Parameter(torch.ones(3))
    y = w.data
    """
    value = stored(program, "y")
    assert isinstance(value, Tensor)
    assert value.kind is Kind.PLAIN


def test_arrays_have_arrays_as_views() -> None:
    assert stored("y = np.zeros(3).T", "y") == Host(numpy=True)
    assert stored("y = np.zeros(3).shape", "y") == Host()


def test_numbers_of_libraries_are_numbers() -> None:
    assert stored("y = torch.pi", "y") == Host(number=True)
    assert stored("y = np.pi", "y") == Host(number=True)


def test_containers_literals_and_functions_have_no_followed_attributes() -> None:
    program = """
    def g(): pass
    a = [].sort
    b = "".join
    c = g.cache
    """
    assert {stored(program, name) for name in "abc"} == {UnknownValue()}


def test_a_method_read_from_a_class_is_a_function() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x):
            return x

    y = Net.forward
    z = Net.missing
    """
    assert isinstance(stored(program, "y"), Function)
    assert stored(program, "z") == UnknownValue()


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


def test_fields_of_a_result_are_its_tensors() -> None:
    program = """
    def f(x: torch.Tensor):
        y = torch.ones(3).topk(2).indices
    """
    assert device(program) == "cpu"


def test_an_argument_of_any_type_may_be_asked_for_its_device() -> None:
    assert of_argument("x.is_cuda", ": Whatever") == Truth(about_device=True)


def test_an_attribute_may_be_written_on_what_has_no_name() -> None:
    program = """
    def f(x: torch.Tensor):
        unknown().table = torch.ones(3)
        unknown()["k"] = torch.ones(3)
        parts = {}
        parts[x] = torch.ones(3)
        y = parts["k"]
        del unknown().table
    """
    assert device(program) == "cpu"


def test_a_bound_method_is_a_function() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x):
            step = self.encode
            y = step(x)
            z = self.place
            w = self.place(x)

        def encode(self, x):
            return x.exp()

        @property
        def place(self):
            return self.device
    """
    assert isinstance(stored(program, "step"), Function)
    assert device(program) == "the module's device"
    assert stored(program, "w") == UnknownValue()


def test_a_submodule_that_was_put_somewhere_stays_there() -> None:
    program = """
    def f():
        net = nn.Sequential(nn.Linear(3, 3).to("cuda:1"), nn.Linear(3, 3))
        first = net[0]
    """
    assert device(program, "first") == "cuda:1"
