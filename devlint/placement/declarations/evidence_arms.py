"""Arms that a test of the type opens: what a name is used as there says nothing of what it may be besides.

if isinstance(value, torch.Tensor):
    value = value.detach().cpu()        a tensor, if it is one
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.declarations.imports import ImportTable
from devlint.placement.syntax.nodes import descend, dotted

BRANCHES = frozenset({cst.If, cst.IfExp, cst.BooleanOperation})


def arm_of_tensors(node: cst.CSTNode, imports: ImportTable) -> tuple[str, Iterator[cst.CSTNode]] | None:
    """The name that a branch takes for a tensor in its first arm, and the nodes of that; None for any other branch."""
    match node:
        case cst.If(test=test, body=arm) | cst.IfExp(test=test, body=arm):
            name = _tested(test, imports)
        case cst.BooleanOperation(left=test, operator=cst.And(), right=arm):
            name = _tested(test, imports)
        case _:
            return None
    return (name, descend(arm)) if name else None


def _tested(test: cst.BaseExpression, imports: ImportTable) -> str:
    """``x``, of ``isinstance(x, torch.Tensor)`` and ``torch.is_tensor(x)``, also beside other conditions."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return _tested(test.left, imports) or _tested(test.right, imports)
    if not isinstance(test, cst.Call) or not test.args or not isinstance(test.args[0].value, cst.Name):
        return ""
    name, asked = imports.qualified(dotted(test.func)), test.args[0].value.value
    if name == "torch.is_tensor":
        return asked
    classes = test.args[1].value if name == "isinstance" and len(test.args) == 2 else None
    if classes is None:
        return ""
    parts = [one.value for one in classes.elements] if isinstance(classes, cst.Tuple) else [classes]
    return asked if any(imports.qualified(dotted(part)) == "torch.Tensor" for part in parts) else ""
