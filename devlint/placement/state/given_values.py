"""What one argument of a call shows: which place it follows, whether it is a tensor, and whether it is on the CPU."""

from __future__ import annotations

from devlint.placement.declarations.evidence_conventions import (
    CALLABLE_RESULT,
    CONVENTIONS,
    MODULE_RESULT,
    draws_from_a_loader,
)
from devlint.placement.domain.abstract_values import (
    Constant,
    Container,
    Evidence,
    Host,
    Instance,
    Module,
    Opaque,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Device,
    SameAs,
    Symbol,
    batch_of,
    is_accelerator,
    is_device_by_name,
    is_of_parameter,
    is_set_as_device,
    leaves,
)
from devlint.placement.domain.provenance import StepKind, rests_on, was_moved


def symbols_of(value: Value) -> list[Symbol]:
    """The places that a value follows."""
    return [leaf.symbol for leaf in leaves(getattr(value, "device", UNKNOWN)) if isinstance(leaf, SameAs)]


def keys_of(value: Value) -> set[str]:
    return {symbol.key for symbol in symbols_of(value)}


def owner_of(symbol: Symbol) -> str:
    """The definition whose parameter it is."""
    return symbol.key.split(":", 1)[0]


def follows_parameter_of(qualname: str, value: Value) -> bool:
    return any(symbol.anchor is Anchor.PARAMETER and owner_of(symbol) == qualname for symbol in symbols_of(value))


def is_handed_on(value: Value) -> bool:
    """Whether a tensor is wherever the caller's own arguments are."""
    places = leaves(value.device) if isinstance(value, (Tensor, Opaque)) else ()
    return bool(places) and all(is_of_parameter(one) for one in places)


def call_of(value: Value) -> int | None:
    """The call that gave a value as it is."""
    provenance = value.provenance if isinstance(value, (Tensor, Opaque)) else None
    returned = provenance is not None and provenance.step.kind is StepKind.RETURNED
    return id(provenance.step.node) if provenance is not None and returned else None


def construction_of(value: Value) -> int | None:
    """Which construction an object came from."""
    return id(value.provenance.first.node) if isinstance(value, Module) and value.provenance is not None else None


def is_certainly_a_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN


def is_a_tensor(value: Value) -> bool:
    """By whatever evidence: what reads it has a tensor's method called."""
    return isinstance(value, Tensor)


def is_of_a_loader(value: Tensor | Opaque) -> bool:
    """Whether a loader handed it out, and nothing else was done with it (fixture `handed_as_loaded`)."""
    batch = batch_of(value.device)
    if batch is None or not draws_from_a_loader(batch.source):
        return False
    kinds = {step.kind for step in value.provenance or ()}
    return kinds.isdisjoint({StepKind.COMPUTED, StepKind.MOVED, StepKind.RETURNED})


def is_placed_nowhere(value: Value) -> bool:
    """Whether the argument's device is unknown, or is the CPU."""
    return isinstance(value, UnknownValue) or getattr(value, "device", None) == UNKNOWN or stays_on_cpu(value)


def is_placed(value: Value) -> bool:
    """The argument is where the caller's own caller, or the module, is in some arm, or a tensor on an accelerator.

    That it is a tensor is known of the operation that it takes part in. ``if x.device.type == "cpu"`` tells two arms.
    """
    elsewhere = [leaf for leaf in leaves(_device_of(value)) if leaf != CPU]
    anchors = {leaf.symbol.anchor if isinstance(leaf, SameAs) else None for leaf in elsewhere}
    movable = bool(anchors) and anchors <= {Anchor.PARAMETER, Anchor.MODULE}
    if isinstance(value, Opaque):
        # What something of unknown type computed it may have brought anywhere.
        return movable and not rests_on(value.provenance, CONVENTIONS[CALLABLE_RESULT])
    return isinstance(value, Tensor) and (movable or is_accelerator(value.device))


def is_own_object(value: Value) -> bool:
    return isinstance(value, Instance) and value.node is not None


def is_elsewhere(value: Value) -> bool:
    """The argument is a tensor where a module works, be it one that the caller was handed: ``model.embed(x)``.

    Or where the caller itself has brought it. Of an object of a library it is what that computes with; a model that the
    caller has brought there gives what is there.
    """
    if isinstance(value, Instance):
        value = dict(value.details).get("placed", value)
    if isinstance(value, (Tensor, Opaque, Module)) and _is_brought(value):
        return True
    if not (isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)):
        return False
    places = leaves(value.device)
    moves = all(isinstance(one, SameAs) and one.symbol.anchor is Anchor.MODULE for one in places)
    computed = value.provenance.find(StepKind.COMPUTED) if value.provenance is not None else None
    given_by = computed is not None and computed.device == value.device and computed.note == CONVENTIONS[MODULE_RESULT]
    return moves or given_by or is_accelerator(value.device)


def is_put_on_a_device(value: Value) -> bool:
    """Whether the caller has put a tensor on a device that is not the CPU in every arm, and names it."""
    return isinstance(value, (Tensor, Opaque)) and is_set_as_device(value.device)


def _is_brought(value: Tensor | Opaque | Module) -> bool:
    """Whether the caller has moved it to a device that it names, or to an accelerator if it is told to use one."""
    places = leaves(value.device)
    named = (one for one in places if isinstance(one, SameAs) and "cpu" not in one.symbol.name.lower())
    told = any(map(is_accelerator, places)) or any(map(is_device_by_name, named))
    return told and was_moved(value.provenance)


def _device_of(value: Value) -> Device:
    return value.device if isinstance(value, (Tensor, Opaque)) else UNKNOWN


def stays_on_cpu(value: Value) -> bool:
    """Whether the argument is None, or on the CPU in every arm that is known; also lists and dicts of such values."""
    if isinstance(value, Container):
        return bool(value.values) and all(map(stays_on_cpu, value.values))
    if isinstance(value, (Tensor, Opaque)):
        # Created without a device and then combined with an unknown value: most likely still on the CPU.
        came = value.provenance if isinstance(value, Tensor) else None
        made_bare = came is not None and came.first.bare and not was_moved(came)
        places = set(leaves(value.device))
        return (places <= {CPU, UNKNOWN} and (CPU in places or made_bare)) or is_of_a_loader(value)
    if isinstance(value, Module):
        # Made in the caller, which has not moved it by then.
        return value.device == CPU and not value.stateless
    if isinstance(value, Constant):
        named = name_of_constant(value)
        return named is None or named.device == CPU
    return isinstance(value, Host)
