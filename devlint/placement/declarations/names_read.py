"""Which names a definition reads and binds: gathered once, since what is evaluated in it asks again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import libcst as cst

from devlint.placement.declarations.imports import imported_names
from devlint.placement.syntax.nodes import FunctionNode, descend, inner_nodes, names_in


def reads_of_names(node: FunctionNode) -> Mapping[str, int]:
    """How often a definition reads each name, including its nested definitions."""
    reads: Counter[str] = Counter()
    for child in descend(node):
        if type(child) is cst.Name:
            reads[child.value] += 1
        elif type(child) is cst.AssignTarget and type(child.target) is cst.Name:
            reads[child.target.value] -= 1
    return reads


def loop_variables(node: FunctionNode) -> frozenset[str]:
    """The names in the targets of ``for`` statements."""
    return frozenset(name for child in inner_nodes(node) if type(child) is cst.For for name in names_in(child.target))


def bound_names(node: FunctionNode) -> frozenset[str] | None:
    """The names that a node of the definition, or of one inside of it, binds or may bind; None where it may any."""
    bound: set[str] = set()
    for child in inner_nodes(node):
        names = _bound_by(child)
        if names is None:
            return None
        bound.update(names)
    return frozenset(bound)


def _bound_by(node: cst.CSTNode) -> Iterable[str] | None:
    match node:
        case cst.Param() | cst.FunctionDef() | cst.ClassDef() | cst.NameItem():
            return (node.name.value,)
        case cst.Assign():
            return {name for target in node.targets for name in names_in(target.target)}
        case cst.AnnAssign() | cst.AugAssign() | cst.NamedExpr() | cst.For() | cst.CompFor():
            return names_in(node.target)
        case cst.AsName() | cst.MatchAs() | cst.MatchStar() | cst.MatchMapping():
            held = node.rest if isinstance(node, cst.MatchMapping) else node.name
            return names_in(held) if held is not None else ()
        case cst.Import() | cst.ImportFrom():
            return None if isinstance(node.names, cst.ImportStar) else tuple(dict(imported_names(node)))
    return ()
