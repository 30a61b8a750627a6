"""Modules that wrap what is registered already: `Block(layer)` of a layer of `self.backbone` holds its parameters.

Who moves the module around them moves those, by the name of the part that they are registered under.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Module, Value
from devlint.placement.domain.provenance import StepKind

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo


def wraps_a_part(value: Value, owner: ClassInfo) -> bool:
    """Whether a module is made of one that comes out of a part of ``self``, and makes no layer of its own for sure."""
    first = value.provenance.first if isinstance(value, Module) and value.provenance is not None else None
    if first is None or first.kind is not StepKind.MADE or not isinstance(value, Module) or value.info is None:
        return False
    methods = (method for one in owner.order for method in one.methods.values())
    method = next((method for method in methods if first.scope.qualname == method.qualname), None)
    parts = _parts_in_turn(method.node) if method is not None else frozenset()
    return bool(parts) and _is_given_one(first.node, parts) and not _makes_layers(value.info)


def _parts_in_turn(method: cst.CSTNode) -> frozenset[str]:
    """The names of loops over what a part holds: ``for i, layer in enumerate(self.net.layers):``."""
    import libcst as cst

    from devlint.placement.syntax.nodes import code_of, descend

    found: set[str] = set()
    for node in descend(method):
        # A list of the module's own, `self.sizes`, is no part of a part.
        if isinstance(node, (cst.For, cst.CompFor)) and any(
            isinstance(one, cst.Attribute) and code_of(one).startswith("self.") and code_of(one).count(".") > 1
            for one in (node.iter, *descend(node.iter))
        ):
            found.update(one.value for one in (node.target, *descend(node.target)) if isinstance(one, cst.Name))
    return frozenset(found)


def _is_given_one(call: cst.CSTNode, parts: frozenset[str]) -> bool:
    import libcst as cst

    values = [argument.value for argument in call.args] if isinstance(call, cst.Call) else []
    return any(isinstance(value, cst.Name) and value.value in parts for value in values)


def _makes_layers(info: ClassInfo) -> bool:
    """Whether a constructor makes a layer or a parameter under no condition: ``self.down = nn.Linear(8, 2)``."""
    import libcst as cst

    from devlint.placement.syntax.nodes import body_of, dotted

    for method in info.constructors:
        body = method.node.body
        for statement in body_of(body) if isinstance(body, cst.BaseSuite) else ():
            value = statement.value if isinstance(statement, cst.Assign) else None
            name = (dotted(value.func) or "") if isinstance(value, cst.Call) else ""
            if name.startswith(("nn.", "torch.nn.")) or name.endswith("Parameter"):
                return True
    return False
