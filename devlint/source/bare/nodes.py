"""Making LibCST nodes with some of their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from itertools import zip_longest
from typing import Any, TypeVar

import libcst as cst

Node = TypeVar("Node", bound=cst.CSTNode)


class NeedsLayout(Exception):
    """Only LibCST's own tree can tell: syntax that is not known here, or a question about what bare nodes lack."""


@contextmanager
def reading_bare_nodes() -> Iterator[None]:
    """Raises :class:`NeedsLayout` where a field of a bare node is read that it lacks; lets every other error pass.

    Python sets ``obj`` and ``name`` of an ``AttributeError`` itself, so a slip of the pen (``node.valeu``, an attribute
    of None) is told from a field of that type of node which was left out when the node was made.
    """
    try:
        yield
    except AttributeError as error:
        if isinstance(error.obj, cst.CSTNode) and error.name in _fields_of(type(error.obj)):
            raise NeedsLayout(f"`{error.name}` of a bare {type(error.obj).__name__}") from error
        raise


@cache
def _fields_of(cls: type[cst.CSTNode]) -> frozenset[str]:
    return frozenset(field.name for field in fields(cls))


def maker(cls: type[Node], *fields: str) -> Callable[..., Node]:
    """A function that makes a node of these fields, given in this order, none of them checked.

    LibCST's own constructors cost five times as much: they fill in white space and validate it. An expression is made
    as one without parentheses: these are its last field, which is empty if it is not given.
    """
    names = list(fields)
    if cst.BaseExpression in cls.__mro__:  # asked a hundred times at the start, where an abstract class answers slowly
        names.append("lpar")
    setters: list[Any] = [getattr(cls, name).__set__ for name in names]
    match setters:  # nearly all nodes have few fields, and are made without a loop
        case [only]:
            return _of_one(cls, only)
        case [first, second]:
            return _of_two(cls, first, second)
        case [first, second, third]:
            return _of_three(cls, first, second, third)
        case [first, second, third, fourth]:
            return _of_four(cls, first, second, third, fourth)
        case _:
            return _of_many(cls, *setters)


def _of_one(cls: type[Node], set_only: Any) -> Callable[..., Node]:
    new: Any = object.__new__

    def make_of_one(only: Any = ()) -> Node:
        node: Node = new(cls)
        set_only(node, only)
        return node

    return make_of_one


def _of_two(cls: type[Node], set_first: Any, set_second: Any) -> Callable[..., Node]:
    new: Any = object.__new__

    def make_of_two(first: Any, second: Any = ()) -> Node:
        node: Node = new(cls)
        set_first(node, first)
        set_second(node, second)
        return node

    return make_of_two


def _of_three(cls: type[Node], set_first: Any, set_second: Any, set_third: Any) -> Callable[..., Node]:
    new: Any = object.__new__

    def make_of_three(first: Any, second: Any, third: Any = ()) -> Node:
        node: Node = new(cls)
        set_first(node, first)
        set_second(node, second)
        set_third(node, third)
        return node

    return make_of_three


def _of_four(cls: type[Node], set_first: Any, set_second: Any, set_third: Any, set_fourth: Any) -> Callable[..., Node]:
    new: Any = object.__new__

    def make_of_four(first: Any, second: Any, third: Any, fourth: Any = ()) -> Node:
        node: Node = new(cls)
        set_first(node, first)
        set_second(node, second)
        set_third(node, third)
        set_fourth(node, fourth)
        return node

    return make_of_four


def _of_many(cls: type[Node], *setters: Any) -> Callable[..., Node]:
    new: Any = object.__new__
    nothing: Any = ()

    def make(*values: Any) -> Node:
        node: Node = new(cls)
        for set_field, value in zip_longest(setters, values, fillvalue=nothing):
            set_field(node, value)
        return node

    return make


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
