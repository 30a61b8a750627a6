"""What an expression is as it is written: a number, a text, a test for what is absent."""

from __future__ import annotations

import re

import libcst as cst

from devlint.placement.syntax.nodes import code_of

_NUMBERS = r"(?:typing\.)?(?:int|float|bool|complex|(?:numbers\.)?Number)"
_STATES_A_NUMBER = re.compile(rf"(?:(?:typing\.)?(?:Optional|Union)\[)?{_NUMBERS}(?:\s*[|,]\s*(?:{_NUMBERS}|None))*\]?")


def is_integer(node: cst.BaseExpression) -> bool:
    return isinstance(unsigned(node), cst.Integer)


def unsigned(node: cst.BaseExpression) -> cst.BaseExpression:
    """``1`` of ``-1``."""
    return node.expression if isinstance(node, cst.UnaryOperation) else node


def states_a_number(parameter: cst.Param) -> bool:
    """Whether the annotation of a parameter, or its default where there is none, says that it is one number."""
    if parameter.annotation is not None:
        return _STATES_A_NUMBER.fullmatch(code_of(parameter.annotation.annotation)) is not None
    return parameter.default is not None and isinstance(unsigned(parameter.default), (cst.Integer, cst.Float))


def is_text(node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(is_text(element.value) for element in node.elements)
    return isinstance(node, (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString))


def is_sequence(node: cst.BaseExpression) -> bool:
    """``(3, 4)``, ``x.shape``, ``list(x)``: nothing of this kind is equal to a tensor."""
    match node:
        case cst.Tuple() | cst.List() | cst.Dict() | cst.Attribute(attr=cst.Name(value="shape")):
            return True
        case cst.Call(func=cst.Name(value=function)):
            return function in ("tuple", "list", "dict", "set", "sorted")
        case _:
            return False


def absent(test: cst.BaseExpression) -> str:
    """``x``, of ``x is None`` and ``x is not None``."""
    if type(test) is not cst.Comparison:
        return ""
    match test:
        case cst.Comparison(
            left=cst.Name(value=name),
            comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot(), comparator=cst.Name(value="None"))],
        ):
            return name
    return ""
