"""Calls of an object's own methods with what it has brought to a device."""

from __future__ import annotations

from devlint.placement.domain.abstract_values import Container, Opaque, Self, Tensor, Value
from devlint.placement.domain.events import Called, Event
from devlint.placement.domain.lattice import CPU, UNKNOWN, leaves
from devlint.placement.domain.provenance import was_moved


def hands_over(event: Event) -> bool:
    """Whether an object calls a method of its own, and hands over what it has brought to a device."""
    if not isinstance(event, Called) or not isinstance(event.receiver, Self):
        return False
    return any(is_brought(argument.value) for argument in event.call.arguments)


def is_brought(value: Value) -> bool:
    """A tensor, or what holds some, each of which was moved to another place than the CPU."""
    inside = list(value.innermost) if isinstance(value, Container) else [value]
    tensors = [one for one in inside if isinstance(one, (Tensor, Opaque))]
    return bool(tensors) and all(
        was_moved(one.provenance) and {CPU, UNKNOWN}.isdisjoint(leaves(one.device)) for one in tensors
    )
