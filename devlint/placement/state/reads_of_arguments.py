"""Reads by numpy of what a definition was handed, in each of its calls: an effect that its callers can judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.declarations.evidence_conventions import CALLABLE_RESULT, CONVENTIONS
from devlint.placement.domain.abstract_values import Opaque, Value
from devlint.placement.domain.lattice import Anchor, Decided, Device, GuardKind, SameAs
from devlint.placement.syntax.nodes import parameters_of

if TYPE_CHECKING:
    from devlint.placement.domain.events import HostRead
    from devlint.placement.interpreter.interpreter import Interpreter


def note_read(interp: Interpreter, event: HostRead) -> None:
    """Record a read of what the definition was handed, if it runs in each call, or in those that ask for it.

    What a callable of unknown type makes of it may be a list of numbers: ``np.array(metrics[name](truth, guesses))``.
    """
    if is_of_a_callable(event.value):
        return
    key = key_of_parameter(interp, event.value.device)
    if key is not None and event.wants_cpu and is_in_each_call(interp, allowed=_switches(interp, event.arms)):
        interp.host_reads.setdefault(key, event)


def is_of_a_callable(value: Value) -> bool:
    """Whether a value is what a callable of unknown type gives, by convention."""
    made = value.provenance if isinstance(value, Opaque) else None
    return made is not None and made.step.note == CONVENTIONS[CALLABLE_RESULT]


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


def is_in_each_call(interp: Interpreter, allowed: int = 0) -> bool:
    """Whether each call comes by, and an error there is one of the call; so many conditions are ``allowed``."""
    if interp.muted or interp.tries or len(interp.decided) > allowed or interp.in_cpu_world or interp.is_dead:
        return False
    return all(decided.guard.kind is not GuardKind.ON_ACCELERATOR for decided in interp.state.left)


def _switches(interp: Interpreter, arms: tuple[Decided, ...]) -> int:
    """How many conditions there are, if each asks for parameters of the definition alone: ``if plot and folder``."""
    own = (
        {parameter.name.value for parameter in parameters_of(interp.info.header)} if interp.info is not None else set()
    )
    plain = all(arm.holds and arm.guard.kind is GuardKind.PLAIN and own.issuperset(asked(arm)) for arm in arms)
    return len(arms) if plain else 0


def asked(arm: Decided) -> list[str]:
    """The names of which a condition wants each to be true."""
    return arm.guard.text.split(" and ")
