"""Types that files give a name, in the file that does so and in those that import it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

_OF_IMAGES = frozenset({"Image", "Video", "Mask", "BoundingBoxes", "KeyPoints", "TVTensor"})
"""The Tensors of torchvision.tv_tensors."""


class Aliases:
    """The named types of a release."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self._own = {path: _told_once(_named(tree.body)) for path, tree in trees.items()}
        self._imported = {path: frozenset(_imported(tree)) for path, tree in trees.items()}
        self._images = {path: dict(_image_tensors(tree)) for path, tree in trees.items()}
        by_name: dict[str, dict[str, ast.expr]] = {}
        for named in self._own.values():
            for name, value in named.items():
                by_name.setdefault(name, {})[ast.dump(value)] = value
        # Two files that mean two things by a name: an import of it tells nothing.
        self._shared = {
            name: next(iter(found.values())) if len(found) == 1 else ast.Name("Any") for name, found in by_name.items()
        }

    def of(self, path: str) -> dict[str, ast.expr]:
        """What each named type stands for in a file: its own, and what it imports by name from others.

        ``from .typing import *``: any of the release's.
        """
        names = self._shared if "*" in self._imported[path] else self._imported[path]
        imported = {name: self._shared[name] for name in names if name in self._shared}
        return imported | self._images[path] | self._own[path]


def _told_once(named: Iterator[tuple[str, ast.expr]]) -> dict[str, ast.expr]:
    """What is named twice, in two arms of a condition, is either."""
    found: dict[str, ast.expr] = {}
    for name, value in named:
        found[name] = ast.BinOp(found[name], ast.BitOr(), value) if name in found else value
    return found


def _named(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """``Batch = tuple[Tensor, Tensor]``, ``Row: TypeAlias = Tensor``, ``T = TypeVar("T", bound=Tensor)``.

    Also where a condition or a failed import decides.
    """
    for node in statements:
        match node:
            case ast.If() | ast.Try():
                yield from _named([*node.body, *node.orelse])
                for handler in node.handlers if isinstance(node, ast.Try) else ():
                    yield from _named(handler.body)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(value=ast.Name(id="torch"))):
                yield name, node.value
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp() as value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), annotation=stated, value=ast.expr() as value):
                if ast.unparse(stated).rpartition(".")[2] == "TypeAlias":
                    yield name, value
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function) as call):
                if ast.unparse(function).rpartition(".")[2] == "TypeVar":
                    yield name, _of_variable(call)
            case ast.ClassDef(name=name):
                yield from ((name, meant) for meant in _of_class(node))


def _of_class(node: ast.ClassDef) -> Iterator[ast.expr]:
    """``class DataTensor(TensorType["batch", "feature"])``, and a class that is there to be subscripted.

    ``def __class_getitem__(cls, shape): return Alias(Tensor, shape)``: it returns something made of what is meant.
    """
    for base in node.bases:
        written = base.value if isinstance(base, ast.Subscript) else base
        if ast.unparse(written).endswith(("Tensor", "TensorType")):
            yield written
            return
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__class_getitem__":
            match method.body[-1]:
                case ast.Return(value=ast.Call(args=[ast.Name() | ast.Attribute() as meant, *_])):
                    yield meant


def _image_tensors(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """``from torchvision.tv_tensors import Image``: other classes are called so as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "torchvision.tv_tensors":
            yield from ((one.asname or one.name, ast.Name("Tensor")) for one in node.names if one.name in _OF_IMAGES)


def _of_variable(call: ast.Call) -> ast.expr:
    """What a type variable stands for: its bound, or one of its constraints."""
    bound = next((keyword.value for keyword in call.keywords if keyword.arg == "bound"), None)
    if bound is not None:
        return bound
    constraints = call.args[1:]
    return ast.Subscript(ast.Name("Union"), ast.Tuple(constraints)) if constraints else ast.Name("Any")


def _imported(tree: ast.Module) -> Iterator[str]:
    """Names that a file imports under their own name, also where only a type checker does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if alias.asname in (None, alias.name))
