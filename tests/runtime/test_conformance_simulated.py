"""Every conformance row runs on the simulated machine with the outcome expected of CUDA."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from devlint.runtime.labels import set_device
from devlint.runtime.simulated import Machine, simulate
from devlint.semantics import classify

CONTENT = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "semantics" / "conformance_rows.json").read_text("utf-8")
)
ROWS: list[dict[str, Any]] = CONTENT["rows"]


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with simulate(count=2) as running:
        yield running


def names(machine: Machine) -> dict[str, Any]:
    """What a row's code may use. `m` claims mps, which no machine here simulates, by its label alone."""

    def ones(place: str, **options: Any) -> Any:
        return lambda *shape: torch.ones(shape, **options).to(place)

    def on_mps(*shape: int) -> torch.Tensor:
        made = torch.ones(shape)
        set_device(made, torch.device("mps:0"))
        return made

    def indices(place: str) -> Any:
        return lambda *shape: torch.zeros(shape, dtype=torch.int64).to(place)

    return {
        "torch": torch,
        "F": F,
        "c": ones("cuda:0"),
        "h": ones("cpu"),
        "c1": ones("cuda:1"),
        "m": on_mps,
        "ci": indices("cuda:0"),
        "hi": indices("cpu"),
        "cb": ones("cuda:0", dtype=torch.bool),
        "hb": ones("cpu", dtype=torch.bool),
        "cg": lambda: torch.Generator("cuda:0"),
        "hg": lambda: torch.Generator("cpu"),
    }


def outcome(code: str, machine: Machine) -> tuple[str, str | None]:
    """("ok", device type of the result) or ("err", kind)."""
    tree = ast.parse(code)
    last = tree.body[-1]
    scope = names(machine)
    try:
        with torch.no_grad():
            if isinstance(last, ast.Expr):
                exec(compile(ast.Module(tree.body[:-1], []), "row", "exec"), scope)
                value = eval(compile(ast.Expression(last.value), "row", "eval"), scope)
            else:
                exec(compile(tree, "row", "exec"), scope)
                value = None
    except (RuntimeError, TypeError, ValueError) as error:
        found = classify(str(error))
        return "err", found.kind if found else f"{type(error).__name__}: {error}"
    while isinstance(value, list | tuple):
        value = value[0]
    return "ok", value.device.type if isinstance(value, torch.Tensor) else None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS, ids=[row["code"] for row in ROWS])
def test_row_runs_as_on_cuda(row: dict[str, Any], machine: Machine) -> None:
    # `judged`: the kind of text the judge gives where it knows less than PyTorch.
    details = {row["kind"], row.get("judged", row["kind"])} if row["expect"] == "err" else {row["device"]}
    verdict, detail = outcome(row["code"], machine)
    assert verdict == row["expect"]
    assert detail in details
