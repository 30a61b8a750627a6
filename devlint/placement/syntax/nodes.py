"""Small questions about LibCST nodes that evaluation asks again and again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from functools import cache, lru_cache

import libcst as cst

from devlint.placement.syntax.rendering import rendered
from devlint.source.bare.nodes import is_bare

FunctionNode = cst.FunctionDef | cst.Lambda


def dotted(node: cst.BaseExpression) -> str | None:
    """``a.b.c`` for a chain of names, else None."""
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


_EMPTY = cst.Module(body=[])


_rendered: dict[int, tuple[cst.CSTNode, str]] = {}
"""What was rendered, by the identity of the node, which is held so that no other takes it."""

_MOST_RENDERED = 5_000


def code_of(node: cst.CSTNode) -> str:
    """The node's source on one line. The same few conditions and callees are asked for again and again."""
    if type(node) is cst.Name and not node.lpar:
        return node.value
    found = _rendered.get(id(node))
    if found is None:
        if len(_rendered) >= _MOST_RENDERED:
            _rendered.clear()
        found = _rendered[id(node)] = node, _render(node)
    return found[1]


def _render(node: cst.CSTNode) -> str:
    if is_bare(node):
        return rendered(node)
    return _plain_path(node) or " ".join(_EMPTY.code_for_node(node).split())


def _plain_path(node: cst.CSTNode) -> str:
    """``a.b.c`` written without blanks and parentheses: most of what is asked for. Empty for anything else."""
    parts: list[str] = []
    while type(node) is cst.Attribute and not node.lpar:
        dot = node.dot
        if getattr(dot.whitespace_before, "value", None) != "" or getattr(dot.whitespace_after, "value", None) != "":
            return ""
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name or node.lpar:
        return ""
    parts.append(node.value)
    return ".".join(reversed(parts))


def binds_like_a_name(node: cst.BaseExpression) -> bool:
    """Whether a dot behind the expression belongs to all of it."""
    return bool(node.lpar) or isinstance(
        node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.List, cst.Dict, cst.Set, cst.ListComp)
    )


def path_of(node: cst.BaseExpression) -> str | None:
    """The key of a place that can be stored to and read back: ``x``, ``self.w``, ``batch['x']``, ``pair[0]``.

    None when the place depends on something that is not written out.
    """
    if type(node) is cst.Name:
        return node.value
    if type(node) is cst.Attribute:
        base = path_of(node.value)
        return None if base is None else f"{base}.{node.attr.value}"
    if type(node) is cst.Subscript and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        index = node.slice[0].slice.value
        if isinstance(index, (cst.SimpleString, cst.Integer)):
            base = path_of(node.value)
            return None if base is None else f"{base}[{literal(index)!r}]"
    return None


def literal(node: cst.BaseExpression) -> object:
    """The value of a literal; raises ValueError where the text is none."""
    if type(node) is cst.Name:
        if node.value in _NAMED:
            return _NAMED[node.value]
        raise ValueError(f"not a literal: {node.value}")
    if type(node) is cst.SimpleString:
        return string_value(node.value)
    if type(node) is cst.Integer:
        return int(node.value.replace("_", ""), 0)
    if isinstance(node, cst.Float):
        return float(node.value.replace("_", ""))
    if isinstance(node, cst.ConcatenatedString):
        return node.evaluated_value
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        number = literal(node.expression)
        if isinstance(number, (int, float)):
            return -number
    raise ValueError(f"not a literal: {type(node).__name__}")


@lru_cache(4096)
def string_value(text: str) -> str | bytes:
    """What a string literal says."""
    inner = text[1:-1]
    if text[0] in "\"'" and text[0] not in inner and "\\" not in inner:
        return inner
    # ``literal_eval`` leaves four functions that hold each other, garbage that only the collector finds.
    parsed = ast.parse(text, mode="eval").body
    value = parsed.value if isinstance(parsed, ast.Constant) else None
    assert isinstance(value, (str, bytes))
    return value


_NAMED: dict[str, object] = {"None": None, "True": True, "False": False}


def descend(node: cst.CSTNode, *, into_definitions: bool = True) -> Iterator[cst.CSTNode]:
    """All nodes under ``node`` that are no whitespace, in the order of the source, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        children = semantic_children(current)
        if not children:
            continue
        if not into_definitions:
            children = [child for child in children if type(child) not in _DEFINITIONS]
        children.reverse()
        stack += children


_DEFINITIONS = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def semantic_children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The child nodes that carry meaning, by field. (``CSTNode.children`` rebuilds the node to find them.)"""
    found: list[cst.CSTNode] = []
    for name in _semantic_fields(type(node)):
        value = getattr(node, name)
        if value is None:
            continue
        kind = type(value)
        if kind is list or kind is tuple:
            found += value
        elif kind not in _NO_NODES:
            found.append(value)
    return found


_NO_NODES = frozenset({str, bool, cst.MaybeSentinel})


@cache
def _semantic_fields(node_type: type[cst.CSTNode]) -> tuple[str, ...]:
    """Fields that may hold nodes. What is typed as text never does: names and literals are leaves."""
    names = [field.name for field in fields(node_type) if field.type not in (str, "str")]
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
        if type(statement) is cst.SimpleStatementLine:
            yield from statement.body
        else:
            yield statement
