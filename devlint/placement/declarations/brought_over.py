"""Arguments that a definition brings over itself, before anything meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

import libcst as cst

from devlint.placement.declarations.evidence_rows import ATTRIBUTES, MOVED
from devlint.placement.syntax.nodes import FunctionNode, descend, dotted

_TELLS_OF_ITSELF = frozenset(
    {"shape", "size", "dim", "ndim", "numel", "device", "dtype", "is_cuda", "item", "tolist", "numpy"}
)
_READS = frozenset({"len", "int", "float", "range", "enumerate", "zip", "max", "min", "isinstance", "print"})
"""Builtin functions that read what they are given on the host."""
_REDUCTIONS = frozenset({"torch.max", "torch.min", "torch.sum", "torch.is_tensor", "torch.numel"})
"""Of one argument they give a number, or what stands for one."""


_VARIABLES = frozenset({"Variable", "autograd.Variable", "torch.autograd.Variable"})
"""A function that gives back the tensor that it gets."""

Helper = Callable[[cst.Call, str], bool]
"""Whether a call hands a name to a function that moves it."""


def is_brought_over(node: FunctionNode, name: str, helper: Helper | None = None) -> bool:
    """Whether nothing meets an argument as it came: its first use is a transfer, or the host alone reads it.

    Tests, loops over its items, items that are moved and what it tells of itself are no uses.
    """
    no_use: set[int] = set()
    is_read = False
    for part in descend(node.body):
        # Types are compared by identity: this asks the nodes of each definition, once for each of its parameters.
        if type(part) is cst.Attribute:
            if ATTRIBUTES.get(part.attr.value) is MOVED and _is_it(part.value, name):
                return True
            if ATTRIBUTES.get(part.attr.value) is MOVED and _is_item(part.value, name):
                # ``batch["ids"].to(device)``: what is left of the batch has to be read in this way as well.
                no_use.add(id(part.value.value))
                is_read = True
            if part.attr.value in _TELLS_OF_ITSELF and type(part.value) is cst.Name and part.value.value == name:
                no_use.add(id(part.value))
                is_read = True
        elif type(part) is cst.AssignTarget:
            several = isinstance(part.target, (cst.Tuple, cst.List))
            no_use.update(map(id, descend(part.target) if several else [part.target]))
        elif type(part) is cst.Comparison:
            no_use.add(id(part.left))
        elif type(part) is cst.For or type(part) is cst.CompFor:
            no_use.add(id(part.iter))
            is_read = is_read or dotted(part.iter) == name
        elif type(part) is cst.Call:
            if helper is not None and helper(part, name):
                return True
            if _reads_alone(part):
                no_use.update(id(argument.value) for argument in part.args)
                is_read = is_read or any(dotted(argument.value) == name for argument in part.args)
        elif type(part) is cst.Name and part.value == name and id(part) not in no_use:
            return False
    return is_read


def _is_it(expression: cst.BaseExpression, name: str) -> bool:
    """Whether it is the argument, or what a method of its own makes of it alone: ``Variable(x)``, ``x.float()``."""
    while isinstance(expression, cst.Call):
        if dotted(expression.func) in _VARIABLES and expression.args:
            expression = expression.args[0].value
        elif isinstance(expression.func, cst.Attribute) and not _meets_others(expression):
            expression = expression.func.value
        else:
            return False
    return isinstance(expression, cst.Name) and expression.value == name


def _is_item(expression: cst.BaseExpression, name: str) -> TypeGuard[cst.Subscript]:
    return isinstance(expression, cst.Subscript) and dotted(expression.value) == name


def _meets_others(call: cst.Call) -> bool:
    return any(isinstance(part, cst.Name) for argument in call.args for part in descend(argument.value))


def _reads_alone(call: cst.Call) -> bool:
    function = dotted(call.func)
    return function in _READS or (function in _REDUCTIONS and len(call.args) == 1)
