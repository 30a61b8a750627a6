"""Attributes of tensors, modules, ``self`` and what is unknown."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import (
    DeviceName,
    Function,
    Host,
    Kind,
    Opaque,
    Tensor,
    Truth,
    UnknownValue,
)
from tests.placement.walked import device, place, stored


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


def test_an_attribute_that_tensors_lack_is_of_an_object_with_its_tensors_in_one_place() -> None:
    held = of_argument("x.node_features")
    assert isinstance(held, Opaque)
    assert place(held) == "the device of `x`"
    assert isinstance(of_argument("x.num_nodes"), Host)


def test_an_attribute_that_tensors_lack_is_anything_of_a_tensor_that_is_made() -> None:
    assert of_argument("torch.zeros(3).node_features") == UnknownValue()


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
    assert place(of_argument("x.anything", ": nn.Module")) == "the device of `x`"  # type: ignore[arg-type]
    assert of_argument("x.kernel_size", ": nn.Conv2d") == Host()
    assert of_argument("x.anything", ": nn.Conv2d") == UnknownValue()


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
