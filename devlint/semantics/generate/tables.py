"""All generated tables in one go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from devlint.semantics.generate import aten, factories, facts, modules, names, probe, rows, samples, scalars, written
from devlint.semantics.generate.write import render
from devlint.semantics.operation import Operation
from devlint.semantics.rulebook import aten_operation

Row = dict[str, Any]


def build() -> dict[str, str]:
    """The text of every generated table by its name."""
    torch.set_num_threads(1)
    overloads = aten.overloads()
    python = names.python_names(overloads)
    aten_rows = rows.aten_rows(overloads, scalars.measure(_iterators(overloads)))
    source = f"torch {torch.__version__}, written by python -m devlint.semantics.generate; do not edit"
    operations = _operations(python, aten_rows)
    return {
        "aten": render({"provenance": source}, aten_rows),
        "operations": render({"provenance": source}, operations),
        "factories": render({"provenance": source}, factories.factory_rows(python)),
        "modules": render({"provenance": source}, modules.module_rows(operations)),
    }


def _iterators(overloads: dict[str, aten.Overload]) -> list[str]:
    """The functional TensorIterator overloads of two or more tensors."""
    return [
        name
        for name, o in overloads.items()
        if o.rule == "tensor_iterator" and len(o.tensors) > 1
        if not o.function.func.arguments.out and not o.function.func.name.name.inplace
    ]


def _operations(python: dict[str, names.PythonName], aten_rows: dict[str, Row]) -> dict[str, Row]:
    """Every public Python name: the yaml's row, and over it what running the function showed."""

    def lookup(name: str) -> Operation:
        return aten_operation(name, aten_rows.get(name))

    found = {name: rows.python_row(n, aten_rows) for name, n in python.items() if _public(name)}
    tried = {s.name: s for s in samples.sampled()}
    for name in written.written_in_python():
        known = tried[name].samples if name in tried else []
        parameters = written.parameters(name, known)
        several = sum(p.kind != "other" for p in parameters) > 1 or any(p.kind == "tensors" for p in parameters)
        found[name] = {"parameters": rows.encode(parameters), "rule": "unknown" if several else "exact_same"}
    for name, sampled in tried.items():
        if name in found:
            _add_observed(found[name], name, sampled, python, lookup)
    for name in sorted(found):
        if name.startswith("Tensor."):
            _follow_function(found, name)
    return found


def _public(name: str) -> bool:
    short = name.rsplit(".", 1)[-1]
    return not short.startswith("_") or short.startswith("_foreach_")


def _add_observed(
    row: Row,
    name: str,
    sampled: samples.Sampled,
    python: dict[str, names.PythonName],
    lookup: Callable[[str], Operation],
) -> None:
    parameters = names.parameters(python[name]) if name in python else written.parameters(name, sampled.samples)
    if row["rule"] == "unknown":
        trials = probe.try_all(sampled.samples, lookup)
        row |= probe.derive(trials, parameters, sampled.direct)
        if not trials.arguments and trials.ran:
            row["rule"] = "exact_same"
    pointwise = name in python and any("pointwise" in o.function.tags for o in python[name].overloads)
    concluded = facts.conclude(facts.observe(sampled.samples, parameters), pointwise, parameters)
    row |= {k: v for k, v in concluded.items() if k not in row}


def _follow_function(found: dict[str, Row], name: str) -> None:
    """A method judged and shaped as the function of its name; in place, its own target is no CPU scalar."""
    row = found[name]
    short = name.removeprefix("Tensor.")
    functions = (f"torch.{short}", f"torch.{short.removesuffix('_')}", f"torch.nn.functional.{short}")
    twin = next((found[f] for f in functions if f in found), None)
    if twin is None:
        return
    rename: dict[str, str] = {first(twin["parameters"]): "self"}
    keys = ("clash", "scalar_clash", "basis", "odd", "zero_dim", "free", "cpu_arguments")
    if row["rule"] == "unknown":
        row["rule"] = twin["rule"]
        row |= {k: " ".join(rename.get(w, w) for w in twin[k].split(" ")) for k in keys if k in twin}
    if row.get("in_place"):
        row["zero_dim"] = " ".join(w for w in row.get("zero_dim", "").split() if w != "self")
        if not row["zero_dim"]:
            del row["zero_dim"]
        return
    row |= {k: v for k, v in twin.items() if k in ("shape", "reduced_by", "dtype") and k not in row}


def first(parameters: str) -> str:
    """The first name of an encoded parameter list."""
    return parameters.split(" ")[0].split("|")[0].lstrip("-[]")
