"""The keys of the symbols that stand for where a caller has what it hands to a definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo


def symbol_key(info: FunctionInfo, parameter: str) -> str:
    """The key of the symbol of a parameter; for the empty name what the keys of all of them begin with."""
    return f"{info.qualname}:{info.key}:{parameter}"
