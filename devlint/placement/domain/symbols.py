"""Symbols: devices that a definition refers to and its callers decide."""

from __future__ import annotations

from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.domain.lattice import Anchor, Symbol


def module_symbol(info: ClassInfo | None) -> Symbol:
    """The device of the parameters of ``self``."""
    key = f"self:{id(info)}" if info is not None else "self"
    return Symbol(Anchor.MODULE, "self", key)


def made_key(key: str) -> str:
    """The key under which the constructions of the class with that symbol key are noted."""
    return f"made:{key}"


HANDED_ON = "handed on"
"""The key under which are noted the arguments of calls that are the caller's own, as they came in."""


def kept_key(key: str) -> str:
    """The key under which the modules are noted that constructions give for the parameter with that symbol key."""
    return f"kept:{key}"
