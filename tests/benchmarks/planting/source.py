"""One file of a release as the planter reads it: syntax by ``ast``, edits as spans of its bytes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Edit:
    """Replace the bytes ``start:end`` by ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Scope:
    """A function, the class that it is a method of, and its qualified name."""

    node: Function
    owner: ast.ClassDef | None
    qualname: str

    @property
    def first(self) -> int:
        return min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])

    @property
    def last(self) -> int:
        return self.node.end_lineno or self.node.lineno


@dataclass(eq=False)
class File:
    """A parsed file. ``path`` is relative to its release."""

    path: str
    data: bytes
    tree: ast.Module
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)

    @classmethod
    def of(cls, path: str, data: bytes) -> File | None:
        """None for what is not plain UTF-8 Python."""
        try:
            data.decode("utf-8")
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError):
            return None
        if data.startswith(b"\xef\xbb\xbf") or b"\f" in data:
            return None
        file = cls(path, data, tree)
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                file.parents[child] = node
        return file

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.data.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """The bytes of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        starts = self._line_starts
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def operand(self, node: ast.expr) -> str:
        """The text of an expression as it may stand anywhere: what stood in parentheses keeps them."""
        simple = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant)
        return self.text(node) if simple else f"({self.text(node)})"

    def line(self, number: int) -> str:
        """One line without its indentation."""
        starts = self._line_starts
        return self.data[starts[number - 1] : starts[number]].decode().strip()

    def replaced(self, node: ast.expr | ast.stmt | ast.keyword, text: str) -> Edit:
        return Edit(*self.span(node), text)

    def without_keyword(self, call: ast.Call, keyword: ast.keyword) -> Edit:
        """The call without one of its keyword arguments, and without the comma that stood beside it."""
        arguments: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=self.span)
        number = arguments.index(keyword)
        start, end = self.span(keyword)
        # The comma, and not the end of the argument before: a bracket around that is no part of it.
        if number:
            before = self.span(arguments[number - 1])[1]
            return Edit(before + self.data[before:start].rindex(b","), end, "")
        if len(arguments) > 1:
            comma = self.data.index(b",", end)
            return Edit(start, comma + 1, "")
        return Edit(start, end, "")

    def edited(self, edits: tuple[Edit, ...]) -> bytes:
        """The text after the edits. Raises SyntaxError if it is no Python any more."""
        data = self.data
        for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        ast.parse(data)
        return data

    def scopes(self) -> Iterator[Scope]:
        """Functions that are no functions of functions."""
        yield from self._scopes(self.tree.body, None, "")

    def _scopes(self, body: list[ast.stmt], owner: ast.ClassDef | None, prefix: str) -> Iterator[Scope]:
        for node in body:
            if isinstance(node, Function):
                yield Scope(node, owner, prefix + node.name)
            elif isinstance(node, ast.ClassDef):
                yield from self._scopes(node.body, node, f"{prefix}{node.name}.")
            elif isinstance(node, ast.If | ast.Try):
                yield from self._scopes(node.body, owner, prefix)

    @cached_property
    def names(self) -> dict[str, str]:
        """What the names that imports bind stand for, by their dotted names; relative imports keep their dots."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        found[alias.asname] = alias.name
                    else:
                        top = alias.name.split(".")[0]
                        found[top] = top
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    module = f"{node.module}." if node.module else ""
                    found[alias.asname or alias.name] = f"{'.' * node.level}{module}{alias.name}"
        return found

    def dotted(self, node: ast.expr) -> str | None:
        """``torch.nn.functional.pad`` for ``F.pad``; None where no import tells."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.names:
            return None
        return ".".join([self.names[node.id], *reversed(parts)])


def names_in(node: ast.AST) -> set[str]:
    """Names that are read."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
