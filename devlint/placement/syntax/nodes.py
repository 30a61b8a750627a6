"""Small functions that read LibCST nodes: dotted names, storage paths, literals, child nodes, parameters."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import lru_cache

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


class _Rendered(threading.local):
    """The texts that a thread has rendered, by the identity of the node, which is kept so that no other takes it."""

    def __init__(self) -> None:
        self.texts: dict[int, tuple[cst.CSTNode, str]] = {}


_rendered = _Rendered()


def code_of(node: cst.CSTNode) -> str:
    """The node's source on one line.

    Cached, because the same few conditions and callees are rendered again and again.
    """
    if type(node) is cst.Name and not node.lpar:
        return node.value
    texts = _rendered.texts
    found = texts.get(id(node))
    if found is None:
        found = texts[id(node)] = node, _render(node)
    return found[1]


def rendered_texts() -> Mapping[int, tuple[cst.CSTNode, str]]:
    """What :func:`code_of` has said since :func:`forget_rendered`, by the identity of the node."""
    return _rendered.texts


def forget_rendered() -> None:
    """The texts are those of one pass over a file: the trees that they belong to end with it."""
    _rendered.texts.clear()


def _render(node: cst.CSTNode) -> str:
    if is_bare(node):
        return rendered(node)
    return _plain_path(node) or " ".join(_EMPTY.code_for_node(node).split())


def _plain_path(node: cst.CSTNode) -> str:
    """``a.b.c`` written without blanks and parentheses, the most frequent case. Empty for anything else."""
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
    """Whether ``.name`` appended to the expression's text applies to the whole expression."""
    return bool(node.lpar) or isinstance(
        node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.List, cst.Dict, cst.Set, cst.ListComp)
    )


def path_of(node: cst.BaseExpression) -> str | None:
    """The key of a storable location: ``x``, ``self.w``, ``batch['x']``, ``pair[0]``.

    None for any other expression, such as a subscript that is not a literal.
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
    """The value of a literal; raises ValueError for an expression that is not a literal."""
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
    """The value of a string literal."""
    quote = text[:3] if text[:3] in ('"""', "'''") and len(text) > 5 else text[:1]
    inner = text[len(quote) : -len(quote)]
    if quote[0] in "\"'" and quote not in inner and "\\" not in inner and "\r" not in inner:
        return inner
    # ``literal_eval`` creates four functions that refer to each other, which only the garbage collector frees.
    parsed = ast.parse(text, mode="eval").body
    value = parsed.value if isinstance(parsed, ast.Constant) else None
    assert isinstance(value, (str, bytes))
    return value


_NAMED: dict[str, object] = {"None": None, "True": True, "False": False}


def descend(node: cst.CSTNode, *, into_definitions: bool = True) -> Iterator[cst.CSTNode]:
    """``node`` and all nodes under it except whitespace, in source order, without recursion."""
    # The most frequent loop of all: what `semantic_children` does stands here once more.
    fields_of = _FIELDS
    stack = [node]
    while stack:
        current = stack.pop()
        kind: type = type(current)
        if not into_definitions and kind in _DEFINITIONS and current is not node:
            continue
        yield current
        for name in fields_of[kind]:
            value = getattr(current, name)
            kind = type(value)
            if kind is list or kind is tuple:
                stack += value[::-1]
            elif kind not in _NO_NODES:
                stack.append(value)


