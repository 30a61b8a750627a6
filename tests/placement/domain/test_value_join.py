"""Joins of values that no condition tells apart: rounds of a loop, several returns."""

from __future__ import annotations

from tests.placement.walked import clashes, device


def test_several_arguments_are_in_one_place() -> None:
    program = """
    def f(padded: torch.Tensor, kernel: torch.Tensor, n: int):
        out = padded[0]
        for i in range(n):
            out = torch.maximum(out, padded[i])
            out = torch.where(kernel[i] > 0, torch.zeros_like(kernel), out)
        y = out * 2
        z = out + torch.ones(3)
    """
    assert device(program, "y") in ("the device of `padded`", "the device of `kernel`")
    assert clashes(program) == ["out + torch.ones(3)"]


def test_what_was_moved_or_made_elsewhere_is_not_where_arguments_are() -> None:
    program = """
    def f(a: torch.Tensor, b: torch.Tensor, device, n: int):
        out = a
        for i in range(n):
            out = {value}
        y = out * 2
    """
    assert device(program.format(value="b.to(device)")) != "the device of `a`"
    assert device(program.format(value="registry(b, out)")) != "the device of `a`"
