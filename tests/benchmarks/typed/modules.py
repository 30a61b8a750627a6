"""The names that mean a subclass of ``nn.Module`` in the files of a release."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

_OF_LIBRARIES = frozenset({"LightningModule", "PreTrainedModel", "TensorDictModule", "GraphModule"})
"""Modules of torch and of libraries that nothing else is called like."""
_BY_IMPORT = frozenset({("torchmetrics", "Metric")})
"""Modules of libraries, where they are imported from there: other classes are called so as well."""


@cache
def torch_modules() -> frozenset[str]:
    """The Modules of ``torch.nn``, from the torch that is installed here."""
    from torch import nn

    return frozenset(name for name, c in vars(nn).items() if isinstance(c, type) and issubclass(c, nn.Module))


class _Class(NamedTuple):
    path: str
    name: str
    bases: frozenset[str]
    """As they are written, without their arguments: ``nn.Module``."""


class ModuleNames:
    """The Modules of torch, of some libraries, and of the release itself, by the last part of their names."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        tops = _importable(trees)
        self._foreign = {path: frozenset(_foreign(tree, tops)) for path, tree in trees.items()}
        self._own = {path: frozenset(_from(tree, tops)) for path, tree in trees.items()}
        known = tops | _TORCH | _KNOWN
        self._unseen = {
            path: frozenset(name for name in _foreign(tree, known) if name[:1].isupper())
            for path, tree in trees.items()
        }
        classes = _classes(trees)
        defined = {one.name for one in classes}
        imported = {
            alias.asname or alias.name
            for tree in trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.level == 0
            for alias in node.names
            if alias.name in _OF_LIBRARIES or ((node.module or "").split(".")[0], alias.name) in _BY_IMPORT
        }
        self._of_libraries = _OF_LIBRARIES | (imported - defined)
        self.names = _closed(classes, {*(torch_modules() - defined), *self._of_libraries}, self._derives)

    def _derives(self, one: _Class, known: set[str]) -> bool:
        for base in one.bases:
            last = base.rpartition(".")[2]
            if last in self._of_libraries:
                return True
            is_foreign = base.split(".")[0] in self._foreign[one.path]
            if not is_foreign and (last in known or is_torch_module(base)):
                return True
        return False

    def foreign(self, path: str) -> frozenset[str]:
        """What a file imports from elsewhere under the name of one of them: nobody knows what that is."""
        return (self._foreign[path] & self.names) - self._of_libraries

    def own(self, path: str) -> frozenset[str]:
        """What a file imports by name from the release itself: classes, functions and modules."""
        return self._own[path]

    def unseen(self, path: str) -> frozenset[str]:
        """Classes that a file imports from elsewhere: ``PPOLoss`` may be a Module of another library."""
        return self._unseen[path] - self._of_libraries


def derived(trees: Mapping[str, ast.Module], known: set[str]) -> frozenset[str]:
    """Names of classes of the release that derive from one of these, and these."""
    return _closed(
        _classes(trees), known, lambda one, names: any(base.rpartition(".")[2] in names for base in one.bases)
    )


def _classes(trees: Mapping[str, ast.Module]) -> list[_Class]:
    return [
        _Class(path, node.name, frozenset(ast.unparse(base).split("[")[0] for base in node.bases))
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]


def _closed(classes: Sequence[_Class], known: set[str], derives: Callable[[_Class, set[str]], bool]) -> frozenset[str]:
    """The known names, with those of the classes that derive from one of them."""
    while more := {one.name for one in classes if one.name not in known and derives(one, known)}:
        known |= more
    return frozenset(known)


def is_torch_module(dotted: str) -> bool:
    """``nn.Threshold``, ``torch.nn.Threshold``: whatever else the release calls so."""
    space, _, name = dotted.rpartition(".")
    return space in ("nn", "torch.nn", "th.nn") and name in torch_modules()


def _importable(paths: Iterable[str]) -> frozenset[str]:
    """What can be imported by its own name: whatever lies in no package."""
    packages = {path.rpartition("/")[0] for path in paths if path.endswith("__init__.py")}
    found = set()
    for path in paths:
        parts = path.removesuffix(".py").split("/")
        found |= {part for depth, part in enumerate(parts) if "/".join(parts[:depth]) not in packages}
    return frozenset(found)


_TORCH = frozenset({"torch", "torch_geometric"})
_KNOWN = frozenset({"numpy", "PIL", "pandas", "scipy", "typing_extensions"}) | sys.stdlib_module_names
"""Packages none of whose classes is a Module or a tensor."""


def _from(tree: ast.Module, tops: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level > 0 or (node.module or "").split(".")[0] in tops):
            yield from (alias.asname or alias.name for alias in node.names)


def _foreign(tree: ast.Module, tops: frozenset[str]) -> Iterator[str]:
    """Names that a file imports from neither torch nor one of these."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            if (node.module or "").split(".")[0] not in tops | _TORCH:
                yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] not in tops | _TORCH:
                    yield alias.asname or alias.name.split(".")[0]
