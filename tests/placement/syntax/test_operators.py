"""Operators, comparisons and truth."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Constant, Container, Host, Tensor, Truth, UnknownValue
from devlint.placement.domain.events import Compared, DeviceMismatch
from devlint.placement.syntax.nodes import code_of
from tests.placement.walked import clashes, device, events_of, place, stored


def test_or_takes_the_left_side_unless_it_is_none() -> None:
    program = """
    def f(x: torch.Tensor, mask: torch.Tensor = None):
        a = None or x
        b = [x] or None
        c = mask or torch.ones(3)
    """
    assert device(program, "a") == "the device of `x`"
    assert isinstance(stored(program, "b"), Container)
    assert device(program, "c") == "cpu if mask is None else the device of `mask`"


def test_truth_values_combine() -> None:
    program = """
    def f(x: torch.Tensor):
        a = torch.cuda.is_available() and x.is_cuda
        b = x.is_cuda or x.is_cpu
        c = x.any() and x.is_cuda
        d = torch.cuda.is_available() or x.is_cuda
        e = not torch.cuda.is_available()
    """
    assert stored(program, "a") == Truth(about_device=True)
    assert stored(program, "b") == Truth(about_device=True)
    assert stored(program, "c") == Truth(about_device=True)
    assert stored(program, "d") == Truth(True, about_device=True)
    assert stored(program, "e") == Truth(False, about_device=True)


def test_a_constant_decides_and_and_or() -> None:
    program = """
    def f(x: torch.Tensor):
        a = 0 and x
        b = "word" and x
        c = "" or x
    """
    assert stored(program, "a") == Constant(0)
    assert device(program, "b") == "the device of `x`"
    assert device(program, "c") == "the device of `x`"


def test_every_pair_of_a_chained_comparison_is_told() -> None:
    program = """
    def f(x: torch.Tensor, y: torch.Tensor):
        x.device == y.device == torch.device("cuda")
    """
    compared = [(code_of(e.left_node), e.operator, code_of(e.right_node)) for e in events_of(Compared, program)]
    assert compared == [
        ("x.device", "==", "y.device"),
        ("y.device", "==", 'torch.device("cuda")'),
    ]


def test_comparing_tensors_is_an_operation() -> None:
    program = """
    def f(x: torch.Tensor):
        return x > torch.ones(3), x == torch.tensor(1.0)
    """
    assert clashes(program) == ["x > torch.ones(3)"]


def test_comparing_arrays_gives_an_array() -> None:
    assert stored("y = np.zeros(3) > 1", "y") == Host(numpy=True)


def test_identity_and_membership_are_no_operations_on_devices() -> None:
    program = """
    def f(x: torch.Tensor):
        a = x is torch.ones(3)
        b = x in [torch.ones(3)]
    """
    assert clashes(program) == []


def test_a_chain_of_three_thousand_operators_costs_no_depth() -> None:
    chain = " + ".join(["x"] * 2999)
    program = f"def f(x: torch.Tensor):\n    y = {chain} + torch.ones(3)\n    z = x\n"
    assert len(events_of(DeviceMismatch, program)) == 1
    assert device(program, "z") == "the device of `x`"


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>"])
def test_every_operator_lets_its_operands_meet(symbol: str) -> None:
    program = f"""
    def f(x: torch.Tensor):
        x {symbol} torch.ones(3)
        x {symbol}= torch.ones(3)
    """
    assert len(clashes(program)) == 2


@pytest.mark.parametrize("symbol", ["<", "<=", ">", ">=", "==", "!="])
def test_every_comparison_lets_its_operands_meet(symbol: str) -> None:
    assert len(clashes(f"def f(x: torch.Tensor):\n    x {symbol} torch.ones(3)\n")) == 1


def test_numbers_and_words_make_plain_values() -> None:
    program = """
    def f(n: int):
        a = n + 1
        b = "word" + str(n)
        c = np.zeros(3) * n
        d = n + unknown
        e = -3
        g = -unknown
    """
    assert stored(program, "a") == Host(number=True)
    assert stored(program, "b") == Host()
    assert stored(program, "c") == Host(numpy=True)
    assert stored(program, "d") == UnknownValue()
    assert stored(program, "e") == Constant(-3)
    assert stored(program, "g") == UnknownValue()


def test_lists_add_up_and_repeat() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        a = [x] + [torch.ones(3)]
        first = a[0]
        second = a[1]
        many = [torch.ones(3)] * n
        some = many[n]
        more = [x] + unknown
    """
    assert device(program, "first") == "the device of `x`"
    assert device(program, "second") == "cpu"
    assert device(program, "some") == "cpu"
    more = stored(program, "more")
    assert isinstance(more, Container)
    assert more.rest is not None


def test_unary_operators_keep_the_tensor() -> None:
    program = """
    def f(x: torch.Tensor):
        y = -x
        z = ~x
    """
    assert isinstance(stored(program, "y"), Tensor)
    assert place(stored(program, "z")) == "the device of `x`"


def test_an_answer_about_devices_that_is_compared_stays_one() -> None:
    assert stored("def f(x: torch.Tensor):\n    y = x.is_cuda == True\n", "y") == Truth(about_device=True)
