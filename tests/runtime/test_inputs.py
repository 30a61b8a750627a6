"""Inputs and arguments as they are written on a command line."""

from __future__ import annotations

import pytest
import torch

from devlint.runtime.inputs import BadEntry, Input, parse_arguments, parse_input


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float32[4,16,10]", Input("float32", (4, 16, 10))),
        ("int64[4]{0..9}", Input("int64", (4,), "", 0, 9)),
        ("mask=bool[2, 3]", Input("bool", (2, 3), "mask")),
        ("float64[]", Input("float64", ())),
        ("x=float32[2]{-1.5..2}", Input("float32", (2,), "x", -1.5, 2)),
    ],
)
def test_input_is_read(text: str, expected: Input) -> None:
    assert parse_input(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("float32", "is not like `float32[4,16]`"),
        ("float31[2]", "has no dtype of torch"),
        ("float32[-2]", "is not like"),
        ("bool[2]{0..1}", "have no bounds"),
        ("int64[2]{3..1}", "its lower bound is above"),
        ("float32[2]{1.2.3..4}", "its bounds are not numbers"),
    ],
)
def test_bad_input_says_why(text: str, reason: str) -> None:
    with pytest.raises(BadEntry) as error:
        parse_input(text)
    assert reason in str(error.value)


def test_tensors_keep_their_bounds_and_come_out_the_same_each_time() -> None:
    def make(text: str) -> torch.Tensor:
        return parse_input(text).make(torch.Generator().manual_seed(0))

    numbers = make("int64[100]{3..5}")
    assert sorted(numbers.unique().tolist()) == [3, 4, 5]
    assert torch.equal(numbers, make("int64[100]{3..5}"))
    fractions = make("bfloat16[100]{-1..1}")
    assert fractions.dtype == torch.bfloat16
    assert bool((fractions.abs() <= 1).all())
    assert make("bool[3,4]").dtype == torch.bool
    assert make("complex64[3]").dtype == torch.complex64


def test_arguments_are_literals() -> None:
    assert parse_arguments("8, bias=False, sizes=[1, 2], name='a'") == (
        (8,),
        {"bias": False, "sizes": [1, 2], "name": "a"},
    )
    assert parse_arguments("") == ((), {})
    for bad in ("a", "f()", "**{}", "1 +", "1) + f(2"):
        with pytest.raises(BadEntry, match="expected literal arguments"):
            parse_arguments(bad)
