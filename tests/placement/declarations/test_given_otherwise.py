"""What a parameter holds where the body binds its name anew, unpacks it, or demands its type."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Container, Evidence, Module, Opaque, Tensor, Value
from tests.placement.walked import stored

NO_ARRAYS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, Tensor\n"


def held(name: str, *lines: str, more: str = "", imports: str = NO_ARRAYS) -> Value:
    """What a parameter of that name holds as it is given."""
    body = "".join(f"    {line}\n" for line in lines)
    return stored(f"def f({name}{more}):\n    kept = {name}\n{body}", "kept", imports)


def is_taken_for_a_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)


@pytest.mark.parametrize(
    "lines",
    [
        ("frames = x['frames']", "x = torch.relu(frames)", "x = x.unsqueeze(0)"),
        ("x = x['frames']", "x.masked_fill(x > 0, 0)"),
        ("x.load('file')", "x = torch.ones(3)", "x.unsqueeze(0)"),
        ("first, second = x", "x = first.exp()", "x.unsqueeze(0)"),
    ],
)
def test_what_is_bound_to_the_name_later_says_nothing_of_what_was_given(lines: tuple[str, ...]) -> None:
    assert not is_taken_for_a_tensor(held("x", *lines))


@pytest.mark.parametrize(
    "lines",
    [
        ("x = x.unsqueeze(0)", "x = {'frames': x}", "x['frames']"),
        ("x = x.unbind(0)", "first, second = x"),
        ("x = torch.relu(x)", "print(x['frames'])"),
        ("x.masked_fill(x > 0, 0)", "first, second = x"),
    ],
)
def test_what_is_a_tensor_before_may_be_bound_to_anything(lines: tuple[str, ...]) -> None:
    value = held("x", *lines)
    assert isinstance(value, Tensor)
    assert value.evidence is Evidence.CERTAIN


def test_a_list_that_is_joined_under_its_own_name_is_one_of_tensors() -> None:
    value = held("parts", "parts = torch.stack(parts, dim=-1)", "parts = parts.masked_fill(parts > 0, 0)")
    assert isinstance(value, Container)
    assert isinstance(value.rest, Tensor)


@pytest.mark.parametrize("body", ["first, second = hidden_states", "lstm(one, *hidden_states)"])
def test_what_is_unpacked_is_no_tensor_by_its_name(body: str) -> None:
    assert is_taken_for_a_tensor(held("hidden_states"))
    assert not is_taken_for_a_tensor(held("hidden_states", body))


@pytest.mark.parametrize("body", ["map(mask, rows)", "list(filter(mask, rows))"])
def test_what_is_called_for_each_item_is_no_tensor_by_its_name(body: str) -> None:
    assert is_taken_for_a_tensor(held("mask", more=", rows"))
    assert not is_taken_for_a_tensor(held("mask", body, more=", rows"))


def test_a_table_of_a_library_of_arrays_is_no_tensor_by_its_name() -> None:
    assert is_taken_for_a_tensor(held("X"))
    assert not is_taken_for_a_tensor(held("X", imports=NO_ARRAYS + "from sklearn import svm\n"))


@pytest.mark.parametrize("name", ["td", "tensordict", "td_out", "next_td", "_tensordict"])
def test_a_tensordict_is_no_tensor_by_its_methods(name: str) -> None:
    assert not is_taken_for_a_tensor(held(name, f"{name}.unsqueeze(0)", f"print({name}.device)"))
    assert is_taken_for_a_tensor(held("stdev", "stdev.unsqueeze(0)"))


@pytest.mark.parametrize("name", ["_requires_sample", "convert_to_sparse_tensor", "dims_to_sample"])
def test_flags_and_lists_of_numbers_are_no_tensors_by_their_names(name: str) -> None:
    assert not is_taken_for_a_tensor(held(name, f"print({name})"))


def test_what_is_asked_for_its_values_is_no_tensor_by_its_name() -> None:
    assert not isinstance(held("features", "first = next(iter(features.values()))", "features.device"), Tensor)


def test_what_has_more_than_tensors_have_is_none() -> None:
    assert isinstance(held("x", "x.unbind(0)"), Tensor)
    assert not is_taken_for_a_tensor(held("x", "x.unbind(0)", "x.batch_size"))


@pytest.mark.parametrize(
    ("body", "demanded"),
    [
        ("if not isinstance(x, torch.Tensor): raise TypeError(x)", True),
        ("if not isinstance(x, Tensor): raise TypeError(x)", True),
        ("if isinstance(x, torch.Tensor): raise TypeError(x)", False),
        ("if not isinstance(x, torch.Tensor): x = torch.tensor(x)", False),
        ("if not isinstance(x, (torch.Tensor, list)): raise TypeError(x)", False),
    ],
)
def test_a_type_that_is_demanded_tells(body: str, demanded: bool) -> None:
    assert isinstance(held("x", body), Tensor) is demanded


def test_a_list_that_is_joined_elsewhere_by_index_is_no_tensor_by_its_name() -> None:
    assert is_taken_for_a_tensor(held("targets"))
    assert not is_taken_for_a_tensor(held("outputs", "for i in range(len(outputs)): print(outputs[i])"))


def test_what_is_registered_as_a_buffer_is_a_tensor() -> None:
    assert isinstance(held("x", "net.register_buffer('offset', x)", more=", net"), Tensor)
    assert not is_taken_for_a_tensor(held("items", "net.register_hook('offset', items)", more=", net"))


@pytest.mark.parametrize("attribute", ["_parameters", "_buffers", "register_buffer", "named_buffers", "get_submodule"])
def test_what_only_modules_have_tells(attribute: str) -> None:
    assert isinstance(held("holder", f"print(holder.{attribute})"), Module)
    assert not isinstance(held("holder", f"print(holder.{attribute}_of_rows)"), Module)
