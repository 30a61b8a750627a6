"""Objects of the project that were built with tensors on the CPU: whatever keeps one does not bring them over.

Nor does a move of a Module that keeps them as plain attributes. Their methods meet what comes in, and nothing in their
class says that the two are apart: the call does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from devlint.placement.calls.object_changes import replaces_attributes
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import Instance, Module, Self, Tensor, Value
from devlint.placement.domain.events import DeviceMismatch, MismatchOperand
from devlint.placement.domain.lattice import CPU, SameAs, is_accelerator, is_device_by_name, leaves
from devlint.placement.domain.provenance import was_moved
from devlint.placement.operations.operands import device_of_value
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.interpreter.interpreter import Interpreter

T = TypeVar("T")


def kept_on_cpu(interp: Interpreter, receiver: Value | None, node: cst.Call) -> Mapping[str, Tensor]:
    """The tensors on the CPU that an object was built with, by the keys of what its attributes follow.

    None of one that can be moved, or some of whose attributes the code around it replaces.
    """
    if isinstance(receiver, Self):
        return interp.kept_on_cpu
    if not isinstance(receiver, (Instance, Module)) or receiver.info is None:
        return {}
    kept = {key: _of_one_arm(value) for key, value in left_on_cpu(receiver.given) if isinstance(value, Tensor)}
    if not kept or any(receiver.info.method(way) is not None for way in _WAYS_TO_MOVE):
        return {}
    return {} if isinstance(node.func, cst.Attribute) and replaces_attributes(interp, node.func.value) else kept


def kept_models(interp: Interpreter, receiver: Value | None) -> Mapping[str, Module]:
    """The modules that an object was built with where they were moved, by the same keys; none of one that can move."""
    if isinstance(receiver, Self):
        return interp.kept_models
    if not isinstance(receiver, Instance) or receiver.info is None:
        return {}
    if any(receiver.info.method(way) is not None for way in _WAYS_TO_MOVE):
        return {}
    return {key: value for key, value in receiver.given if isinstance(value, Module) and was_moved(value.provenance)}


def left_on_cpu(given: tuple[tuple[str, Value], ...]) -> tuple[tuple[str, Value], ...]:
    """Of what an object was built with, the tensors on the CPU."""
    return tuple((key, value) for key, value in given if isinstance(value, Tensor) and value.device == CPU)


_WAYS_TO_MOVE = ("to", "cuda", "_apply")


def _of_one_arm(value: Tensor) -> Tensor:
    """One creation stands for those of all arms: each call of each method meets them all."""
    return value if value.provenance is None else replace(value, provenance=replace(value.provenance, others=()))


def attributes_as_built(info: ClassInfo | None, kept: Mapping[str, T]) -> Iterator[tuple[str, T]]:
    """The attributes that hold what the object was built with as it came, ``self.table = table``, and nothing else."""
    if info is None or not kept:
        return
    for init in info.constructors:
        for attribute, stored in init.stored_expressions.items():
            match stored:
                case (cst.Name(value=name),) if not info.storing_later(attribute):
                    value = kept.get(symbol_key(init, name))
                    if value is not None:
                        yield attribute, value


def is_left_by_its_caller(event: DeviceMismatch, receiver: Value | None) -> bool:
    """Whether a Module that nobody moved meets what its caller's caller handed in: that works where the Module is."""
    if not isinstance(receiver, Module) or was_moved(receiver.provenance):
        return False
    places = [leaf for one in (event.offending, event.other) for leaf in leaves(device_of_value(one.value))]
    return not any(is_accelerator(place) or is_device_by_name(place) for place in places)


def as_built(event: DeviceMismatch, kept: Mapping[str, Tensor]) -> DeviceMismatch:
    """The mismatch with what the object was built with for what its attributes follow."""
    offending, other = (_operand_as_built(one, kept) for one in (event.offending, event.other))
    return replace(event, offending=offending, other=other)


def _operand_as_built(operand: MismatchOperand, kept: Mapping[str, Tensor]) -> MismatchOperand:
    value = operand.value
    device = device_of_value(value)
    built = kept.get(device.symbol.key) if isinstance(device, SameAs) else None
    if built is None or built.provenance is None or not isinstance(value, Tensor):
        return operand
    return replace(operand, value=replace(value, device=CPU, provenance=built.provenance))
