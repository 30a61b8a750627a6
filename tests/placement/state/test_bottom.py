"""What adds nothing to a join: what a test of its type shows to be no tensor, and what a recursion gives at first."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import BOTTOM, NOTHING, Tensor, UnknownValue
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.value_join import join_values
from tests.placement.walked import device


def test_it_adds_nothing() -> None:
    tensor = Tensor(CPU)
    assert getattr(join_values(None, tensor, BOTTOM), "device", None) == CPU
    assert getattr(join_values(None, BOTTOM, tensor), "device", None) == CPU
    assert getattr(join_values(None, tensor, NOTHING), "device", None) != CPU


def test_two_of_them_are_one_and_with_an_unknown_value_it_is_unknown() -> None:
    both, either = join_values(None, BOTTOM, BOTTOM), join_values(None, BOTTOM, NOTHING)
    assert isinstance(both, UnknownValue)
    assert both.bottom
    assert isinstance(either, UnknownValue)
    assert not either.bottom


MOVED = """moved = {}
    for k, v in batch.items():
        if isinstance(v, torch.Tensor):
            moved[k] = v.to(d)
"""


@pytest.mark.parametrize(
    "body",
    [
        "moved = {k: v.to(d) if isinstance(v, torch.Tensor) else v for k, v in batch.items()}",
        "moved = {k: v if not torch.is_tensor(v) else v.to(d) for k, v in batch.items()}",
        f"{MOVED}        else:\n            moved[k] = v",
        f"{MOVED}        elif k == 'ids':\n            moved[k] = v * 2",
    ],
)
def test_a_batch_of_tensors_and_others_is_where_its_tensors_are(body: str) -> None:
    assert device(f"def f(batch, d):\n    {body}\n    y = moved['x'] + 1\n") == "the device of `d`"


def test_an_unknown_arm_keeps_what_is_not_known() -> None:
    program = "def f(x, d, load):\n    z = x.to(d) if load else unknown(3)\n    y = z + 1\n"
    assert device(program) != "the device of `d`"


RECURSION = """
def repeated(batch, times):
    if times == 1:
        return batch
    found = {}
    for key, value in batch.items():
        if isinstance(value, torch.Tensor):
            found[key] = torch.cat([value] * times)
        elif key == "inner":
            found[key] = repeated(value, times)
    return found

def f(batch, d):
    moved = batch.to(d)
    y = repeated(moved, 3)["x"] + 1
"""


def test_a_recursion_gives_what_its_other_arms_give() -> None:
    assert device(RECURSION) == "the device of `d`"


def test_a_repeated_list_is_where_its_items_are() -> None:
    assert device("def f(x: torch.Tensor, n):\n    y = torch.cat([x] * n)\n") == "the device of `x`"
    assert device("def f(x: torch.Tensor, n):\n    y = torch.cat(n * [x])\n") == "the device of `x`"


def test_what_is_no_float_tensor_may_be_another_one() -> None:
    program = "def f(x: torch.Tensor, d):\n    if isinstance(x, torch.FloatTensor):\n        x = x.to(d)\n    y = x\n"
    assert device(program) not in ("the device of `d`", "UnknownValue")
