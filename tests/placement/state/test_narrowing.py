"""Tests of types and of None: what each arm knows."""

from __future__ import annotations

from devlint.placement.domain.abstract_values import Container, Host, Opaque, Tensor, UnknownValue
from tests.placement.walked import clashes, device, place, stored


def test_isinstance_makes_an_argument_a_tensor_in_its_arm() -> None:
    program = """
    def f(x):
        if isinstance(x, torch.Tensor):
            inside = x
        else:
            outside = x
    """
    assert isinstance(stored(program, "inside"), Tensor)
    assert isinstance(stored(program, "outside"), UnknownValue)


def test_is_tensor_narrows_like_isinstance() -> None:
    program = """
    def f(x):
        if not torch.is_tensor(x):
            outside = x
        else:
            inside = x
    """
    assert isinstance(stored(program, "inside"), Tensor)
    assert isinstance(stored(program, "outside"), UnknownValue)


def test_an_argument_that_is_gone_through_is_several_where_it_is_no_tensor() -> None:
    program = """
    def f(xs):
        if isinstance(xs, torch.Tensor):
            inside = xs
            xs = [xs]
        else:
            outside = xs
        for x in xs:
            item = x.clone()
    """
    assert isinstance(stored(program, "inside"), Tensor)
    outside = stored(program, "outside")
    assert isinstance(outside, Container)
    assert [place(value) for value in outside.values] == ["the device of `xs`"]
    assert place(stored(program, "item")) == "the device of `xs`"


def test_a_test_for_a_list_tells_several_from_one() -> None:
    program = """
    def f(xs: Union[torch.Tensor, List[torch.Tensor]]):
        if isinstance(xs, (list, tuple)):
            several = xs
        else:
            one = xs
    """
    assert isinstance(stored(program, "several"), Container)
    assert isinstance(stored(program, "one"), Tensor)


def test_isinstance_of_arrays_makes_a_host_value() -> None:
    program = """
    def f(x):
        if isinstance(x, np.ndarray):
            inside = x
    """
    assert stored(program, "inside") == Host(numpy=True)


def test_isinstance_of_tensor_or_something_else_leaves_the_type_open() -> None:
    program = """
    def f(x):
        if isinstance(x, (torch.Tensor, list)):
            inside = x
        else:
            outside = x
    """
    assert isinstance(stored(program, "inside"), Opaque)
    assert isinstance(stored(program, "outside"), UnknownValue)


def test_isinstance_of_another_type_takes_the_tensor_away() -> None:
    program = """
    def f(x: torch.Tensor):
        if isinstance(x, dict):
            inside = x
        outside = x
    """
    assert isinstance(stored(program, "inside"), Opaque)
    assert isinstance(stored(program, "outside"), Tensor)


def test_both_sides_of_and_narrow() -> None:
    program = """
    def f(a, b):
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            first = a
            second = b
    """
    assert isinstance(stored(program, "first"), Tensor)
    assert isinstance(stored(program, "second"), Tensor)


def test_isinstance_without_a_class_narrows_nothing() -> None:
    program = """
    def f(x):
        if isinstance(x):
            inside = x
        if isinstance():
            pass
    """
    assert isinstance(stored(program, "inside"), Opaque)


def test_a_name_known_to_be_none_decides_its_test() -> None:
    program = """
    def f(x: torch.Tensor):
        mask = None
        if mask is None:
            mask = x * 2
        y = mask
    """
    assert device(program) == "the device of `x`"


def test_a_list_is_never_none() -> None:
    program = """
    def f(x: torch.Tensor):
        parts = [x]
        if parts is not None:
            y = x
        else:
            y = torch.ones(3)
        z = y
    """
    assert device(program, "z") == "the device of `x`"


def test_a_default_for_an_argument_that_is_none_is_one_arm_of_a_choice() -> None:
    program = """
    def f(x: torch.Tensor, mask: torch.Tensor = None):
        if mask is None:
            mask = torch.ones(3)
        return x * mask
    """
    assert clashes(program) == ["x * mask"]


def test_is_not_none_is_the_same_condition_from_the_other_side() -> None:
    program = """
    def f(a: torch.Tensor, b: torch.Tensor = None):
        w = torch.ones(3)
        v = torch.ones(3)
        if b is None:
            w = w.cuda()
        if b is not None:
            pass
        else:
            v = v.cuda()
        return w + v
    """
    assert clashes(program) == []


def test_isinstance_of_what_is_no_tensor_narrows_nothing() -> None:
    program = """
    def f(x: torch.Tensor):
        n = 3
        if isinstance(n, int):
            y = n
    """
    assert place(stored(program, "y")) == "Constant"


def test_an_attribute_that_is_none_is_a_condition_of_its_own() -> None:
    program = """
    def f(batch, x: torch.Tensor):
        w = torch.ones(3)
        v = torch.ones(3)
        if batch.mask is None:
            w = w.cuda()
        if batch.mask is None:
            v = v.cuda()
        return w + v
    """
    assert clashes(program) == []
