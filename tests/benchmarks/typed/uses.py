"""What annotated parameters are used for, and what kind of value is used so: the worth of each use as evidence."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from typed.annotation import Kind
from typed.definitions import Function, Place, functions, parameters
from typed.signs import uses


@dataclass
class Tally:
    """How many parameters of each kind show one sign, over all releases and in each."""

    kinds: Counter[Kind] = field(default_factory=Counter)
    releases: dict[str, Counter[Kind]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, release: str, kind: Kind) -> None:
        self.kinds[kind] += 1
        self.releases[release][kind] += 1

    @property
    def count(self) -> int:
        return self.kinds.total()

    def share(self, kind: Kind) -> float:
        return self.kinds[kind] / self.count if self.count else 0.0

    def mean_share(self, kind: Kind) -> float | None:
        """The mean over the releases that have three such parameters or more, so that no single one decides."""
        shares = [kinds[kind] / kinds.total() for kinds in self.releases.values() if kinds.total() >= 3]
        return sum(shares) / len(shares) if shares else None


def tallied(signs: Iterable[tuple[str, str, Kind]]) -> dict[str, Tally]:
    """From (sign, release, kind); the commonest signs first."""
    found: dict[str, Tally] = defaultdict(Tally)
    for sign, release, kind in signs:
        found[sign].add(release, kind)
    return dict(sorted(found.items(), key=lambda item: (-item[1].count, item[0])))


def signs_of(path: str, tree: ast.Module, truth: Mapping[Place, Kind]) -> Iterator[tuple[str, Kind]]:
    """Each sign that an annotated parameter shows, once a parameter."""
    imported = _imported(tree)
    for qualname, node, owner in functions(tree):
        kinds = {
            a.arg: k for a in parameters(node, owner) if (k := truth.get(Place(path, qualname, a.arg))) is not None
        }
        if kinds:
            tensors = {name for name, kind in kinds.items() if kind == "tensor"}
            for name, signs in _signs(node, set(kinds), tensors, imported).items():
                for sign in signs:
                    yield sign, kinds[name]


def _imported(tree: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _signs(function: Function, names: set[str], tensors: set[str], imported: Mapping[str, str]) -> dict[str, set[str]]:
    """By name. Only what stands before the name is bound anew is a use of the parameter."""
    rebound = _rebound(function, names)
    found: dict[str, set[str]] = defaultdict(set)
    parents: dict[ast.AST, ast.AST] = {}
    for node in ast.walk(function):
        for child in ast.iter_child_nodes(node):
            parents[child] = node
    inside = [n for statement in function.body for n in ast.walk(statement)]
    for node in inside:
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
            first = rebound.get(node.id)
            if first is None or (node.lineno, node.col_offset) < first:
                found[node.id].update(uses(node, parents, tensors, imported))
    return found


def _rebound(function: Function, names: set[str]) -> dict[str, tuple[int, int]]:
    """Where each name is first bound anew: the end of that statement, whose value may still read it."""
    found: dict[str, tuple[int, int]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.stmt):
            stores = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
            for name in (n for store in stores for n in ast.walk(store)):
                if isinstance(name, ast.Name) and name.id in names and not isinstance(name.ctx, ast.Load):
                    simple = isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
                    end = (node.end_lineno or node.lineno, node.end_col_offset or 0) if simple else (node.lineno, 0)
                    found[name.id] = min(found.get(name.id, end), end)
    return found
