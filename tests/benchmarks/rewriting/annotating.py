"""Annotations that are true, added and removed.

What a run has seen is added to parameters and results; a function that gives nothing gets ``-> None``. What an
annotation says the analysis may have had to guess, or not have known: where annotations are added findings may come,
and those may go that rest on a guess; where they are removed it is the other way round. Annotations of variables beside
the call that makes a tensor, and ``-> None``, say nothing that is not written there: they change nothing.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from types import FrameType
from typing import Any

from tests.benchmarks.rewriting.program import Function, Program, Rewritten, definitions, is_pausing, parameters
from tests.benchmarks.rewriting.running import FILES, run

_READ_NO_ANNOTATION = frozenset(
    "staticmethod classmethod property abstractmethod override no_grad inference_mode".split()
)


def without(program: Program) -> Rewritten | None:
    """No annotations of parameters, results and variables of functions. Classes keep theirs, which may make fields, and
    so do functions whose decorators may read them."""
    tree = ast.parse(program.text)
    stripper = _Stripper()
    stripper.visit(tree)
    return Rewritten(ast.unparse(ast.fix_missing_locations(tree)) + "\n") if stripper.removed else None


class _Stripper(ast.NodeTransformer):
    def __init__(self) -> None:
        self.removed = 0
        self._inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        around, self._inside = self._inside, False
        self.generic_visit(node)
        self._inside = around
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not self._inside or node.value is None:
            return node
        self.removed += 1
        return ast.Assign([node.target], node.value)

    def _function(self, node: Function) -> ast.AST:
        if not all(_last_name(one) in _READ_NO_ANNOTATION for one in node.decorator_list):
            return node
        for one in parameters(node):
            self.removed += one.annotation is not None
            one.annotation = None
        self.removed += node.returns is not None
        node.returns = None
        around, self._inside = self._inside, True
        self.generic_visit(node)
        self._inside = around
        return node


def _last_name(decorator: ast.expr) -> str:
    while isinstance(decorator, ast.Call):
        decorator = decorator.func
    return decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")


def giving_nothing(program: Program) -> Rewritten | None:
    """``-> None`` of each function that gives nothing."""
    tree = ast.parse(program.text)
    changed = False
    for function, _ in definitions(tree):
        if function.returns is None and not is_pausing(function) and not any(_gives(function.body)):
            function.returns = ast.Constant(None)
            changed = True
    return Rewritten(ast.unparse(tree) + "\n") if changed else None


def _gives(body: list[ast.stmt]) -> Iterator[bool]:
    """Whether each return of these statements gives a value; functions inside have their own."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node.value is not None
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                yield from _gives(getattr(node, name, []))
            for handler in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
                yield from _gives(handler.body)


def observed(program: Program) -> Rewritten | None:
    """Parameters and results with what they were each time that the program ran."""
    if not program.runs:
        return None
    seen = _seen(program)
    tree = ast.parse(program.text)
    changed = False
    for function, _ in definitions(tree):
        types = seen.get(min([function.lineno, *(one.lineno for one in function.decorator_list)]), {})
        for one in parameters(function):
            said = _said(types.get(one.arg, set()))
            if one.annotation is None and said and one not in (function.args.vararg, function.args.kwarg):
                one.annotation = ast.parse(said, mode="eval").body
                changed = True
        said = _said(types.get("return", set()))
        if function.returns is None and said and not is_pausing(function):
            function.returns = ast.parse(said, mode="eval").body
            changed = True
    return Rewritten(ast.unparse(tree) + "\n") if changed else None


def _seen(program: Program) -> dict[int, dict[str, set[type]]]:
    """By the line where a function begins: the types of its arguments and results."""
    seen: dict[int, dict[str, set[type]]] = defaultdict(lambda: defaultdict(set))

    def note(frame: FrameType, event: str, value: Any) -> None:
        code = frame.f_code
        if code.co_filename != FILES.format("main"):
            return
        types = seen[code.co_firstlineno]
        if event == "call":
            for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                if name in frame.f_locals and name != "self":
                    types[name].add(type(frame.f_locals[name]))
        elif event == "return":
            types["return"].add(type(value))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run(program)
    finally:
        sys.setprofile(before)
    return seen


def _said(types: set[type]) -> str:
    """The annotation that names all of these types; empty if there is one that has no plain name."""
    import torch

    words = set()
    for one in types:
        if issubclass(one, torch.nn.Module):
            words.add("torch.nn.Module")
        elif issubclass(one, torch.Tensor):
            words.add("torch.Tensor")
        elif one in (torch.device, torch.dtype):
            words.add(f"torch.{one.__name__}")
        elif one in (int, float, bool, str, type(None)):
            words.add("None" if one is type(None) else one.__name__)
        else:
            return ""
    return " | ".join(sorted(words, key=lambda word: (word == "None", word)))
