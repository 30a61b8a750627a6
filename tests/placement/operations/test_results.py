"""Results of operations: where they are, their dimensions, tuples."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Container, Host, Tensor, UnknownValue
from devlint.placement.domain.events import HostRead
from devlint.semantics import Dim
from tests.placement.walked import clashes, device, events_of, place, stored

ARGUMENTS = "x: torch.Tensor, index: torch.Tensor, n: int, anything"


def test_the_result_is_where_the_operands_are() -> None:
    program = f"""
    def f({ARGUMENTS}):
        a = x * 2
        b = torch.ones(3) * torch.tensor(2.0)
        c = torch.tensor(1.0) * x
        d = torch.cat([x, x])
        e = torch.ones(3) * unknown
        g = torch.ones(3) * made_elsewhere()
    """
    assert [device(program, name) for name in "acdb"] == [*["the device of `x`"] * 3, "cpu"]
    assert device(program, "e") == "cpu"
    assert device(program, "g") == "an unknown device"


def test_what_a_function_of_torch_gives_is_a_tensor_wherever_its_operands_are() -> None:
    program = """
    def f(anything):
        a = torch.sqrt(made_elsewhere())
        b = torch.stack(made_elsewhere())
        c = torch.max(made_elsewhere(), dim=0)
        d = made_elsewhere() + 1
        e = torch.sqrt(*made_elsewhere())
        g = torch.numel(made_elsewhere())
    """
    assert all(isinstance(stored(program, name), Tensor) for name in "ab")
    assert {device(program, name) for name in "ab"} == {"an unknown device"}
    assert isinstance(stored(program, "c"), Container)
    assert isinstance(stored(program, "g"), Host)
    assert all(isinstance(stored(program, name), UnknownValue) for name in "de")


def test_after_a_clash_the_result_is_on_the_side_of_the_other() -> None:
    program = f"""
    def f({ARGUMENTS}):
        y = torch.ones(3) + x
        z = y + x
    """
    assert clashes(program) == ["torch.ones(3) + x"]
    assert device(program) == "the device of `x`"


def test_a_zero_dim_cpu_tensor_follows_whatever_it_meets() -> None:
    program = f"""
    def f({ARGUMENTS}):
        y = torch.tensor(1.0) * unknown
        z = torch.tensor(1.0) + anything
    """
    assert device(program) == "an unknown device"
    assert device(program, "z") == "an unknown device"


def test_operations_in_place_keep_the_place_of_their_target() -> None:
    program = f"""
    def f({ARGUMENTS}):
        y = torch.ones(3).add_(x)
        z = torch.ones(3).copy_(x)
        w = x.type_as(torch.ones(3))
    """
    assert [device(program, name) for name in "yzw"] == ["cpu", "cpu", "cpu"]


def test_reductions_have_no_dimension_unless_one_is_named() -> None:
    program = f"""
    def f({ARGUMENTS}):
        a = x.sum()
        b = x.sum(0)
        c = torch.sum(x, dim=0)
        d = torch.sum(x)
        e = torch.mean(x, **anything)
        g = F.mse_loss(x, x)
    """
    dims = [stored(program, name).dim for name in "abcd"]  # type: ignore[union-attr]
    assert dims == [Dim.ZERO, Dim.UNKNOWN, Dim.UNKNOWN, Dim.ZERO]


def test_reshaping_tells_the_number_of_dimensions() -> None:
    program = f"""
    def f({ARGUMENTS}):
        a = torch.tensor(1.0).view(1)
        b = torch.tensor(1.0).view([])
        c = torch.tensor(1.0).view(anything)
        d = torch.reshape(torch.tensor(1.0), (1, 1))
        e = torch.tensor(1.0).expand(2, n)
        g = torch.tensor(1.0).repeat()
    """
    dims = [stored(program, name).dim for name in "abcde"]  # type: ignore[union-attr]
    assert dims == [Dim.NONZERO, Dim.UNKNOWN, Dim.UNKNOWN, Dim.NONZERO, Dim.NONZERO]


def test_subscripts_take_and_give_dimensions() -> None:
    program = f"""
    def f({ARGUMENTS}):
        w = torch.ones(3)
        a = w[0]
        b = w[1:]
        c = w[None]
        d = torch.tensor(1.0)[None]
        e = w[..., None, 0]
        g = w[...]
        h = w[torch.arange(3)]
        i = w[index]
    """
    dims = [stored(program, name).dim for name in "abcdegh"]  # type: ignore[union-attr]
    assert dims == [Dim.UNKNOWN, Dim.NONZERO, Dim.NONZERO, Dim.NONZERO, Dim.NONZERO, Dim.NONZERO, Dim.NONZERO]


def test_operations_that_give_several_tensors_give_a_container() -> None:
    program = f"""
    def f({ARGUMENTS}):
        values, where = x.max(dim=0)
        pair = x.max(0)
        plain = x.max()
        other = torch.max(x, x)
        first = torch.ones(3).split(1)[0]
        for part in torch.ones(3).chunk(2):
            item = part
    """
    assert isinstance(stored(program, "pair"), Container)
    assert isinstance(stored(program, "plain"), Tensor)
    assert isinstance(stored(program, "other"), Tensor)
    assert [device(program, name) for name in ("values", "where")] == ["the device of `x`"] * 2
    assert [device(program, name) for name in ("first", "item")] == ["cpu"] * 2


def test_operations_that_answer_on_the_host_read_there() -> None:
    program = f"""
    def f({ARGUMENTS}):
        y = torch.equal(x, x)
        z = x.item()
    """
    assert stored(program, "y") == stored(program, "z") == Host(number=True)
    assert len(events_of(HostRead, program)) == 2


def test_numpy_results_are_arrays() -> None:
    program = f"""
    def f({ARGUMENTS}):
        y = x.cpu().numpy()
        z = y * 2
    """
    assert stored(program, "y") == stored(program, "z") == Host(numpy=True)


def test_places_of_results_are_words() -> None:
    assert place(stored("y = torch.ones(3) + torch.ones(3)", "y")) == "cpu"


@pytest.mark.parametrize(
    ("call", "several"),
    [
        ("torch.max(x, x)", False),
        ("torch.max(x)", False),
        ("torch.max(x, 0)", True),
        ("torch.max(x, dim=0)", True),
        ("x.median(0)", True),
        ("F.max_pool2d(x, 2)", False),
        ("F.max_pool2d(x, 2, return_indices=True)", True),
        ("torch.unique(x, True)", False),
        ("torch.unique(x, return_counts=True)", True),
        ("x.nonzero(as_tuple=False)", False),
        ("x.nonzero(as_tuple=True)", True),
        ("torch.where(x)", True),
        ("torch.where(x, x, x)", False),
        ("x.topk(3)", True),
    ],
)
def test_the_arguments_tell_whether_several_tensors_come_back(call: str, several: bool) -> None:
    value = stored(f"def f({ARGUMENTS}):\n    y = {call}\n", "y")
    assert isinstance(value, Container if several else Tensor)


def test_a_zero_dim_cpu_tensor_beside_an_argument_of_any_type_may_end_anywhere() -> None:
    program = f"""
    def f({ARGUMENTS}):
        scale = torch.tensor(1.0) * anything
        return F.linear(x, scale)
    """
    assert clashes(program) == []


def test_a_comparison_without_a_call_gives_one_tensor() -> None:
    program = f"""
    def f({ARGUMENTS}):
        y = x > 0
        x.add_(1).sub_(2)
        z = F.one_hot(x)
        torch.cat(3)
        torch.add(x, x, **anything)
        a = x.type_as(index)
        b = torch.cat(tensors=[x, x])
        c = x.where(x > 0, x)
    """
    assert isinstance(stored(program, "y"), Tensor)
    assert [device(program, name) for name in "zabc"] == [
        "the device of `x`", "the device of `index`", "the device of `x`", "the device of `x`",
    ]  # fmt: skip


def test_the_table_tells_what_an_operation_gives_back() -> None:
    program = f"""
    def f({ARGUMENTS}):
        a = x.dot(x)
        b = x.record_stream(torch.cuda.current_stream())
        c = x.tolist()
    """
    dot = stored(program, "a")
    assert isinstance(dot, Tensor)
    assert dot.dim is Dim.ZERO
    assert stored(program, "b") == UnknownValue()
    assert stored(program, "c") == Host(number=True)
