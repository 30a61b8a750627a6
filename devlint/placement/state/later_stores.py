"""Attributes that other methods than the constructor store: what they hold after any of them has run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devlint.placement.declarations.self_attributes import count_stores
from devlint.placement.domain.abstract_values import NONE, Instance, Kind, Tensor, Value
from devlint.placement.domain.lattice import CPU

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class LaterStore:
    """A value that a method puts in place of what the constructor stored."""

    method: FunctionInfo
    value: Value


def later_stores(interp: Interpreter, info: ClassInfo, name: str) -> tuple[LaterStore, ...] | None:
    """All later stores of an attribute of ``self``; None where not every one of them is in sight."""
    found: list[LaterStore] = []
    for one in info.order:
        program = interp.program.holder(one) or interp.program
        for method in one.methods.values():
            if name not in method.stores or method.name == "__init__" or method in one.builders:
                continue
            stores = interp.object_stores if method is interp.info else program.stores_of(method)
            if stores is None:
                return None
            values = stores.later.get((method.qualname, name), {})
            if len(values) != count_stores(method.node, name):
                return None
            found += (LaterStore(method, value) for value in values.values())
    return tuple(found)


def first_on_cpu(interp: Interpreter, info: ClassInfo, name: str) -> Value | None:
    """The first of the later stores where every one is of the CPU's, or of None; else None."""
    stores = later_stores(interp, info, name) or ()
    values = [store.value for store in stores if store.value != NONE]
    return values[0] if values and all(map(is_bare_on_cpu, values)) else None


def is_bare_on_cpu(value: Value) -> bool:
    """A plain tensor, or a generator, that was made on the CPU because no device was named."""
    if isinstance(value, Instance):
        placed = dict(value.details).get("placed")
        return isinstance(placed, Tensor) and placed.device == CPU
    if not isinstance(value, Tensor) or value.device != CPU or value.kind not in (Kind.PLAIN, Kind.BUFFER):
        return False
    return value.provenance is not None and value.provenance.first.bare
