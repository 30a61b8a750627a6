"""Statements that put something else in the place of what was given: where nothing was, and where it came alone.

if memory is None:
    memory = []                          what is given is no tensor either
if not isinstance(images, (list, tuple)):
    images = [images]                    several are given, or one
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.declarations.evidence_literals import absent, is_text
from devlint.placement.syntax.nodes import dotted


def assignments(body: cst.BaseSuite) -> Iterator[cst.Assign]:
    """The assignments of a block to one name each, without those of blocks in it."""
    for line in [body] if isinstance(body, cst.SimpleStatementSuite) else body.body:
        for statement in line.body if isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) else ():
            if isinstance(statement, cst.Assign) and type(statement.targets[0].target) is cst.Name:
                yield statement


def replaced_where_none(node: cst.If) -> Iterator[cst.Assign]:
    """``x = ...``, below ``if x is None``: what is said of ``x`` from there on holds for what is given as well."""
    name = absent(node.test)
    test = node.test
    if not name or not isinstance(test, cst.Comparison) or not isinstance(test.comparisons[0].operator, cst.Is):
        return
    for statement in assignments(node.body):
        if _is_bound(statement, name):
            yield statement


def is_plain(value: cst.BaseExpression) -> bool:
    """``{}``, ``"mean"``: nothing for which a tensor stands."""
    empty = isinstance(value, cst.Call) and dotted(value.func) in ("dict", "set") and not value.args
    return empty or isinstance(value, (cst.Dict, cst.DictComp, cst.Set)) or (is_text(value) and not is_several(value))


def is_several(value: cst.BaseExpression) -> bool:
    """``[]``, ``[1, 2]``, ``(None,) * 3``."""
    if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Multiply):
        value = value.left
    return isinstance(value, (cst.List, cst.Tuple, cst.ListComp))


def wrapped(node: cst.If | cst.IfExp) -> str:
    """``x``, of ``if not isinstance(x, tuple): x = (x,)`` and ``[x] if torch.is_tensor(x) else x``; empty otherwise."""
    name = _asked(node.test)
    if not name:
        return ""
    if isinstance(node, cst.IfExp):
        return name if any(_is_alone(arm, name) for arm in (node.body, node.orelse)) else ""
    for statement in assignments(node.body):
        if _is_bound(statement, name) and _is_alone(statement.value, name):
            return name
    return ""


def _is_bound(statement: cst.Assign, name: str) -> bool:
    target = statement.targets[0].target
    return isinstance(target, cst.Name) and target.value == name


def _is_alone(value: cst.BaseExpression, name: str) -> bool:
    if not isinstance(value, (cst.List, cst.Tuple)) or len(value.elements) != 1:
        return False
    only = value.elements[0]
    return isinstance(only, cst.Element) and isinstance(only.value, cst.Name) and only.value.value == name


def _asked(test: cst.BaseExpression) -> str:
    """``x``, of ``isinstance(x, tuple)``, ``torch.is_tensor(x)`` and what denies it."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test = test.expression
    if not isinstance(test, cst.Call) or not test.args or not isinstance(test.args[0].value, cst.Name):
        return ""
    return test.args[0].value.value if (dotted(test.func) or "").rpartition(".")[2] in _ASKING else ""


_ASKING = frozenset({"isinstance", "is_tensor"})
