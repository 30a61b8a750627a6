"""Devices that are kept in a name of which only the type is read: no tensor goes there by it, part of DEV310."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.placement.syntax.nodes import descend, dotted, is_name

if TYPE_CHECKING:
    import libcst as cst


def is_asked_for_its_type(function: cst.CSTNode | None, node: cst.CSTNode) -> bool:
    """`device = torch.device("cuda" if x.is_cuda else "cpu")`, of which all that is read is `device.type`."""
    import libcst as cst

    if not isinstance(function, cst.FunctionDef):
        return False
    name = _kept_in(function, node)
    if name is None:
        return False
    read, of_type = 0, 0
    for part in descend(function.body):
        read += is_name(part, name)
        of_type += isinstance(part, cst.Attribute) and part.attr.value == "type" and is_name(part.value, name)
        # Binding it is no reading, and what an attribute or a keyword is called is another name.
        read -= isinstance(part, cst.AssignTarget) and is_name(part.target, name)
        read -= isinstance(part, cst.Attribute) and part.attr.value == name
        read -= isinstance(part, cst.Arg) and part.keyword is not None and part.keyword.value == name
    return read == of_type > 0


def _kept_in(function: cst.FunctionDef, node: cst.CSTNode) -> str | None:
    """The name that is bound to the device which the node spells, or to the expression itself."""
    import libcst as cst

    for statement in descend(function.body):
        if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0].target, statement.value
            if isinstance(target, cst.Name) and any(part is node for part in _spelled(value)):
                return target.value
    return None


def _spelled(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions that an expression gives in its arms, and what these hand to `torch.device`."""
    import libcst as cst

    yield value
    if isinstance(value, cst.IfExp):
        yield from _spelled(value.body)
        yield from _spelled(value.orelse)
    elif isinstance(value, cst.Call) and (dotted(value.func) or "").rpartition(".")[2] == "device" and value.args:
        yield from _spelled(value.args[0].value)
