"""The parameters and results that a release annotates, and the same release without any annotation."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from typed.aliases import Aliases
from typed.annotation import Kind, is_device_by_name, kind_of, says_a_kind
from typed.contradictions import contradicted
from typed.definitions import Place, functions, parameters
from typed.modules import ModuleNames, derived

Definition = TypeVar("Definition", ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Typed:
    """A release as its files say it."""

    truth: dict[Place, Kind]
    modules: frozenset[str]
    """Names of subclasses of ``nn.Module``, of torch and of the release itself."""


def typed(files: Mapping[str, str]) -> Typed:
    """What these files annotate. A name that is defined twice is left out, and so is what ``overload`` declares.

    Annotations that contradict one another do not tell.
    """
    trees = {path: ast.parse(text) for path, text in files.items()}
    modules = ModuleNames(trees)
    tensors: dict[str, ast.expr] = {name: ast.Name("Tensor") for name in derived(trees, {"Tensor"}) - {"Tensor"}}
    aliases = Aliases(trees)
    truth: dict[Place, Kind] = {}
    doubled: set[Place] = set()
    for path, tree in trees.items():
        unseen = dict.fromkeys((name for name in modules.unseen(path) if not says_a_kind(name)), ast.Name("Any"))
        # ``from release import kinds``, ``-> kinds.Mask``
        through = {f"{one}.{name}": ast.Name("Tensor") for one in modules.own(path) for name in tensors}
        known = tensors | through | unseen | aliases.of(path) | dict.fromkeys(modules.foreign(path), ast.Name("Any"))
        for qualname, node, owner in functions(tree):
            if any("overload" in ast.unparse(decorator) for decorator in node.decorator_list):
                continue
            for name, annotation in [
                *((a.arg, a.annotation) for a in parameters(node, owner)),
                ("return", node.returns),
            ]:
                place = Place(path, qualname, name)
                if place in truth:
                    doubled.add(place)
                kind = kind_of(annotation, modules.names.__contains__, known)
                if kind is not None and annotation is not None:
                    truth[place] = "device" if is_device_by_name(name, annotation) else kind
    doubted = contradicted(trees, truth)
    told = {place: "mixed" if place in doubted else kind for place, kind in truth.items() if place not in doubled}
    return Typed(told, modules.names)


class _StripDocstrings(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return self._bare(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return self._bare(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return self._bare(node)

    def _bare(self, node: Definition) -> Definition:
        self.generic_visit(node)
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node


class _StripAnnotations(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], self.visit(node.value)), node)


def stripped(text: str, keep_docstrings: bool) -> str:
    """The same program without annotations and comments."""
    tree: ast.AST = _StripAnnotations().visit(ast.parse(text))
    return _written(tree, keep_docstrings)


def rewritten(text: str, keep_docstrings: bool) -> str:
    """The same program without comments, each statement on the line where :func:`stripped` has it."""
    return _written(ast.parse(text), keep_docstrings)


def _written(tree: ast.AST, keep_docstrings: bool) -> str:
    tree = tree if keep_docstrings else _StripDocstrings().visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def read_files(directory: Path, paths: list[str]) -> dict[str, str]:
    """The readable Python files among ``paths``."""
    found: dict[str, str] = {}
    for path in paths:
        if path.endswith(".py"):
            try:
                text = (directory / path).read_text(encoding="utf-8-sig")
                ast.parse(text)
            except (SyntaxError, ValueError, RecursionError):
                continue
            found[path] = text
    return found
