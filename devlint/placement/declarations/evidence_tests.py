"""What the tests of a body show of names: conditions, assertions, and what is made where something is absent."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.placement.declarations import evidence_modules as modules
from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.evidence_calls import makes_several
from devlint.placement.declarations.evidence_found import Found, names_of
from devlint.placement.declarations.evidence_literals import absent, is_sequence, is_text
from devlint.placement.declarations.evidence_replaced import (
    assignments,
    is_plain,
    is_several,
    replaced_where_none,
    wrapped,
)
from devlint.placement.syntax.nodes import dotted


def compared(node: cst.Comparison, found: Found) -> None:
    """``task == "query"``: equal to a text, or one of some, is no tensor; ``key in kwargs`` tests both."""
    if type(node.comparisons[0].operator) in (cst.In, cst.NotIn):
        _note_tested([node.left, node.comparisons[0].comparator], found)
    other = node.comparisons[0].comparator
    if type(node.comparisons[0].operator) in (cst.Equal, cst.NotEqual):
        for one, beside in ((node.left, other), (other, node.left)):
            if is_sequence(beside):
                _note_tested([one], found)
    if type(node.left) is not cst.Name or node.left.value not in found.parameters:
        return
    if is_text(other) or (isinstance(other, cst.Set) and any(is_text(one.value) for one in other.elements)):
        found.note(node.left.value, rows.NO_TENSOR)
        found.note_text(node.left.value)


def chosen(node: cst.IfExp | cst.While, found: Found) -> None:
    _note_tested([node.test], found)
    if type(node) is cst.IfExp:
        _note_wrapped(node, found)
    if type(node) is cst.IfExp and (name := absent(node.test)):
        # ``x if x is not None else torch.zeros(3)``, in either order
        given, made = (node.orelse, node.body) if type(node.body) is cst.Call else (node.body, node.orelse)
        if type(given) is cst.Name and given.value == name and makes_several(made, found.imports):
            found.note_parameter(name, rows.MADE_WHERE_NONE)


def either(node: cst.BooleanOperation, found: Found) -> None:
    """``labels or []``: the truth of the left side is asked."""
    _note_tested([node.left], found)


def negated(node: cst.UnaryOperation, found: Found) -> None:
    if type(node.operator) is cst.Not:
        _note_tested([node.expression], found)
    elif type(node.expression) is cst.Name:
        found.note_parameter(node.expression.value, rows.COMPUTED)


def asserted(node: cst.Assert, found: Found) -> None:
    """``assert isinstance(x, torch.Tensor)``."""
    _note_tested([node.test], found)
    _told_where_true(node.test, found)


def demanded(node: cst.If, found: Found) -> None:
    """``if not isinstance(x, torch.Tensor): raise TypeError(...)``."""
    found.bind([])
    _note_tested([node.test], found)
    for stand_in in replaced_where_none(node):
        name = found.stand_ins[id(stand_in)] = names_of(stand_in.targets[0].target)[0]
        if name not in found.bound and is_several(stand_in.value):
            found.note_parameter(name, rows.UNPACKED)
        elif name not in found.bound and is_plain(stand_in.value):
            found.note_parameter(name, rows.NO_TENSOR)
    _note_wrapped(node, found)
    if (name := absent(node.test)) and name in found.parameters:
        _made_where_none(node, name, found)
    if type(node.test) is not cst.UnaryOperation or type(node.test.operator) is not cst.Not:
        return
    last = node.body.body[-1] if node.body.body else None
    last = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    if type(last) is cst.Raise:
        _told_where_true(node.test.expression, found)


def _note_tested(tested: Sequence[cst.BaseExpression], found: Found) -> None:
    for one in tested:
        if type(one) is cst.Name and one.value not in found.bound:
            found.note_parameter(one.value, rows.TESTED)


def _note_wrapped(node: cst.If | cst.IfExp, found: Found) -> None:
    if (name := wrapped(node)) and name not in found.bound:
        found.note_parameter(name, rows.OTHERWISE)


def _made_where_none(node: cst.If, name: str, found: Found) -> None:
    """``if x is None: x = torch.zeros(3)``."""
    for statement in assignments(node.body):
        if names_of(statement.targets[0].target) == [name] and makes_several(statement.value, found.imports):
            found.note_parameter(name, rows.MADE_WHERE_NONE)


def _told_where_true(test: cst.BaseExpression, found: Found) -> None:
    if not isinstance(test, cst.Call) or dotted(test.func) != "isinstance" or len(test.args) != 2:
        return
    tested, type_ = (argument.value for argument in test.args)
    name = found.imports.qualified(dotted(type_))
    if isinstance(tested, cst.Name) and name == "torch.Tensor":
        found.note(tested.value, rows.TENSOR)
    elif isinstance(tested, cst.Name) and name in modules.MODULE_CLASSES:
        found.note_parameter(tested.value, rows.MODULE)
