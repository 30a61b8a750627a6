"""Reads by numpy of what a definition was handed, in each of its calls: an effect that its callers can judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.lattice import Anchor, Device, GuardKind, SameAs, Symbol

if TYPE_CHECKING:
    from devlint.placement.domain.events import HostRead
    from devlint.placement.interpreter.interpreter import Interpreter


def note_read(interp: Interpreter, event: HostRead) -> None:
    """Record a read of what the definition was handed, if it runs in each call."""
    symbol = own_symbol(interp, event.value.device)
    if symbol is not None and event.wants_cpu and always_runs(interp):
        interp.host_reads.setdefault(symbol.key, event)


def own_symbol(interp: Interpreter, device: Device) -> Symbol | None:
    """The symbol of a parameter of the definition, if a value is where the caller has that."""
    info = interp.info
    if info is None or not isinstance(device, SameAs):
        return None
    symbol = device.symbol
    own = symbol.anchor is Anchor.PARAMETER and symbol.key.startswith(f"{info.qualname}:{info.key}:")
    return symbol if own else None


def always_runs(interp: Interpreter) -> bool:
    """Whether each call comes by, as far as conditions are known, and an error there is one of the call."""
    if interp.muted or interp.tries or interp.decided or interp.in_cpu_world or interp.is_dead:
        return False
    return all(decided.guard.kind is not GuardKind.ON_ACCELERATOR for decided in interp.state.left)
