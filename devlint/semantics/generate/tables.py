"""All generated tables in one go."""

from __future__ import annotations

import torch

from devlint.semantics.generate import aten, factories, names, rows, scalars
from devlint.semantics.generate.write import render


def build() -> dict[str, str]:
    """The text of every generated table by its name."""
    source = f"torch {torch.__version__}, written by python -m devlint.semantics.generate; do not edit"
    overloads = aten.overloads()
    python = names.python_names(overloads)
    aten_rows = rows.aten_rows(overloads, scalars.measure(_iterators(overloads)))
    operations = {name: rows.python_row(n, aten_rows) for name, n in python.items()}
    return {
        "aten": render({"provenance": source}, aten_rows),
        "operations": render({"provenance": source}, operations),
        "factories": render({"provenance": source}, factories.factory_rows(python)),
    }


def _iterators(overloads: dict[str, aten.Overload]) -> list[str]:
    """The functional TensorIterator overloads of two or more tensors."""
    return [
        name
        for name, o in overloads.items()
        if o.rule == "tensor_iterator" and len(o.tensors) > 1
        if not o.function.func.arguments.out and not o.function.func.name.name.inplace
    ]
