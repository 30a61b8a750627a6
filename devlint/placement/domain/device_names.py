"""Devices named by literals."""

from __future__ import annotations

from devlint import semantics
from devlint.placement.domain.abstract_values import Constant, DeviceName, Value
from devlint.placement.domain.lattice import CPU, Known
from devlint.semantics import NamedDevice

NO_DEVICE = "gpu"
"""What is written for ``cuda`` by mistake, ``f"gpu:{rank}"``: torch refuses it."""


def name_of_constant(value: Constant) -> DeviceName | None:
    """The device a literal names; None if it names none (``"gpu"`` too: torch rejects it)."""
    if not isinstance(value.value, str):
        return None
    named = semantics.parse_device(value.value)
    if isinstance(named, NamedDevice):
        return DeviceName(Known(named.type, None if named.type == "cpu" else named.index), value.node, value.value)
    return None


def names_the_cpu(value: Value) -> bool:
    """``"cpu"``, or a device that is the CPU."""
    if isinstance(value, Constant):
        return value.value == "cpu"
    return isinstance(value, DeviceName) and value.device == CPU
