"""Modules that one of their methods brings to a device for its work and back to the CPU: they rest there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.syntax.literal_devices import is_the_cpu
from devlint.placement.syntax.nodes import FunctionNode, descend, is_name


def rests_on_the_cpu(method: FunctionInfo) -> bool:
    """Whether ``self`` is on the CPU in a method, as one that works elsewhere brings it back: ``self.to("cpu")``.

    Not in ``forward``, and not in what the method that works elsewhere calls (fixture `brought_back_after_work`).
    """
    owner = method.owner
    if owner is None or not owner.is_module or method.name in _FORWARD:
        return False
    at_work: frozenset[str] = owner.memoised("methods at work", _at_work, frozenset())
    return bool(at_work) and method.name not in at_work


_FORWARD = frozenset({"forward", "__call__"})


def _at_work(info: ClassInfo) -> frozenset[str]:
    """The methods that run while the object may be elsewhere; none if no method brings it back."""
    methods: dict[str, list[FunctionInfo]] = {}
    for one in info.order:
        for method in one.methods.values():
            methods.setdefault(method.name, []).append(method)
    working = {name for name, found in methods.items() if any(m.places_itself and _comes_back(m) for m in found)}
    if not working:
        return frozenset()
    reached: set[str] = set()
    open_names: set[str] = working | _FORWARD
    while open_names:
        reached |= open_names
        bodies = [method for name in open_names for method in methods.get(name, ())]
        for body in bodies:
            body.depend_on_body()
        open_names = {name for body in bodies for name in body.own.mentioned if name in methods} - reached
    return frozenset(reached)


def _comes_back(method: FunctionInfo) -> bool:
    """Whether the last transfer of ``self`` is to the CPU, and one before it elsewhere."""
    return method.find(_goes_and_returns)


def _goes_and_returns(node: FunctionNode) -> bool:
    places = list(_own_transfers(descend(node.body)))
    return len(places) > 1 and places[-1] and not all(places)


def _own_transfers(nodes: Iterable[cst.CSTNode]) -> Iterator[bool]:
    """For each ``self.to(...)`` in turn whether it goes to the CPU."""
    for node in nodes:
        match node:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="cpu" | "cuda" as name))):
                if is_name(value, "self"):
                    yield name == "cpu"
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="to")), args=[cst.Arg(value=place), *_]):
                if is_name(value, "self"):
                    yield is_the_cpu(place)
