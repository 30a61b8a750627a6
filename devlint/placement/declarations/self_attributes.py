"""What the methods of a class do with the attributes of ``self``, by their source alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.syntax.nodes import FunctionNode, descend
from devlint.source.outline import REGISTERING, OwnNames

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo


def own_names(node: FunctionNode) -> OwnNames:
    """What :mod:`devlint.source.outline` reads from :mod:`ast`, read from a LibCST tree."""
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


def registered_attributes(info: ClassInfo) -> frozenset[str]:
    """Attributes of a class that stand in an argument of a registering call, or are looped over around one."""
    return frozenset().union(*(method.own.registered for method in info.methods.values()))


def builders_of(info: ClassInfo) -> tuple[FunctionInfo, ...]:
    """Methods that are parts of the constructor: ``__init__`` calls them on ``self``, and nothing else here does."""
    init = info.methods.get("__init__")
    if init is None:
        return ()
    elsewhere = {name for m in info.methods.values() if m is not init for name in m.own.mentioned}
    called = init.own.mentioned
    return tuple(
        method
        for method in info.methods.values()
        if method.stores
        and method.name in called
        and method.name not in elsewhere
        and not method.decorators
        and method.stores.isdisjoint(init.stores)
        and method.name not in ("forward", "to", "cuda")
    )


def serves_constructor(info: ClassInfo, name: str) -> bool:
    """Whether a private method is called by ``__init__`` alone: when it runs, nothing has been moved yet."""
    init = info.methods.get("__init__")
    if init is None or not name.startswith("_") or name.startswith("__") or name not in init.own.mentioned:
        return False
    return not any(name in m.own.mentioned for m in info.methods.values() if m is not init)
