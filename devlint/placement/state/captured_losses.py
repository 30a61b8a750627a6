"""Losses that a function builds and that the function which it gives back computes with.

``ce = nn.CrossEntropyLoss(weight=torch.tensor(w)); return lambda out, y: ce(out, y)``: whoever calls what is given back
has no way to move the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import Module
from devlint.placement.domain.provenance import StepKind
from devlint.placement.state.handed_on_modules import hands_on
from devlint.placement.syntax.nodes import code_of, inner_nodes, path_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def is_captured_for_good(interp: Interpreter, module: Module, node: cst.BaseExpression) -> bool:
    """Whether a loss of torch is called that the definition around this one made, and moves nowhere afterwards."""
    step = module.provenance.step if module.provenance is not None else None
    row = semantics.module(module.type_name) if module.type_name else None
    if step is None or step.kind is not StepKind.MADE or row is None or not row.loss:
        return False
    path, info = path_of(node), interp.info
    if path is None or info is None or path in interp.state.values or interp.closure.get(path) != module:
        return False
    around = next((one for one in interp.index.functions.values() if one.qualname == step.scope.qualname), None)
    if around is None or not interp.scope.qualname.startswith(f"{step.scope.qualname}."):
        return False
    nodes = inner_nodes(around.node)
    moved = any(type(child) is cst.Call and _is_method_of(child, path) for child in nodes)
    return not moved and _gives_back(nodes, info.header) and not hands_on(around.node, path)


def _is_method_of(call: cst.Call, path: str) -> bool:
    """``ce.to(device)``."""
    return isinstance(call.func, cst.Attribute) and code_of(call.func.value) == path


def _gives_back(nodes: list[cst.CSTNode], header: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether a ``return`` among the nodes gives a nested definition, by itself or by a name."""
    names = {header.name.value} if isinstance(header, cst.FunctionDef) else set()
    for child in nodes:
        if type(child) is cst.Assign and child.value is header:
            names.update(code_of(target.target) for target in child.targets)
    given = [child.value for child in nodes if type(child) is cst.Return and child.value is not None]
    return any(value is header or code_of(value) in names for value in given)
