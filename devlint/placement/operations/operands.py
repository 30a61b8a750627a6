"""Operands: the values of a call, bound to the parameters of an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from devlint.placement.declarations.evidence_rows import ALWAYS_TENSORS, OF_TWO_TENSORS
from devlint.placement.domain.abstract_values import (
    Container,
    Opaque,
    Tensor,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import (
    UNKNOWN,
    Device,
    SameAs,
)
from devlint.placement.domain.provenance import Provenance
from devlint.records import dataclass
from devlint.semantics import Dim, Operation, Relation, library_models

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class Bound:
    """A value bound to a parameter. ``strict``: only a tensor is accepted."""

    role: str
    value: Value
    node: cst.CSTNode
    strict: bool = False
    direct: bool = True
    """Passed as this parameter itself, not as an element of a list."""


def bind(operation: Operation, call: CallSite, receiver: tuple[Value, cst.CSTNode] | None = None) -> list[Bound]:
    """The arguments of a call, bound to the operation's parameters by Python's rules."""
    parameters = list(operation.parameters)
    bound: list[Bound] = []
    if receiver is not None and parameters:
        first = parameters.pop(0)
        bound.append(Bound(first.name, receiver[0], receiver[1], strict=True))
    names = {name: parameter for parameter in parameters for name in (parameter.name, *parameter.also)}
    positional = [parameter for parameter in parameters if not parameter.keyword_only]
    position = 0
    for argument in call.arguments:
        if argument.star == "**":
            continue
        if argument.keyword is not None:
            parameter = names.get(argument.keyword)
            if parameter is None and not bound and argument.keyword in ("input", "self") and positional:
                parameter = positional[0]
        elif argument.star == "*":
            last = positional[-1] if positional and positional[-1].kind == "tensors" else None
            spread = isinstance(argument.value, Container) and argument.value.rest is None
            if last is not None and not spread:
                # What a list without a rest holds stands before it.
                bound += _spread(last.name, argument.value, argument.node)
            break
        else:
            parameter = positional[position] if position < len(positional) else None
            if parameter is None and positional and positional[-1].kind == "tensors":
                parameter = positional[-1]
            position += 1
        if parameter is None or parameter.kind == "other":
            continue
        if parameter.kind == "tensors":
            bound += _spread(parameter.name, argument.value, argument.node)
        else:
            leading = not bound and (parameter.name not in operation.zero_dim or _takes_no_number_first(operation))
            leading = leading and not library_models.takes_images(operation.name)
            second = parameter.name == "other" and operation.name in OF_TWO_TENSORS
            strict = leading or second or parameter.name in ALWAYS_TENSORS
            bound.append(Bound(parameter.name, argument.value, argument.node, strict))
    return bound


_NUMBER_FIRST = ("pow", "where", "bitwise_", "special", "xlogy", "remainder", "float_power", "result_type")
"""Functions whose first operand may be a number."""


def _takes_no_number_first(operation: Operation) -> bool:
    return operation.name.startswith("torch.") and not any(part in operation.name for part in _NUMBER_FIRST)


def _spread(role: str, value: Value, node: cst.CSTNode) -> list[Bound]:
    if isinstance(value, Container):
        nodes = element_nodes(node, value)
        bound = [
            Bound(role, item, element, strict=True, direct=False)
            for item, element in zip(value.items, nodes, strict=True)
        ]
        if value.rest is not None:
            bound.append(Bound(role, value.rest, node, strict=True, direct=False))
        return bound
    if isinstance(value, (Tensor, Opaque)):
        return [Bound(role, value, node, strict=isinstance(value, Tensor), direct=False)]
    return []


Node = TypeVar("Node", bound=cst.CSTNode)


def element_nodes(node: Node, value: Container) -> list[Node | cst.BaseExpression]:
    """The nodes of the items, if the container is a display where it is handed over, else its own for each."""
    if isinstance(node, (cst.List, cst.Tuple, cst.Set, cst.Dict)) and len(node.elements) == len(value.items):
        return [element.value for element in node.elements]
    return [node] * len(value.items)


def operator_operands(
    operation: Operation, left: tuple[Value, cst.BaseExpression], right: tuple[Value, cst.BaseExpression]
) -> list[Bound]:
    roles = [parameter.name for parameter in operation.parameters[:2]] or ["self", "other"]
    # ``@`` accepts no numbers, and no tensor together with an array.
    strict = operation.name in ("operator.matmul", "operator.imatmul")
    return [Bound(role, value, node, strict) for role, (value, node) in zip(roles, (left, right), strict=True)]


def device_of_value(value: Value) -> Device:
    return value.device if isinstance(value, (Tensor, Opaque)) else UNKNOWN


def left_behind(interp: Interpreter, value: Value) -> bool:
    """Whether it is an item of a batch that was not moved although another item of the batch was."""
    return moved_beside(interp, value) is not None


def moved_beside(interp: Interpreter, value: Value) -> Device | None:
    """Where another item of its batch was moved; None if it is no item of a batch, or none was."""
    device = device_of_value(value)
    return interp.state.moved_groups.get(device.symbol.key) if isinstance(device, SameAs) else None


def provenance_of(value: Value) -> Provenance | None:
    return value.provenance if isinstance(value, (Tensor, Opaque)) else None


def dim_of(value: Value) -> Dim:
    return value.dim if isinstance(value, Tensor) else Dim.UNKNOWN


def same_or_apart(a: object, b: object) -> Relation:
    """The relation of two places that counts as DIFFERENT unless they are equal."""
    return Relation.SAME if a == b else Relation.DIFFERENT
