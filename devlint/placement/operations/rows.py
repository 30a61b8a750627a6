"""Rows of a matrix, which have a dimension themselves, where the call that made it is what is taken apart."""

from __future__ import annotations

import libcst as cst

from devlint.placement.domain.abstract_values import Tensor, Value
from devlint.placement.domain.provenance import StepKind
from devlint.semantics import Factory

_MATRICES = (".triu_indices", ".tril_indices", ".eye")
"""Factories whose results always have two dimensions."""

_OF_NUMBERS = (".zeros", ".ones", ".empty", ".rand", ".randn")
"""``torch.zeros(2, 3)``: the size is written as so many arguments."""


def gives_rows(value: Value, node: cst.BaseExpression | None) -> bool:
    """``i, j = torch.randint(0, n, (2, k))``: each item of what the call at ``node`` made has a dimension."""
    step = value.provenance.step if isinstance(value, Tensor) and value.provenance is not None else None
    if step is None or step.kind is not StepKind.MADE or step.node is not node or not isinstance(node, cst.Call):
        return False
    factory = step.factory
    return factory is not None and (factory.name.endswith(_MATRICES) or _written_dimensions(factory, node) > 1)


def _written_dimensions(factory: Factory, call: cst.Call) -> int:
    """How many dimensions the size has as it is written; 0 if that does not show it."""
    if factory.default in ("input", "self", "data") or any(argument.star for argument in call.args):
        return 0
    size = next((a.value for a in call.args if a.keyword is not None and a.keyword.value == "size"), None)
    given = [argument.value for argument in call.args if argument.keyword is None]
    if size is None and given:
        if len(given) > 1 and factory.name.endswith(_OF_NUMBERS):
            return len(given)
        # ``torch.randint(high, size)``, ``torch.randint(low, high, size)``.
        size = given[min(len(given) - 1, 2)] if factory.name.endswith(".randint") else given[0]
    if not isinstance(size, (cst.Tuple, cst.List)):
        return 0
    return 0 if any(isinstance(e, cst.StarredElement) for e in size.elements) else len(size.elements)
