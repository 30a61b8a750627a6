"""Which attributes and methods of a class belong to its construction, by the attributes that its methods read."""

from __future__ import annotations

from devlint.placement.declarations.definitions import ClassInfo


def registered_attributes(info: ClassInfo) -> frozenset[str]:
    """Attributes that occur in an argument of a registering call, or in the iterable of a loop that contains one."""
    return frozenset().union(*(method.own.registered for method in info.methods.values()))


def serves_constructor(info: ClassInfo, name: str) -> bool:
    """Whether only the constructor calls a private method: when it runs, nothing has been moved yet."""
    if not name.startswith("_") or name.startswith("__"):
        return False
    return info.methods.get(name) in info.construction


def serves_forward(info: ClassInfo, name: str) -> bool:
    """Whether a method is called by ``forward``, not by ``__init__``, and stores nothing: it is no part of building."""
    method, forward, init = (info.methods.get(one) for one in (name, "forward", "__init__"))
    if method is None or forward is None or method.stores or name not in forward.own.mentioned:
        return False
    return init is None or name not in init.own.mentioned
