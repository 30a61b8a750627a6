"""What the methods of a class do with the attributes of ``self``, by their source alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.syntax import descend

if TYPE_CHECKING:
    from devlint.placement.index import ClassInfo, FunctionInfo


def stored_attributes(method: FunctionInfo) -> list[str]:
    """Names of ``self.name = ...`` anywhere in a method."""
    first = method.node.params.params[:1]
    if not first or method.is_static:
        return []
    me = first[0].name.value
    found = []
    for node in descend(method.node):
        targets: list[cst.BaseExpression] = []
        if isinstance(node, cst.Assign):
            targets = [target.target for target in node.targets]
        elif isinstance(node, (cst.AnnAssign, cst.AugAssign)):
            targets = [node.target]
        for target in targets:
            for one in target.elements if isinstance(target, (cst.Tuple, cst.List)) else [target]:
                value = one.value if isinstance(one, cst.BaseElement) else one
                if isinstance(value, cst.Attribute) and isinstance(value.value, cst.Name) and value.value.value == me:
                    found.append(value.attr.value)
    return found


def builders_of(info: ClassInfo) -> tuple[FunctionInfo, ...]:
    """Methods that are parts of the constructor: ``__init__`` calls them on ``self``, and nothing else here does."""
    init = info.methods.get("__init__")
    if init is None:
        return ()
    elsewhere = {name for m in info.methods.values() if m is not init for name in _own_names(m)}
    called = _own_names(init)
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
    if init is None or not name.startswith("_") or name.startswith("__") or name not in _own_names(init):
        return False
    return not any(name in _own_names(m) for m in info.methods.values() if m is not init)


def _own_names(method: FunctionInfo) -> frozenset[str]:
    """Attributes of ``self`` that a method mentions."""
    first = method.node.params.params[:1]
    if not first:
        return frozenset()
    me = first[0].name.value
    return frozenset(
        node.attr.value
        for node in descend(method.node.body)
        if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.value.value == me
    )
