"""Making LibCST nodes with some of their fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import libcst as cst

Node = TypeVar("Node", bound=cst.CSTNode)


class NeedsLayout(Exception):
    """Only LibCST's own tree can tell: syntax that is not known here, or a question about what bare nodes lack."""


def maker(cls: type[Node], *fields: str) -> Callable[..., Node]:
    """A function that makes a node of these fields, given in this order, none of them checked.

    LibCST's own constructors cost five times as much: they fill in white space and validate it. An expression is made
    as one without parentheses. Composed as text, as :func:`collections.namedtuple` does, since each call counts.
    """
    given = {field: getattr(cls, field).__set__ for field in fields}
    lines = [f"    set_{field}(node, {field})" for field in fields]
    if issubclass(cls, cst.BaseExpression):
        given["lpar"] = cls.lpar.__set__  # type: ignore[attr-defined]
        lines.append("    set_lpar(node, ())")
    names: dict[str, Any] = {f"set_{field}": setter for field, setter in given.items()}
    names.update(new=object.__new__, cls=cls)
    header = f"def make({', '.join(fields)}):\n    node = new(cls)\n"
    exec("\n".join([header.rstrip("\n"), *lines, "    return node"]), names)
    made: Callable[..., Node] = names["make"]
    return made


def is_bare(node: cst.CSTNode) -> bool:
    """Whether an expression or a statement was made here."""
    return not hasattr(node, "rpar" if isinstance(node, cst.BaseExpression) else "leading_lines")


name = maker(cst.Name, "value")
integer = maker(cst.Integer, "value")
string = maker(cst.SimpleString, "value")
attribute = maker(cst.Attribute, "value", "attr")


def optional_name(text: str | None) -> cst.Name | None:
    return None if text is None else name(text)


def dotted(text: str) -> cst.Name | cst.Attribute:
    """``a.b.c`` as nodes."""
    first, *rest = text.split(".")
    node: cst.Name | cst.Attribute = name(first)
    for part in rest:
        node = attribute(node, name(part))
    return node
