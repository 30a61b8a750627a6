"""Tests of a value's type: what they show of the value in each arm, and which call decides them.

``isinstance(x, torch.Tensor)`` tells one tensor from several: a function that takes both wraps the one in a list and
goes through the list. Whatever an argument is, its tensors are where the caller has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.declarations.known_classes import is_of_another_framework
from devlint.placement.domain.abstract_state import Narrowing
from devlint.placement.domain.abstract_values import (
    BOTTOM,
    NOTHING,
    Constant,
    Container,
    Evidence,
    Host,
    Opaque,
    Tensor,
    Value,
)
from devlint.placement.domain.lattice import CPU, Anchor, Guard, GuardKind, Known, SameAs
from devlint.placement.syntax.nodes import dotted, path_of, string_value
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

_OF_TENSORS = ("Tensor", "Parameter")
"""How the names of tensors' classes end: each is a subclass of ``torch.Tensor``."""
_SEQUENCES = frozenset({"list", "tuple", "collections.abc.Sequence", "typing.Sequence", "typing.List", "typing.Tuple"})
_NO_TENSORS = frozenset({"numpy.ndarray", "str", "int", "float", "list", "tuple", "dict"})
_NUMBERS = frozenset({"int", "float", "bool", "complex", "numbers.Number", "numbers.Integral", "numbers.Real"})
_PLAIN = _NUMBERS | {"str", "bytes", "numpy.ndarray", "numpy.bool_", "numpy.number", "numpy.generic", "pathlib.Path"}
"""Classes of values that hold no tensor."""
_TESTED = (Anchor.PARAMETER, Anchor.BATCH)


def known_of_tensor(interp: Interpreter, node: cst.Call) -> bool | None:
    """The outcome of a test of the type, or of a method, for a value that is a tensor; None if not known."""
    name = interp.index.qualified(dotted(node.func))
    if name not in ("isinstance", "hasattr") or len(node.args) != 2:
        return None
    value = interp.evaluate_quietly(node.args[0].value)
    if not isinstance(value, Tensor):
        return None
    asked = node.args[1].value
    if name == "hasattr":
        known = isinstance(asked, cst.SimpleString) and semantics.method(str(string_value(asked.value))) is not None
        return True if known else None
    if value.provenance is not None and isinstance(value.provenance.step.node, cst.Param):
        # An argument may have another type than annotated; that is why the code tests it.
        return None
    return False if _classes(interp, asked) <= _NO_TENSORS else None


def of_another_type(node: cst.Call, known: bool) -> tuple[Narrowing, ...]:
    """In the arm that no tensor takes the name holds something else, of which nothing is known."""
    path = path_of(node.args[0].value)
    return (Narrowing(path, NOTHING, not known),) if path is not None else ()


def narrowings(interp: Interpreter, node: cst.Call) -> tuple[Narrowing, ...]:
    """``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)``: the value of x if the test holds, and if it fails."""
    name = interp.index.qualified(dotted(node.func))
    path = path_of(node.args[0].value) if node.args else None
    if path is None or name not in ("isinstance", "torch.is_tensor"):
        return ()
    value = interp.evaluate_quietly(node.args[0].value)
    one = _one(value)
    if name == "torch.is_tensor":
        classes = {"torch.Tensor"}
    elif len(node.args) == 2:
        classes = _classes(interp, node.args[1].value)
    else:
        return ()
    plain = all(name in _PLAIN or is_of_another_framework(name) for name in classes)
    if plain and (one is not None or value == NOTHING):
        host = Host(numpy=classes == {"numpy.ndarray"}, number=classes <= _NUMBERS)
        return (Narrowing(path, host, True),)
    if one is None:
        return ()
    tensors = {c for c in classes if c.endswith(_OF_TENSORS) and not is_of_another_framework(c)}
    if tensors:
        holds = Narrowing(path, one if tensors == classes else value, True)
        # What is no `torch.FloatTensor` may still be a tensor.
        told = "torch.Tensor" in tensors
        return (holds, Narrowing(path, _another(interp, path, value), False)) if told else (holds,)
    if classes <= _SEQUENCES:
        holds = Narrowing(path, _several(value, one), True)
        return (holds, Narrowing(path, one, False)) if isinstance(value, Container) else (holds,)
    if isinstance(value, Container):
        return ()
    if "numpy.ndarray" in classes:
        return (Narrowing(path, Host(numpy=True), True),)
    immovable = next((name for name in classes if semantics.is_immovable(name)), "") if len(classes) == 1 else ""
    return (Narrowing(path, Opaque(one.device, one.provenance, immovable=immovable), True),)


def of_either(first: Sequence[Narrowing], second: Sequence[Narrowing]) -> tuple[Narrowing, ...]:
    """``x is None or isinstance(x, str)``: what holds no tensor in either case holds none."""
    plain = {one.path for one in first if one.when and isinstance(one.value, (Host, Constant))}
    both = (one for one in second if one.when and one.path in plain and isinstance(one.value, (Host, Constant)))
    return tuple(Narrowing(one.path, Host(), True) for one in both)


def guard_of_type(interp: Interpreter, node: cst.Call, guard: Guard | None) -> Guard | None:
    """A test of an argument's type as a guard that each call site decides."""
    value = _one(interp.evaluate_quietly(node.args[0].value))
    device = value.device if value is not None else None
    if guard is None or not isinstance(device, SameAs) or device.symbol.anchor not in _TESTED:
        return guard
    classes = {"torch.Tensor"} if len(node.args) == 1 else _classes(interp, node.args[1].value)
    of_tensors = "torch.Tensor" in classes and all(name.endswith(_OF_TENSORS) for name in classes)
    kind = GuardKind.IS_TENSOR if of_tensors else GuardKind.PLAIN
    if classes == {"numpy.ndarray"}:
        kind = GuardKind.IS_ARRAY
    elif classes <= _NO_TENSORS:
        kind = GuardKind.IS_NO_TENSOR
    return replace(guard, kind=kind, subject=device.symbol)


def _one(value: Value) -> Tensor | None:
    """The value where it is one tensor; None for what holds none. What was only likely is certain there."""
    if isinstance(value, Container) and not value.items and value.keys is None and value.rest is not None:
        value = value.rest
    if isinstance(value, Tensor):
        return replace(value, evidence=Evidence.CERTAIN)
    return Tensor(value.device, provenance=value.provenance) if isinstance(value, Opaque) else None


def _several(value: Value, one: Tensor) -> Container:
    """The value where it is a list or a tuple: of what is in it, the place alone is known."""
    if isinstance(value, Container):
        return value
    tensorlike = isinstance(value, Opaque) and value.tensorlike
    return Container((), None, Opaque(one.device, one.provenance, tensorlike), "list")


def _another(interp: Interpreter, path: str, value: Value) -> Value:
    """The value where it is no tensor: several, if the body goes through it."""
    if isinstance(value, Container):
        return value
    device = getattr(value, "device", None) if path in interp.uses.several else None
    if isinstance(device, (SameAs, Known)) and device != CPU and isinstance(value, (Tensor, Opaque)):
        return Container((), None, Opaque(device, value.provenance), "list")
    return BOTTOM


def _classes(interp: Interpreter, tested: cst.BaseExpression) -> set[str]:
    """The qualified names of the classes in an ``isinstance`` call: one class or a tuple of classes."""
    parts = [e.value for e in tested.elements] if isinstance(tested, cst.Tuple) else [tested]
    return {interp.index.qualified(dotted(part)) for part in parts}
