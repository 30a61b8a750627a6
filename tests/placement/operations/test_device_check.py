"""Meetings of operands: which values take part, what the judge says, where the result is."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Opaque, UnknownValue
from devlint.placement.domain.events import DeviceMismatch
from devlint.placement.syntax.nodes import code_of
from tests.placement.walked import clashes, device, events_of, stored

ARGUMENTS = "x: torch.Tensor, index: torch.Tensor, n: int, anything"


def device_mismatch(statement: str) -> list[str]:
    return clashes(f"def f({ARGUMENTS}):\n    {statement}\n")


@pytest.mark.parametrize(
    "legal",
    [
        "x * torch.tensor(0.5)",
        "torch.add(x, torch.tensor(0.5))",
        "torch.where(x > 0, x, torch.tensor(0.0))",
        "x[torch.arange(3)]",
        "x[:, torch.arange(3)]",
        "x[1:3] = torch.ones(2)",
        "x[0] = torch.ones(2)",
        "x.copy_(torch.ones(3))",
        "x + 1",
        "x + n",
        "x.masked_fill(x > 0, torch.tensor(0.0))",
        "torch.zeros(3) + torch.ones(3)",
        "x.expand_as(torch.ones(3))",
        "x + anything",
        "F.softmax(x, dim=0)",
        "x * torch.ones(3).sum()",
    ],
)
def test_what_pytorch_allows_is_no_clash(legal: str) -> None:
    assert device_mismatch(legal) == []


@pytest.mark.parametrize(
    "clash",
    [
        "x * torch.ones(3)",
        "x * torch.zeros(1)",
        "torch.cat([x, torch.ones(3)])",
        "torch.stack((x, torch.tensor(0.5)))",
        "x @ torch.eye(3)",
        "x.matmul(torch.eye(3))",
        "F.linear(x, torch.eye(3))",
        "F.cross_entropy(x, torch.zeros(3, dtype=torch.long))",
        "torch.zeros(3)[torch.arange(3, device=x.device)]",
        "x.gather(0, torch.zeros(3, dtype=torch.long))",
        "x.index_select(0, torch.zeros(3, dtype=torch.long))",
        "torch.add(x, torch.ones(3), out=x)",
        "x.add_(torch.ones(3))",
        "torch.where(x > 0, x, torch.zeros(3))",
        "x * torch.ones(3).sum(dim=0, keepdim=True).view(1)",
        "torch.einsum('i,i->', x, torch.ones(3))",
        "torch.bmm(x, torch.zeros(1, 2, 3))",
    ],
)
def test_what_pytorch_refuses_is_a_clash(clash: str) -> None:
    assert device_mismatch(clash) == [clash]


def test_writing_through_an_index_needs_one_device() -> None:
    program = f"def f({ARGUMENTS}):\n    i = torch.arange(3)\n    x[i] = torch.ones(3)\n    x[i] = x\n"
    assert clashes(program) == ["x[i]"]


def test_the_operand_made_on_the_cpu_is_the_stray_one() -> None:
    for expression in ("x + torch.ones(3)", "torch.ones(3) + x", "torch.cat([torch.ones(3), x])"):
        event = events_of(DeviceMismatch, f"def f({ARGUMENTS}):\n    {expression}\n")[0]
        assert code_of(event.offending.node) == "torch.ones(3)"
        assert code_of(event.other.node) == "x"


def test_an_argument_that_must_be_on_the_cpu_clashes_alone() -> None:
    event = events_of(DeviceMismatch, f"def f({ARGUMENTS}):\n    x.tensor_split(torch.ones(3, device='cuda'))\n")[0]
    assert event.offending is event.other


def test_an_operation_without_a_tensor_gives_nothing_known() -> None:
    assert stored(f"def f({ARGUMENTS}):\n    y = torch.add(1, 2)\n", "y") == UnknownValue()
    assert stored(f"def f({ARGUMENTS}):\n    y = torch.add()\n", "y") == UnknownValue()


def test_an_argument_of_unknown_type_takes_part_where_a_tensor_must_stand() -> None:
    assert device_mismatch("torch.cat([anything, torch.ones(3)])") == ["torch.cat([anything, torch.ones(3)])"]
    assert device_mismatch("torch.ones(3) * anything") == []


def test_items_of_an_unmoved_batch_take_no_part() -> None:
    program = """
    def f(loader, w: torch.Tensor):
        for batch in loader:
            y = batch * torch.ones(3)
    """
    assert clashes(program) == []


def test_two_conditions_clash_only_when_every_outcome_does() -> None:
    program = """
    def f(x: torch.Tensor, a: bool, b: bool):
        u = torch.ones(3)
        if a:
            u = torch.zeros(3)
        v = torch.ones(3)
        if b:
            v = v.cuda()
        return u + v, x + u
    """
    assert clashes(program) == ["u + v", "x + u"]


def test_more_than_three_conditions_say_nothing() -> None:
    arms = "\n".join(f"    if c{n}:\n        w{n} = w{n}.cuda()" for n in range(4))
    made = "\n".join(f"    w{n} = torch.ones(3)" for n in range(4))
    program = f"def f(x: torch.Tensor, c0, c1, c2, c3):\n{made}\n{arms}\n    torch.cat([w0, w1, w2, w3])\n"
    assert clashes(program) == []


def test_a_value_put_on_the_cpu_on_purpose_says_that_the_function_works_there() -> None:
    program = """
    def f(x: torch.Tensor):
        w = torch.ones(3, device="cpu")
        return x + w
    """
    assert clashes(program) == []


def test_a_value_brought_to_the_cpu_from_its_partner_clashes_with_it() -> None:
    program = """
    def f(x: torch.Tensor):
        w = x.unsqueeze(0).cpu()
        return x + w
    """
    assert clashes(program) == ["x + w"]


def test_items_of_something_unknown_stay_with_it() -> None:
    program = f"""
    def f({ARGUMENTS}):
        a = anything[0]
        b = anything[n]
        c = anything[:2]
        d = anything["k"]
    """
    assert {device(program, name) for name in "abcd"} == {"the device of `anything`"}
    assert {type(stored(program, name)) for name in "abcd"} == {Opaque}


def test_a_list_of_tensors_that_stands_as_one_value_takes_part() -> None:
    assert device_mismatch("torch.cat(x)") == []
    assert device_mismatch("torch.cat([torch.ones(3)] + [x])") == ["torch.cat([torch.ones(3)] + [x])"]
    program = """
    def f(x: torch.Tensor, parts: list[torch.Tensor]):
        torch.cat(parts + [torch.ones(3)])
        torch.block_diag(x, torch.eye(3))
    """
    assert "torch.cat(parts + [torch.ones(3)])" in clashes(program)


def test_indices_are_walked_even_where_nothing_is_known_of_what_they_pick() -> None:
    program = f"""
    def f({ARGUMENTS}):
        x[x + torch.ones(3) : 2]
        x[x + torch.ones(3) : 2] = 0
        x[index] = 0
        y = x[index, None]
    """
    assert clashes(program) == ["x + torch.ones(3)"] * 2
