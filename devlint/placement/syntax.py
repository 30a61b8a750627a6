"""Small questions about LibCST nodes that evaluation asks again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache

import libcst as cst

FunctionNode = cst.FunctionDef | cst.Lambda


def dotted(node: cst.BaseExpression) -> str | None:
    """``a.b.c`` for a chain of names, else None."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


_EMPTY = cst.Module(body=[])


def code_of(node: cst.CSTNode) -> str:
    """The node's source on one line."""
    return " ".join(_EMPTY.code_for_node(node).split())


def binds_like_a_name(node: cst.BaseExpression) -> bool:
    """Whether a dot behind the expression belongs to all of it."""
    return bool(node.lpar) or isinstance(
        node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.List, cst.Dict, cst.Set, cst.ListComp)
    )


def path_of(node: cst.BaseExpression) -> str | None:
    """The key of a place that can be stored to and read back: ``x``, ``self.w``, ``batch['x']``, ``pair[0]``.

    None when the place depends on something that is not written out.
    """
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        base = path_of(node.value)
        return None if base is None else f"{base}.{node.attr.value}"
    if isinstance(node, cst.Subscript) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        index = node.slice[0].slice.value
        if isinstance(index, (cst.SimpleString, cst.Integer)):
            base = path_of(node.value)
            return None if base is None else f"{base}[{literal(index)!r}]"
    return None


def literal(node: cst.BaseExpression) -> object:
    """The value of a literal; raises ValueError where the text is none."""
    if isinstance(node, cst.SimpleString):
        return node.evaluated_value
    if isinstance(node, cst.ConcatenatedString):
        return node.evaluated_value
    if isinstance(node, cst.Integer):
        return int(node.value.replace("_", ""), 0)
    if isinstance(node, cst.Float):
        return float(node.value.replace("_", ""))
    if isinstance(node, cst.Name) and node.value in _NAMED:
        return _NAMED[node.value]
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        number = literal(node.expression)
        if isinstance(number, (int, float)):
            return -number
    raise ValueError(f"not a literal: {type(node).__name__}")


_NAMED: dict[str, object] = {"None": None, "True": True, "False": False}


def descend(node: cst.CSTNode, *, into_definitions: bool = True) -> Iterator[cst.CSTNode]:
    """All nodes under ``node`` that are no whitespace, in the order of the source, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        for child in reversed(semantic_children(current)):
            if not into_definitions and isinstance(child, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
                continue
            stack.append(child)


def semantic_children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The child nodes that carry meaning, by field. (``CSTNode.children`` rebuilds the node to find them.)"""
    found: list[cst.CSTNode] = []
    for name in _semantic_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [child for child in value if isinstance(child, cst.CSTNode)]
    return found


@cache
def _semantic_fields(node_type: type[cst.CSTNode]) -> tuple[str, ...]:
    names = [field.name for field in fields(node_type)]
    return tuple(name for name in names if name not in _TRIVIA and "whitespace" not in name)


_TRIVIA = frozenset(
    """
    lpar rpar lbracket rbracket lbrace rbrace comma equal dot semicolon leading_lines lines_after_decorators
    header footer trailing_whitespace first_colon second_colon indent newline encoding default_indent
    default_newline has_trailing_newline start end prefix quote raw_value asynchronous colon star
    """.split()
)
"""Fields of punctuation, layout and text. ``star`` is a node of its own only where it names nothing."""


def parameters_of(node: FunctionNode) -> list[cst.Param]:
    """All named parameters in call order, without ``*args`` and ``**kwargs``."""
    declared = node.params
    return [*declared.posonly_params, *declared.params, *declared.kwonly_params]


def decorator_names(node: cst.FunctionDef | cst.ClassDef) -> tuple[str, ...]:
    names = []
    for decorator in node.decorators:
        expression = decorator.decorator
        if isinstance(expression, cst.Call):
            expression = expression.func
        names.append(dotted(expression) or "")
    return tuple(names)


def body_of(block: cst.BaseSuite | cst.Module) -> Iterator[cst.CSTNode]:
    """The statements of a block, small statements of one line apart."""
    for statement in block.body:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from statement.body
        else:
            yield statement