def contains(tree: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether the node itself, and not one like it, is the tree or a part of it."""
    return any(part is node for part in descend(tree))


def inner_nodes(node: cst.CSTNode, *, into_definitions: bool = True) -> list[cst.CSTNode]:
    """What :func:`descend` yields, but for names, literals and operators that stand alone in their field.

    More than half of all nodes are those: who looks for statements, calls and attributes need not meet them.
    """
    fields_of = _FIELDS
    found: list[cst.CSTNode] = []
    stack = [node]
    pop, push = stack.pop, stack.append
    while stack:
        current = pop()
        kind: type = type(current)
        if not into_definitions and kind in _DEFINITIONS and current is not node:
            continue
        found.append(current)
        for name in fields_of[kind]:
            value = getattr(current, name)
            kind = type(value)
            if kind is list or kind is tuple:
                stack += value[::-1]
            elif kind not in _NOTHING_INSIDE:
                push(value)
    return found


def names_in(node: cst.CSTNode) -> set[str]:
    """The names that stand in it, those of attributes and keywords as well."""
    if type(node) is cst.Name:
        return {node.value}
    fields_of = _FIELDS
    found: set[str] = set()
    stack = [node]
    pop, push, add = stack.pop, stack.append, found.add
    while stack:
        current = pop()
        for name in fields_of[type(current)]:
            value = getattr(current, name)
            kind: type = type(value)
            if kind is cst.Name:
                add(value.value)
            elif kind is list or kind is tuple:
                for item in value:
                    if type(item) is cst.Name:
                        add(item.value)
                    else:
                        push(item)
            elif kind not in _NOTHING_INSIDE:
                push(value)
    return found


_DEFINITIONS = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def semantic_children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The child nodes, without punctuation and layout. (``CSTNode.children`` rebuilds the node to find them.)"""
    found: list[cst.CSTNode] = []
    for name in reversed(_FIELDS[type(node)]):
        value = getattr(node, name)
        kind = type(value)
        if kind is list or kind is tuple:
            found += value
        elif kind not in _NO_NODES:
            found.append(value)
    return found


_NO_NODES = frozenset({str, bool, cst.MaybeSentinel, type(None)})


LEAVES = frozenset(
    {
        cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.Ellipsis, cst.FormattedStringText,
        cst.Pass, cst.Break, cst.Continue, cst.And, cst.Or, cst.Not, cst.Minus, cst.Plus, cst.BitInvert,
        cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power, cst.MatrixMultiply,
        cst.LeftShift, cst.RightShift, cst.BitAnd, cst.BitOr, cst.BitXor,
        cst.Equal, cst.NotEqual, cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual,
        cst.In, cst.NotIn, cst.Is, cst.IsNot,
        cst.AddAssign, cst.SubtractAssign, cst.MultiplyAssign, cst.DivideAssign, cst.MatrixMultiplyAssign,
    }
)  # fmt: skip
"""Types of nodes that hold no other one."""

_NOTHING_INSIDE = _NO_NODES | LEAVES


class _Fields(dict[type, tuple[str, ...]]):
    """By type of node: the fields that may hold nodes, from the last to the first, as a stack takes them."""

    def __missing__(self, node_type: type[cst.CSTNode]) -> tuple[str, ...]:
        # A field typed as text never holds a node: names and literals are leaves.
        names = [field.name for field in fields(node_type) if field.type not in (str, "str")]
        found = tuple(name for name in reversed(names) if name not in _TRIVIA and "whitespace" not in name)
        self[node_type] = found
        return found


_FIELDS = _Fields()

_TRIVIA = frozenset(
    """
    lpar rpar lbracket rbracket lbrace rbrace comma equal dot semicolon leading_lines lines_after_decorators
    header footer trailing_whitespace first_colon second_colon indent newline encoding default_indent
    default_newline has_trailing_newline start end prefix quote raw_value asynchronous colon star
    """.split()
)
"""Fields of punctuation, layout and text. ``star`` holds text, or a node without a name."""


def parameters_of(node: FunctionNode) -> list[cst.Param]:
    """All named parameters in call order, without ``*args`` and ``**kwargs``."""
    declared = node.params
    return [*declared.posonly_params, *declared.params, *declared.kwonly_params]


def positions_of(node: FunctionNode, *, bound: bool) -> Iterator[tuple[int | None, cst.Param]]:
    """The named parameters, each with its place among the arguments: None for what is given by keyword alone.

    ``bound``: the first one is the receiver, and no argument of the call.
    """
    by_position = [*node.params.posonly_params, *node.params.params][1 if bound else 0 :]
    yield from enumerate(by_position)
    yield from ((None, parameter) for parameter in node.params.kwonly_params)


def decorator_names(node: cst.FunctionDef | cst.ClassDef) -> tuple[str, ...]:
    names = []
    for decorator in node.decorators:
        expression = decorator.decorator
        if isinstance(expression, cst.Call):
            expression = expression.func
        names.append(dotted(expression) or "")
    return tuple(names)


def body_of(block: cst.BaseSuite | cst.Module) -> Iterator[cst.CSTNode]:
    """The statements of a block; small statements that share a line are yielded one by one."""
    for statement in block.body:
        if type(statement) is cst.SimpleStatementLine:
            yield from statement.body
        else:
            yield statement


def is_part_of_rows(node: cst.BaseExpression) -> bool:
    """``x[:n]``, ``x[:, 0]``, ``x[y > 0]``: rows of one value, and not the whole of what is kept under a key."""
    if not isinstance(node, cst.Subscript):
        return False
    first = node.slice[0].slice
    key = first.value if isinstance(first, cst.Index) else None
    return key is None or len(node.slice) > 1 or isinstance(key, (cst.Comparison, cst.Call))


def is_name(node: cst.CSTNode, name: str | None) -> bool:
    """Whether an expression is a name alone, and this one."""
    return isinstance(node, cst.Name) and node.value == name


def unpacked(target: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    """The places that the target of an assignment binds: ``a`` and ``b`` of ``a, b = ...`` and ``[a, b] = ...``."""
    if isinstance(target, (cst.Tuple, cst.List)):
        return tuple(element.value for element in target.elements)
    return (target,)


def elements_of(node: cst.CSTNode | None) -> list[cst.CSTNode]:
    """``a`` and ``b`` of ``return a, b``; otherwise the node itself."""
    if isinstance(node, cst.Tuple):
        return [element.value for element in node.elements]
    return [node] if node is not None else []
