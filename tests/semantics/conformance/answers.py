"""What devlint's judge, its simulated machine and PyTorch's FakeTensorMode say of a row."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from devlint.runtime.simulated import NotSimulated, simulate
from devlint.semantics import classify
from devlint.semantics.record.places import names
from devlint.semantics.record.row import Row, run, tensors_in
from tests.semantics.conformance.evidence import DEVICE_ERRORS
from tests.semantics.row_code import judge_row

Verdict = Literal["ok", "clash", "unclear"]


@dataclass(frozen=True)
class Answer:
    """`unclear`: it cannot say (`detail`: why). `devices`: those of the result, where the oracle tells them."""

    verdict: Verdict
    detail: str = ""
    devices: tuple[str, ...] | None = None


def judged(row: Row) -> Answer:
    """The judge, asked at each call of the row by the names a program uses."""
    try:
        outcome = judge_row(row.code)
    except Exception as error:
        return Answer("unclear", f"{type(error).__name__}: {error}")
    if outcome.verdict == "clash":
        return Answer("clash", outcome.detail or "")
    if outcome.verdict == "unclear":
        return Answer("unclear", outcome.detail or "")
    return Answer("ok", devices=None if outcome.detail is None else (outcome.detail,))


def simulated(chosen: Sequence[Row]) -> list[Answer]:
    """The simulated machine with two devices, every row in a simulation of its own."""
    return [_run(row, simulate) for row in chosen]


def faked(chosen: Sequence[Row]) -> list[Answer]:
    """PyTorch's FakeTensorMode."""
    return [_run(row, lambda: FakeTensorMode(allow_non_fake_inputs=True)) for row in chosen]


def _run(row: Row, world: Callable[[], object]) -> Answer:
    targets = {"c": "cuda:0", "c1": "cuda:1", "h": "cpu", "m": "mps:0"}
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(), world(), torch.no_grad():  # type: ignore[attr-defined]
            warnings.simplefilter("ignore")
            puts = {key: (lambda tensor, to=to: tensor.to(to)) for key, to in targets.items()}
            namespace = names(puts, lambda key: torch.Generator(targets[key]))
            result = run(row.code, namespace)
            return Answer("ok", devices=tuple(dict.fromkeys(str(t.device) for t in tensors_in(result))))
    except NotSimulated as error:
        return Answer("unclear", f"not simulated: {error.what}")
    except Exception as error:
        kind = classify(str(error))
        if kind is not None and kind.category in DEVICE_ERRORS:
            return Answer("clash", kind.kind)
        return Answer("unclear", f"{type(error).__name__}: {str(error)[:160]}")
