"""Abstract values in words: what kind of value it is, on which device, and by which convention it counts as that."""

from __future__ import annotations

from devlint.placement.domain.abstract_values import (
    ClassValue,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Function,
    Host,
    Instance,
    Kind,
    Module,
    OneOf,
    Opaque,
    Partial,
    ProjectModule,
    Reference,
    Self,
    Tensor,
    Truth,
    Value,
)
from devlint.placement.domain.lattice import UNKNOWN, Anchor, Device, SameAs, describe
from devlint.placement.domain.provenance import Provenance
from devlint.records import dataclass

MAX_ITEMS = 3
"""Items of a container that are described; the others are counted."""


@dataclass(frozen=True, slots=True)
class Description:
    """What a value is held to be."""

    kind: str
    """``tensor``, ``module``, ``unknown``: one word, for programs that read it."""
    words: str
    device: str | None
    """In the words of a report; None for a value that is on no device, or on an unknown one."""
    convention: str
    """What is assumed, in the words of a trace; empty where nothing is."""


def described(value: Value) -> Description:
    device = _device(value)
    provenance: Provenance | None = getattr(value, "provenance", None)
    notes = [step.note for step in provenance if step.note] if provenance is not None else []
    kind, words = _kind(value)
    if isinstance(value, (Tensor, Opaque, Module)):
        words += " on an unknown device" if device is None else f" on {device}"
    return Description(kind, words, device, notes[0] if notes else "")


def place_words(value: Value) -> str | None:
    """Where a tensor or a module lies: ``cpu``, ``moves with x``; None where that is unknown, and of other values."""
    if not isinstance(value, (Tensor, Module)) or value.device is None or value.device == UNKNOWN:
        return None
    if isinstance(value.device, SameAs):
        symbol = value.device.symbol
        return "moves with the module" if symbol.anchor is Anchor.MODULE else f"moves with {symbol.name}"
    return describe(value.device).replace("`", "")


def _device(value: Value) -> str | None:
    device: Device | None = getattr(value, "device", None)
    return None if device is None or device == UNKNOWN else describe(device)


def _kind(value: Value) -> tuple[str, str]:
    match value:
        case Tensor():
            assumed = "" if value.evidence is Evidence.CERTAIN else ", by convention,"
            return "tensor", f"{_TENSORS.get(value.kind, 'a tensor')}{assumed}"
        case Opaque():
            if value.info is not None:
                return "object", f"an object of `{value.info.name}`, all of whose tensors are"
            words = "a value of unknown type, used as a tensor," if value.tensorlike else "a value of unknown type,"
            return "tensor" if value.tensorlike else "object", f"{words} all"
        case Module():
            name = value.type_name or (value.info.name if value.info is not None else "")
            return "module", f"a module (`{name}`)" if name else "a module"
        case DeviceName():
            told = f"the device {describe(value.device)}" if value.device != UNKNOWN else "a device that is not known"
            return "device", f"the type of {told}" if value.is_type else told
        case Constant():
            return "constant", f"the constant {value.value!r}"
        case Host():
            if value.is_dtype:
                return "host", "a dtype"
            return ("array", "an array on the host") if value.numpy else ("host", "a value on the host, no tensor")
        case Container():
            return "container", _items(value)
        case Instance():
            return "object", f"an object of `{value.type_name.rsplit('.', 1)[-1]}`"
        case Reference():
            return "reference", f"`{value.name}`, of a library"
        case ProjectModule():
            return "reference", f"the module {value.file.name}"
        case Function():
            return "function", f"the function `{value.info.qualname}`"
        case Partial():
            return "function", "a function with some of its arguments"
        case ClassValue():
            return "class", f"the class `{value.info.qualname}`"
        case OneOf():
            return "function", f"one of {len(value.callees)} functions or classes"
        case Truth():
            about = " about devices" if value.about_device else ""
            known = "" if value.known is None else f", {value.known} where an accelerator is in use"
            return "truth", f"a truth value{about}{known}"
        case Self():
            return "object", f"an object of `{value.info.name}`"
    return "unknown", "unknown"


_TENSORS = {
    Kind.PARAMETER: "a parameter",
    Kind.BUFFER: "a buffer",
    Kind.PACKED: "a packed sequence",
    Kind.UNWRAPPED: "a tensor that was a parameter",
}


def _items(value: Container) -> str:
    listed = [described(item).words for item in value.items[:MAX_ITEMS]]
    if len(value.items) > MAX_ITEMS:
        listed.append(f"{len(value.items) - MAX_ITEMS} more")
    if value.rest is not None:
        listed.append(f"{'more, each' if listed else 'each item'} {described(value.rest).words}")
    return f"a {value.type} of {'; '.join(listed)}" if listed else f"an empty {value.type}"
