"""The committed tables are what the generator makes of the pinned torch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch.utils._device import _device_constructors

from devlint.semantics import Operation, Rule, aten, function, tables
from devlint.semantics.generate import scalars
from devlint.semantics.generate.aten import overloads
from devlint.semantics.generate.labels import C, Clashed, H, Labels
from devlint.semantics.generate.names import lookup, python_names
from devlint.semantics.generate.write import render, stale, write

VERSION = re.search(r"torch (\S+?)[,\"]", (tables.FOLDER / "aten.json").read_text("utf-8"))


def test_the_tables_are_up_to_date() -> None:
    assert VERSION is not None
    if VERSION[1].split("+")[0] != torch.__version__.split("+")[0]:
        pytest.skip(f"the tables are for torch {VERSION[1]}, installed is {torch.__version__}")
    check = [sys.executable, "-m", "devlint.semantics.generate", "--check"]
    run = subprocess.run(check, capture_output=True, text=True, timeout=600)
    assert (run.returncode, run.stdout) == (0, "")


def test_a_missing_or_changed_table_is_stale_until_written(tmp_path: Path) -> None:
    built = {"first": render({"about": "one"}, {"b": 1, "a": [2]}), "second": "{}"}
    (tmp_path / "second.json").write_text("{ }")
    assert stale(built, tmp_path) == ["first", "second"]
    write(built, tmp_path)
    assert stale(built, tmp_path) == []
    assert json.loads((tmp_path / "first.json").read_text("utf-8"))["rows"] == {"a": [2], "b": 1}


def test_rows_may_repeat_another_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"pair": render({}, {"first": {"x": 1}, "second": "first"})}, tmp_path)
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    assert tables.row("pair", "second") == {"x": 1}
    assert tables.row("pair", "third") is None


def test_generated_and_hand_written_rows_are_apart() -> None:
    for name in ("aten_by_hand", "operations_by_hand", "factories_by_hand"):
        for key, row in tables.rows(name).items():
            assert "tag" in row or set(row) <= {
                "shape",
                "reduced_by",
                "dtype",
                "zero_dim",
                "parameters",
                "result",
                "tuple_with",
                "tuple_without",
            }, key


def test_measured_scalars_of_a_symmetric_operation() -> None:
    assert scalars._measure_one("mul.Tensor") == ["self", "other"]
    assert scalars._measure_one("bitwise_and.Tensor") == ["self", "other"]
    assert scalars._measure_one("index.Tensor") is None


def test_labelled_run_stops_at_the_first_clash_below_autograd() -> None:
    x, y = torch.ones(2, 2), torch.ones(2, 2)
    labels = Labels(aten)
    labels.put(x, C)
    labels.put(y, H)
    with labels, pytest.raises(Clashed, match="mm: mismatch_exact"):
        torch.matmul(x, y)


def test_labelled_run_carries_labels_through_views_and_constants() -> None:
    x = torch.ones(2, 2)
    labels = Labels(aten)
    labels.put(x, C)
    with labels:
        y = (x.t() * 2.0 + torch.zeros(2)).sum()
    assert labels.of(y) == C


@pytest.mark.parametrize("name", ["torch.linalg.solve", "torch.take_along_dim", "torch.outer", "torch.hstack"])
def test_composites_are_judged_by_what_they_call(name: str) -> None:
    found = function(name)
    assert isinstance(found, Operation)
    assert found.rule is Rule.EXACT_SAME
    assert found.basis


def test_what_no_run_can_settle_is_unknown() -> None:
    unknown = [n for n, row in tables.rows("operations").items() if row["rule"] == "unknown"]
    settled = [n for n in unknown if "rule" in tables.rows("operations_by_hand").get(n, {})]
    assert len(unknown) - len(settled) < 60


def test_every_constructor_torch_lists_is_a_factory() -> None:
    known = {id(lookup(name)) for name in tables.rows("factories")}
    assert all(id(constructor) in known for constructor in _device_constructors())


def test_every_function_with_a_device_is_a_factory_or_a_transfer() -> None:
    made = python_names(overloads())
    options = {
        name
        for name, found in made.items()
        for o in found.overloads
        if o.function.func.arguments.tensor_options
        or any(a.name == "device" for a in o.function.func.arguments.flat_all)
    }
    public = {name for name in options if not name.rsplit(".", 1)[-1].startswith("_")}
    assert public - set(tables.rows("factories")) == {"Tensor.is_pinned", "Tensor.pin_memory", "Tensor.to"}
