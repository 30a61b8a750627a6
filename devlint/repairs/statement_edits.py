"""Edits of whole statements: lines inserted, a line moved, lines indented, a default chosen in the body."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.syntax.nodes import code_of, descend
from devlint.repairs.layout import CannotEdit, Layout, TextEdit


def inserted_before(layout: Layout, node: cst.CSTNode, lines: str) -> Iterator[TextEdit]:
    """New lines before the statement around a node, above the comments that stand over it."""
    at, indent = _beginning(layout, _statement_around(layout, node))
    at = layout.above_comments(at)
    newline = layout.newline(layout.line_end(at))
    yield at, at, _rendered(layout, lines, indent, newline)


def moved_before(layout: Layout, node: cst.CSTNode, before: cst.CSTNode) -> Iterator[TextEdit]:
    """The line of a simple statement put before another statement of the same block."""
    line = _own_line(layout, node)
    other = _statement_around(layout, before)
    if layout.parents.get(line) is not layout.parents.get(other):
        raise CannotEdit
    start, _ = _beginning(layout, line)
    end = layout.line_end(layout.span(line)[1])
    newline = layout.newline(end)
    target = layout.above_comments(_beginning(layout, other)[0])
    if target >= start:
        raise CannotEdit
    yield target, target, layout.text_of(start, end) + newline
    yield start, layout.behind_line_end(end), ""


def indented_rest(layout: Layout, node: cst.CSTNode, header: str) -> Iterator[TextEdit]:
    """``header`` in the place of a statement, and what follows in its block one level deeper."""
    line = _own_line(layout, node)
    block = layout.parents.get(line)
    if not isinstance(block, cst.IndentedBlock):
        raise CannotEdit
    rest = list(block.body)[[statement is line for statement in block.body].index(True) + 1 :]
    if not rest:
        raise CannotEdit
    start, end = layout.span(line)
    yield start, end, header
    unit = layout.unit
    for first in layout.lines_of(layout.behind_line_end(layout.line_end(end)), layout.span(rest[-1])[1]):
        yield first, first, unit
    for statement in rest:
        for part in descend(statement):
            if isinstance(part, (cst.SimpleString, cst.FormattedString)):
                opening, closing = layout.span(part)
                if layout.line_start(opening) != layout.line_start(closing):
                    raise CannotEdit  # its second line is part of its value


def chosen_in_body(layout: Layout, default: cst.CSTNode) -> Iterator[TextEdit]:
    """A default argument that is evaluated when the function is called: None stands for it in the signature."""
    parameter = layout.parents.get(default)
    function = layout.enclosing(default, cst.FunctionDef, cst.Lambda)
    # In the body a class's own names are not seen.
    if not isinstance(parameter, cst.Param) or layout.enclosing(default, cst.ClassDef) is not None:
        raise CannotEdit
    body = layout.whole(function).body if isinstance(function, cst.FunctionDef) else None
    if not isinstance(body, cst.IndentedBlock):
        raise CannotEdit
    first = next((statement for statement in body.body if not _is_docstring(statement)), None)
    if first is None:
        raise CannotEdit
    name, (start, end) = parameter.name.value, layout.outer(parameter.default or default)
    layout.without_comment(start, end)
    yield start, end, "None"
    if parameter.annotation is not None and not _may_be_none(parameter.annotation.annotation):
        _, behind = layout.outer(parameter.annotation.annotation)
        yield behind, behind, " | None"
    at, indent = _beginning(layout, first)
    at = layout.above_comments(at)
    newline = layout.newline(layout.line_end(at))
    yield at, at, _rendered(layout, f"if {name} is None:\n\t{name} = {code_of(default)}", indent, newline)


def _may_be_none(annotation: cst.BaseExpression) -> bool:
    return "None" in code_of(annotation) or "Optional" in code_of(annotation)


def _is_docstring(statement: cst.BaseStatement) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
        return False
    return isinstance(statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString))


def _rendered(layout: Layout, lines: str, indent: str, newline: str) -> str:
    """A tab stands for one level, as the file has it."""
    unit = layout.unit
    return "".join(f"{indent}{line}{newline}".replace("\t", unit) for line in lines.split("\n"))


def _statement_around(layout: Layout, node: cst.CSTNode) -> cst.CSTNode:
    """The statement on a line of its own that a node is, or is part of."""
    current = node
    while True:
        parent = layout.parents.get(current)
        if parent is None or isinstance(current, (cst.FunctionDef, cst.ClassDef, cst.SimpleStatementSuite)):
            raise CannotEdit
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            return current
        current = parent


def _own_line(layout: Layout, node: cst.CSTNode) -> cst.SimpleStatementLine:
    line = _statement_around(layout, node)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        raise CannotEdit
    return line


def _beginning(layout: Layout, statement: cst.CSTNode) -> tuple[int, str]:
    """Where the line of a statement begins, and its indentation."""
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    start, _ = layout.span(first)
    indent = layout.indent(start)
    return start - len(indent), indent
