"""Reads by numpy of what a definition was handed, in each of its calls: an effect that its callers can judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.lattice import Anchor, Device, GuardKind, SameAs
from devlint.placement.syntax.nodes import parameters_of

if TYPE_CHECKING:
    from devlint.placement.domain.events import HostRead
    from devlint.placement.interpreter.interpreter import Interpreter


def note_read(interp: Interpreter, event: HostRead) -> None:
    """Record a read of what the definition was handed, if it runs in each call."""
    key = key_of_parameter(interp, event.value.device)
    if key is not None and event.wants_cpu and always_runs(interp):
        interp.host_reads.setdefault(key, event)


def key_of_parameter(interp: Interpreter, device: Device) -> str | None:
    """The key of the symbol of a parameter of the definition, if a value is where the caller has that, or its items."""
    info = interp.info
    if info is None or not isinstance(device, SameAs):
        return None
    own, symbol = f"{info.qualname}:{info.key}:", device.symbol
    if symbol.anchor is Anchor.BATCH:
        named = any(parameter.name.value == symbol.source for parameter in parameters_of(info.header))
        return own + symbol.source if named else None
    return symbol.key if symbol.anchor is Anchor.PARAMETER and symbol.key.startswith(own) else None


def always_runs(interp: Interpreter) -> bool:
    """Whether each call comes by, as far as conditions are known, and an error there is one of the call."""
    if interp.muted or interp.tries or interp.decided or interp.in_cpu_world or interp.is_dead:
        return False
    return all(decided.guard.kind is not GuardKind.ON_ACCELERATOR for decided in interp.state.left)
