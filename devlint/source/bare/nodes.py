"""Making LibCST nodes with some of their fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

import libcst as cst

Node = TypeVar("Node", bound=cst.CSTNode)


class NeedsLayout(Exception):
    """Only LibCST's own tree can tell: syntax that is not known here, or a question about what bare nodes lack."""


def maker(cls: type[Node], *fields: str) -> Callable[..., Node]:
    """A function that makes a node of these fields, given in this order, none of them checked.

    LibCST's own constructors cost five times as much: they fill in white space and validate it. An expression is made
    as one without parentheses.
    """
    setters: list[Any] = [getattr(cls, field).__set__ for field in fields]
    new: Any = object.__new__
    if cst.BaseExpression in cls.__mro__:  # asked a hundred times at the start, where an abstract class answers slowly
        # Most nodes are names, attributes, calls and their like, so these are made without a loop.
        made = _expression_maker(cls, setters, cls.lpar.__set__)  # type: ignore[attr-defined]
        if made is not None:
            return made
        setters.append(cls.lpar.__set__)  # type: ignore[attr-defined]

        def make_expression(*values: Any) -> Node:
            node: Node = new(cls)
            for set_field, value in zip(setters, (*values, ()), strict=True):
                set_field(node, value)
            return node

        return make_expression

    def make(*values: Any) -> Node:
        node: Node = new(cls)
        for set_field, value in zip(setters, values, strict=True):
            set_field(node, value)
        return node

    return make


def _expression_maker(cls: type[Node], setters: list[Any], set_lpar: Any) -> Callable[..., Node] | None:
    """One for one or two fields; None for other numbers."""
    new: Any = object.__new__
    if len(setters) == 1:
        set_only = setters[0]

        def make_of_one(value: Any) -> Node:
            node: Node = new(cls)
            set_only(node, value)
            set_lpar(node, ())
            return node

        return make_of_one
    if len(setters) == 2:
        set_first, set_second = setters

        def make_of_two(first: Any, second: Any) -> Node:
            node: Node = new(cls)
            set_first(node, first)
            set_second(node, second)
            set_lpar(node, ())
            return node

        return make_of_two
    return None


def is_bare(node: cst.CSTNode) -> bool:
    """Whether a node was made here."""
    field = _layout_of(type(node))
    return field is not None and not hasattr(node, field)


@cache
def _layout_of(cls: type[cst.CSTNode]) -> str | None:
    """A field that tells of layout alone; None for a type that has none."""
    names = [field.name for field in fields(cls)]
    return next((name for name in names if name in _LAYOUT or name.startswith("whitespace_")), None)


_LAYOUT = frozenset({"rpar", "comma", "leading_lines", "header", "semicolon"})


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
