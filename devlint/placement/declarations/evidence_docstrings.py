"""Types that the docstrings of definitions state."""

from __future__ import annotations

import libcst as cst

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.syntax.nodes import FunctionNode, body_of, string_value
from devlint.source.docstring_types import types_stated


def documented_parameters(info: FunctionInfo) -> dict[str, str]:
    """The type of each parameter whose type is documented; those of a constructor by the class's docstring as well."""
    of_class = documented_types(info.owner.node) if info.name == "__init__" and info.owner is not None else {}
    return of_class | documented_types(info.node)


def documented_types(node: FunctionNode | cst.ClassDef) -> dict[str, str]:
    """The type of each parameter whose type the docstring states, in its words."""
    return types_stated(docstring_of(node))


def docstring_of(node: cst.CSTNode | None) -> str:
    """The text of a definition's docstring; empty without one, and for other nodes."""
    if not isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return ""
    first = next(iter(body_of(node.body)), None)
    if isinstance(first, cst.SimpleStatementLine):
        first = first.body[0]
    if not isinstance(first, cst.Expr) or not isinstance(first.value, cst.SimpleString):
        return ""
    text = string_value(first.value.value)
    return text if isinstance(text, str) else ""
