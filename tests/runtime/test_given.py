"""What a model is called with, as it is written on a command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from devlint.runtime.given import FromFile, Given, Literal, parse_given, values_of
from devlint.runtime.inputs import BadEntry, Input


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"ids": torch.tensor([3, 9]), "causal": True}, "batch.pt")
    torch.save([torch.ones(2), 5], "pair.pt")
    torch.save(torch.nn.Linear(1, 1), "module.pt")
    np.savez("batch.npz", ids=np.array([3, 9]), mask=np.ones(2))
    np.savez("alone.npz", ids=np.array([3, 9]))
    np.save("ids.npy", np.array([3, 9]))
    Path("broken.pt").write_bytes(b"no archive")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int64[4]{0..9}", Input("int64", (4,), "", 0, 9)),
        ("mask=bool[2, 3]", Input("bool", (2, 3), "mask")),
        ("batch.pt", FromFile("batch.pt")),
        ("x=batch.pt:ids", FromFile("batch.pt", "ids", "x")),
        ("**batch.npz", FromFile("batch.npz", spread="**")),
        ("causal=True", Literal(True, "causal")),
        ("3", Literal(3)),
        ("sizes=[1, 2]", Literal([1, 2], "sizes")),
        ("mode='float32[2]'", Literal("float32[2]", "mode")),
        ("'a=b'", Literal("a=b")),
    ],
)
def test_an_input_is_read(text: str, expected: Given) -> None:
    assert parse_given(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("float32", "is not like `float32[4,16]`, `int64[4]{0..9}`, `batch.pt:key` or `causal=True`"),
        ("float31[2]", "has no dtype of torch"),
        ("causal=yes", "is not like"),
        ("gone.pt", "there is no file gone.pt"),
        ("**x=batch.pt", "what is spread out with ** has no name"),
    ],
)
def test_a_bad_input_says_why(text: str, reason: str) -> None:
    with pytest.raises(BadEntry) as error:
        parse_given(text)
    assert reason in str(error.value)


def arguments(text: str) -> Any:
    by_position, by_name = values_of(parse_given(text), torch.Generator())
    told = {name: v.tolist() if isinstance(v, torch.Tensor) else v for name, v in by_name.items()}
    return [v.tolist() if isinstance(v, torch.Tensor) else v for v in by_position], told


def test_values_of_files_and_literals() -> None:
    assert arguments("batch.pt:ids") == ([[3, 9]], {})
    assert arguments("x=ids.npy") == ([], {"x": [3, 9]})
    assert arguments("alone.npz") == ([[3, 9]], {})
    assert arguments("batch.npz:mask") == ([[1.0, 1.0]], {})
    assert arguments("*pair.pt") == ([[1.0, 1.0], 5], {})
    assert arguments("pair.pt:1") == ([5], {})
    assert arguments("**batch.pt") == ([], {"ids": [3, 9], "causal": True})
    assert arguments("causal=True") == ([], {"causal": True})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("batch.pt:nope", "batch.pt holds no `nope`, only ids, causal"),
        ("pair.pt:2", "pair.pt holds no `2`, it is a list"),
        ("*batch.pt", "batch.pt holds a dict: only a list or a tuple is spread out with *"),
        ("**pair.pt", "pair.pt holds a list: only a dictionary is spread out with **"),
        ("module.pt", "module.pt cannot be read: it holds more than tensors and plain containers"),
        ("broken.pt", "broken.pt cannot be read: "),
    ],
)
def test_a_file_that_does_not_hold_it_says_so(text: str, reason: str) -> None:
    with pytest.raises(BadEntry) as error:
        arguments(text)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)
