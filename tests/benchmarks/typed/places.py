"""The parameters and results that a release annotates, and the same release without any annotation."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from typed.aliases import Aliases
from typed.annotation import Kind, is_device_by_name, kind_of
from typed.contradictions import contradicted
from typed.definitions import Place, functions, parameters

Definition = TypeVar("Definition", ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Typed:
    """A release as its files say it."""

    truth: dict[Place, Kind]
    modules: frozenset[str]
    """Names of subclasses of ``nn.Module``, of torch and of the release itself."""


@cache
def torch_modules() -> frozenset[str]:
    """The Modules of ``torch.nn``, from the torch that is installed here."""
    from torch import nn

    return frozenset(name for name, c in vars(nn).items() if isinstance(c, type) and issubclass(c, nn.Module))


def typed(files: Mapping[str, str]) -> Typed:
    """What these files annotate. A name that is defined twice is left out, and so is what ``overload`` declares.

    Annotations that contradict one another do not tell.
    """
    trees = {path: ast.parse(text) for path, text in files.items()}
    modules = _modules(trees)
    tensors: dict[str, ast.expr] = {name: ast.Name("Tensor") for name in _derived(trees, {"Tensor"}) - {"Tensor"}}
    aliases = Aliases(trees)
    truth: dict[Place, Kind] = {}
    doubled: set[Place] = set()
    for path, tree in trees.items():
        known = tensors | aliases.of(path)
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
                kind = kind_of(annotation, modules.__contains__, known)
                if kind is not None and annotation is not None:
                    truth[place] = "device" if is_device_by_name(name, annotation) else kind
    doubted = contradicted(trees, truth)
    told = {place: "mixed" if place in doubted else kind for place, kind in truth.items() if place not in doubled}
    return Typed(told, modules)


_OF_LIBRARIES = frozenset({"LightningModule", "PreTrainedModel", "TensorDictModule", "GraphModule"})
"""Modules of torch and of libraries that nothing else is called like."""
_BY_IMPORT = frozenset({("torchmetrics", "Metric")})
"""Modules of libraries, where they are imported from there: other classes are called so as well."""


def _modules(trees: Mapping[str, ast.Module]) -> frozenset[str]:
    imported = {
        alias.asname or alias.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 0
        for alias in node.names
        if ((node.module or "").split(".")[0], alias.name) in _BY_IMPORT
    }
    defined = {node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    return _derived(trees, {*torch_modules(), *_OF_LIBRARIES, *(imported - defined)})


def _derived(trees: Mapping[str, ast.Module], known: set[str]) -> frozenset[str]:
    """Names of classes of the release that derive from one of these, and these."""
    bases: dict[str, set[str]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names = {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}
                bases.setdefault(node.name, set()).update(names)
    while more := {name for name, own in bases.items() if name not in known and own & known}:
        known |= more
    return frozenset(known)


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
