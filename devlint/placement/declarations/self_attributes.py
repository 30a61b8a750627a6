"""How a method uses the attributes of ``self``, by syntax alone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.syntax.nodes import FunctionNode, descend
from devlint.source.outline import REGISTERING, OwnNames


def own_names(node: FunctionNode) -> OwnNames:
    """The same facts that :mod:`devlint.source.outline` reads from :mod:`ast`, read from a LibCST tree."""
    first = node.params.params[:1]
    if not first:
        return OwnNames()
    me = first[0].name.value
    mentioned = frozenset(
        child.attr.value
        for child in descend(node.body)
        if isinstance(child, cst.Attribute) and isinstance(child.value, cst.Name) and child.value.value == me
    )
    return OwnNames(mentioned, frozenset(_stored(node, me)), frozenset(_registered(node)))


def _stored(node: FunctionNode, me: str) -> Iterator[str]:
    for child in descend(node):
        targets: list[cst.BaseExpression] = []
        if isinstance(child, cst.Assign):
            targets = [target.target for target in child.targets]
        elif isinstance(child, (cst.AnnAssign, cst.AugAssign)):
            targets = [child.target]
        for target in targets:
            for one in target.elements if isinstance(target, (cst.Tuple, cst.List)) else [target]:
                value = one.value if isinstance(one, cst.BaseElement) else one
                if isinstance(value, cst.Attribute) and isinstance(value.value, cst.Name) and value.value.value == me:
                    yield value.attr.value


def count_stores(node: FunctionNode, name: str) -> int:
    """How many statements of a method assign an attribute of ``self``."""
    first = node.params.params[:1]
    return sum(stored == name for stored in _stored(node, first[0].name.value)) if first else 0


def _registered(node: FunctionNode) -> Iterator[str]:
    for child in descend(node.body):
        if isinstance(child, cst.Call) and _registers(child):
            for argument in child.args:
                yield from _attributes(argument.value)
        elif isinstance(child, cst.For) and any(
            isinstance(inner, cst.Call) and _registers(inner) for inner in descend(child.body)
        ):
            yield from _attributes(child.iter)


def _registers(call: cst.Call) -> bool:
    function = call.func
    name = function.attr.value if isinstance(function, cst.Attribute) else getattr(function, "value", "")
    return name in REGISTERING


def _attributes(node: cst.BaseExpression) -> Iterator[str]:
    for child in descend(node):
        if isinstance(child, cst.Attribute) and isinstance(child.value, cst.Name) and child.value.value == "self":
            yield child.attr.value
