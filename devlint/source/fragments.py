"""The fragments of a program, its units of change.

A fragment is a statement of the module level without the bodies of the definitions in it, or one such body.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import field

from devlint.records import dataclass
from devlint.source.gate import statements_in
from devlint.source.lines import Lines
from devlint.source.outline import Definition, Function, Outline, OwnNames, first_line


@dataclass(frozen=True, slots=True)
class Fragment:
    """One unit of change. Lines are 1-based, the last included."""

    lines: tuple[tuple[int, int], ...] = ()
    text: str = ""
    """What counts of it beside its lines."""
    acts: bool = False
    """Running it may do more than bind a name to a constant or a definition."""


@dataclass(slots=True)
class Fragments:
    """Fragments are numbered in the order of the source, bodies behind the statement they stand in."""

    all: list[Fragment] = field(default_factory=list)
    binding: dict[str, list[int]] = field(default_factory=dict)
    """Names of the module level: the statements that bind them, or change what they hold."""
    bodies: dict[str, list[int]] = field(default_factory=dict)
    """Qualified names of definitions: their bodies, and the statements around."""

    own: list[tuple[str, OwnNames]] = field(default_factory=list)
    """Qualified names of definitions, and how their bodies use the attributes of ``self``."""
    private: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    """Qualified names of definitions, and the private names by which they call something."""
    classes: dict[str, list[int]] = field(default_factory=dict)
    """Names of the classes that stand in no other definition: the statements in which they do."""

    def add(self, fragment: Fragment, bound: Iterable[str] = ()) -> int:
        number = len(self.all)
        self.all.append(fragment)
        for name in bound:
            self.binding.setdefault(name, []).append(number)
        return number


def fragments_of(text: str, tree: ast.Module, outline: Outline) -> Fragments:
    """Divides a program."""
    lines = Lines(text)
    found = Fragments()
    outlined = {definition.first: definition for definition in outline.definitions}
    named = [(name, outlined[first_line(node)]) for name, node in _definitions(tree.body, "")]
    named.sort(key=lambda found: found[1].first)
    own = frozenset(name.rpartition(".")[2] for name, _ in named)
    at = 0
    for first, last, statements in _by_lines(tree.body):
        if len(statements) == 1 and isinstance(statements[0], (ast.Import, ast.ImportFrom)):
            # Where it leads is known by the names; what counts here is its place among the others.
            for name in map(_imported, statements[0].names):
                found.add(Fragment(text=f"import {name}"), (name,))
            continue
        inside: list[tuple[str, Definition]] = []
        while at < len(named) and named[at][1].first <= last:
            inside.append(named[at])
            at += 1
        spans: list[tuple[int, int]] = []
        begins = first
        for _, definition in inside:
            if lines.leads(definition.body, definition.column):
                spans.append((begins, definition.body - 1))
                begins = definition.last + 1
        spans.append((begins, last))
        outlines = "\n".join(_outlined(definition, own) for _, definition in inside)
        bound = frozenset(name for statement in statements for name in _bound(statement))
        fragment = Fragment(tuple(spans), outlines, any(map(_acts, statements)))
        number = found.add(fragment, bound)
        for name in _classes(statements):
            found.classes.setdefault(name, []).append(number)
        for name, definition in inside:
            found.own.append((name, definition.own))
            found.private.append((name, definition.private))
            body = found.add(Fragment(((definition.body, definition.last),)))
            found.bodies.setdefault(name, []).extend((number, body))
    return found


def _by_lines(statements: list[ast.stmt]) -> Iterator[tuple[int, int, list[ast.stmt]]]:
    """The statements, those together that share a line, with their lines."""
    group: list[ast.stmt] = []
    begins = ends = 0
    for statement in statements:
        first, last = _first(statement), statement.end_lineno or statement.lineno
        if group and first > ends:
            yield begins, ends, group
            group = []
        begins = begins if group else first
        ends = last
        group.append(statement)
    if group:
        yield begins, ends, group


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _definitions(statements: Iterable[ast.AST], prefix: str) -> Iterator[tuple[str, Function]]:
    """The outermost definitions with their qualified names."""
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")
        else:
            yield from _definitions(statements_in(node), prefix)


def _classes(statements: Iterable[ast.AST]) -> Iterator[str]:
    """The names of the outermost classes."""
    for node in statements:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif not isinstance(node, Function):
            yield from _classes(statements_in(node))


def _outlined(definition: Definition, own: frozenset[str]) -> str:
    """What is known of a body that nobody has read; of what it mentions the file's own definitions alone count."""
    names = definition.own
    sets = (names.mentioned & own, names.stored, names.registered, names.kept & own)
    return repr((*map(sorted, sets), definition.yields, definition.places))


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds outside of definitions, and those of whose values it changes something."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
                continue
            case ast.Lambda():
                continue
            case ast.Name(ctx=ast.Store() | ast.Del()):
                yield node.id
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                yield from _names_in(node)
            case ast.alias():
                yield _imported(node)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                yield node.name or ""
            case ast.MatchMapping():
                yield node.rest or ""
        stack.extend(ast.iter_child_nodes(node))


def _names_in(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _imported(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _acts(statement: ast.stmt) -> bool:
    """Whether running a statement may reach further than the names that it binds to constants or definitions."""
    match statement:
        case ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return False
        case ast.Assign():
            return not (all(isinstance(one, ast.Name) for one in statement.targets) and _is_constant(statement.value))
        case ast.AnnAssign(target=ast.Name()):
            return statement.value is not None and not _is_constant(statement.value)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            defaults = (*statement.args.defaults, *statement.args.kw_defaults)
            called = any(isinstance(one, ast.Call) for one in statement.decorator_list)
            return called or not all(one is None or _is_constant(one) for one in defaults)
        case ast.ClassDef():
            return any(map(_acts, statement.body))
    return True


def _is_constant(value: ast.expr) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.Tuple() | ast.List() | ast.Set():
            return all(map(_is_constant, value.elts))
        case ast.Dict():
            return all(one is not None and _is_constant(one) for one in (*value.keys, *value.values))
        case ast.UnaryOp():
            return _is_constant(value.operand)
        case ast.BinOp():
            return _is_constant(value.left) and _is_constant(value.right)
    return False
