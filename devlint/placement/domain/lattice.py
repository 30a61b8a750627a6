"""The lattice of devices: on which device a value is, as far as the source shows.

The analysed configuration has an available accelerator. A device is *known*, or *the same as* a device that the caller
decides (movable), or a *choice* of two under a named condition, or *unknown*. For unknown devices nothing is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import TypeGuard

from devlint.records import dataclass
from devlint.semantics import Relation


class Anchor(Enum):
    """What determines a movable device."""

    MODULE = "module"
    """The parameters of ``self``; in ``forward`` also its inputs, which are assumed to be on the same device."""
    PARAMETER = "parameter"
    """An argument of the function, on the device that the caller chose."""
    BATCH = "batch"
    """One item drawn from an iterable: not moved yet."""
    EXPRESSION = "expression"
    """A device given by an expression that is not evaluated further (``args.device``)."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A device that the caller decides. ``key`` identifies it within one evaluation, ``name`` is its source text."""

    anchor: Anchor
    name: str = field(compare=False)
    key: str
    source: str = field(default="", compare=False)
    """For BATCH: the source text of what the item is drawn from."""


SOME_INDEX = -1
"""An index that the program computes: present, but its value is not known."""


@dataclass(frozen=True, slots=True)
class Known:
    """A device named by the program: its type, and its index; None for the current device."""

    type: str
    index: int | None = None

    @property
    def on_cpu(self) -> bool:
        return self.type == "cpu"

    def __str__(self) -> str:
        return self.type if self.index in (None, SOME_INDEX) else f"{self.type}:{self.index}"


@dataclass(frozen=True, slots=True)
class SameAs:
    """The same device as ``symbol``."""

    symbol: Symbol


class GuardKind(Enum):
    PLAIN = "plain"
    IS_NONE = "is-none"
    FIRST_ITERATION = "first-iteration"
    """Of a loop: holds in the first iteration (the initial value), not in later ones (the value after the body)."""
    FIRST_CALL = "first-call"
    """Of a method: holds in the first call on an object, which meets what the constructor stored."""
    ON_ACCELERATOR = "on-accelerator"
    """A condition about devices, assumed to hold exactly on an accelerator (``x.is_cuda``, ``use_cuda``)."""
    IS_TENSOR = "is-tensor"
    """``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)``."""
    IS_NO_TENSOR = "is-no-tensor"
    """``isinstance(x, list)`` and other tests for types that no tensor has."""
    IS_ARRAY = "is-array"
    """``isinstance(x, np.ndarray)``."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition. ``key`` is its normalised text with the versions of its names: equal keys have equal outcomes."""

    key: str
    text: str = field(default="", compare=False)
    kind: GuardKind = field(default=GuardKind.PLAIN, compare=False)
    subject: Symbol | None = field(default=None, compare=False)
    lasting: bool = field(default=False, compare=False)
    """Whether it has one outcome in all methods of an object: a switch that the constructor is told."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A condition with its outcome at some point of the program."""

    guard: Guard
    holds: bool


def exclude(a: tuple[Decided, ...], b: tuple[Decided, ...]) -> bool:
    """Whether two points are in different arms of one branch, so that no run reaches both."""
    return any(x.guard == y.guard and x.holds is not y.holds for x in a for y in b)


@dataclass(frozen=True, slots=True)
class Choice:
    """``then`` if the guard holds, ``otherwise`` if not."""

    guard: Guard
    then: Device
    otherwise: Device


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known; nothing is reported."""


Device = Known | SameAs | Choice | Unknown

CPU = Known("cpu")
UNKNOWN = Unknown()
MAX_GUARDS = 4


def relate(a: Device, b: Device) -> Relation:
    """Whether two values can be on different devices when an accelerator is in use.

    ``cpu`` against a device the caller decides is DIFFERENT: it is for every caller that is not on the CPU. An
    accelerator against a device the caller decides is UNKNOWN: the two may agree on the author's machine. A new item of
    a loader is usually on the CPU, so compared with the CPU it is UNKNOWN as well.
    """
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return Relation.UNKNOWN
    if isinstance(a, Choice):
        return _relate_choice(a, b)
    if isinstance(b, Choice):
        return _relate_choice(b, a)
    if a == b:
        indefinite = isinstance(a, Known) and a.index == SOME_INDEX
        return Relation.UNKNOWN if indefinite else Relation.SAME
    if isinstance(a, Known) and isinstance(b, Known):
        return _relate_known(a, b)
    known, movable = (a, b) if isinstance(a, Known) else (b, a)
    if known == CPU and is_given(movable):
        return Relation.DIFFERENT
    return Relation.UNKNOWN


def _relate_known(a: Known, b: Known) -> Relation:
    if "meta" in (a.type, b.type):
        return Relation.UNKNOWN
    if a.type != b.type:
        return Relation.DIFFERENT
    if a.on_cpu:
        return Relation.SAME
    # "cuda" is the current device, which may have the other's index.
    return Relation.UNKNOWN if {a.index, b.index} & {None, SOME_INDEX} else Relation.DIFFERENT


def _relate_choice(choice: Choice, other: Device) -> Relation:
    if isinstance(other, Choice):
        if other.guard != choice.guard:
            for one, beside in ((choice, other), (other, choice)):
                if one.guard.kind is GuardKind.FIRST_ITERATION:
                    # A loop that runs has a first iteration, whatever else is chosen.
                    first, later = assume(beside, one.guard, True), assume(beside, one.guard, False)
                    return _any_of((relate(one.then, first), relate(one.otherwise, later)))
            return _all_of(relate(x, y) for x in (choice.then, choice.otherwise) for y in (other.then, other.otherwise))
        pairs = (relate(choice.then, other.then), relate(choice.otherwise, other.otherwise))
        return _any_of(pairs)
    arms = (relate(choice.then, other), relate(choice.otherwise, other))
    if (is_device_choice(choice) and not isinstance(other, Known)) or _is_default(choice, other):
        # The condition depends on the caller's device; a difference in one arm alone proves nothing.
        return _all_of(iter(arms))
    return _any_of(arms)


def _any_of(relations: tuple[Relation, Relation]) -> Relation:
    if Relation.DIFFERENT in relations:
        return Relation.DIFFERENT
    return Relation.SAME if relations == (Relation.SAME, Relation.SAME) else Relation.UNKNOWN


def _all_of(relations: object) -> Relation:
    seen = set(relations)  # type: ignore[call-overload]
    return seen.pop() if len(seen) == 1 else Relation.UNKNOWN


def is_device_choice(choice: Choice) -> bool:
    """Whether the condition chooses a device: it tests for one, or its arms are the CPU and an accelerator."""
    if choice.guard.kind is GuardKind.ON_ACCELERATOR:
        return True
    arms = (choice.then, choice.otherwise)
    return CPU in arms and any(isinstance(arm, Known) and not arm.on_cpu for arm in arms)


def _is_default(choice: Choice, other: Device) -> bool:
    """``device or "cpu"`` beside what the program put somewhere by a name: the CPU where nobody named a device."""
    by_name = isinstance(other, SameAs) and other.symbol.anchor is Anchor.EXPRESSION
    arms = (choice.then, choice.otherwise)
    return by_name and choice.guard.kind is GuardKind.IS_NONE and CPU in arms and any(map(is_device_by_name, arms))


def choose(guard: Guard | None, then: Device, otherwise: Device) -> Device:
    """The join of two devices after a branch."""
    if then == otherwise:
        return then
    if guard is None:
        return UNKNOWN
    then, otherwise = _arm(then, guard, True), _arm(otherwise, guard, False)
    if then == otherwise:
        return then
    joined = Choice(guard, then, otherwise)
    return joined if count_guards(joined) <= MAX_GUARDS else UNKNOWN


def _arm(device: Device, guard: Guard, holds: bool) -> Device:
    """``device`` where ``guard`` holds or not."""
    if isinstance(device, Choice):
        if device.guard == guard:
            return _arm(device.then if holds else device.otherwise, guard, holds)
        return choose(device.guard, _arm(device.then, guard, holds), _arm(device.otherwise, guard, holds))
    return device


def assume(device: Device, guard: Guard, holds: bool) -> Device:
    """``device`` in the branch where ``guard`` holds or not."""
    return _arm(device, guard, holds)


def in_later_calls(device: Device) -> Device:
    """``device`` in other calls of a method than the first."""
    if not isinstance(device, Choice):
        return device
    if device.guard.kind is GuardKind.FIRST_CALL:
        return in_later_calls(device.otherwise)
    return choose(device.guard, in_later_calls(device.then), in_later_calls(device.otherwise))


def placed(device: Device, places: Mapping[str, Device]) -> Device:
    """``device`` where some symbols have a known place, by their keys."""
    if isinstance(device, SameAs):
        return places.get(device.symbol.key, device)
    if isinstance(device, Choice):
        return choose(device.guard, placed(device.then, places), placed(device.otherwise, places))
    return device


def count_guards(device: Device) -> int:
    if isinstance(device, Choice):
        return 1 + count_guards(device.then) + count_guards(device.otherwise)
    return 0


def guards_of(device: Device) -> tuple[Guard, ...]:
    """The conditions of a choice, the outermost first."""
    if isinstance(device, Choice):
        return (device.guard, *guards_of(device.then), *guards_of(device.otherwise))
    return ()


def leaves(device: Device) -> tuple[Device, ...]:
    """Every device that a choice may result in."""
    if isinstance(device, Choice):
        return leaves(device.then) + leaves(device.otherwise)
    return (device,)


def is_movable(device: Device) -> bool:
    """Whether something that the caller decides is among what a choice can end in."""
    return any(isinstance(leaf, SameAs) for leaf in leaves(device))


def may_be_cpu(device: Device) -> bool:
    return CPU in leaves(device)


def is_accelerator(device: Device) -> bool:
    """Whether the device is an accelerator in every arm."""
    return all(isinstance(leaf, Known) and leaf.type not in ("cpu", "meta") for leaf in leaves(device))


def is_device_by_name(device: Device) -> bool:
    """Whether it is a device that was handed over or set as such, and not where some tensor is."""
    if not isinstance(device, SameAs):
        return False
    symbol = device.symbol
    return symbol.anchor is Anchor.EXPRESSION or (symbol.anchor is Anchor.PARAMETER and symbol.name.endswith("device"))


def is_set_as_device(device: Device) -> bool:
    """Whether the program says by name where it is, in every arm, and not on the CPU alone.

    ``device or torch.device("cuda")``, ``torch.device("cuda" if use_cuda else "cpu")``.
    """
    named = [leaf for leaf in leaves(device) if leaf != CPU]
    return bool(named) and all(is_accelerator(leaf) or is_device_by_name(leaf) for leaf in named)


def describe(device: Device) -> str:
    """The description of a device in reports."""
    match device:
        case Known():
            return str(device)
        case SameAs(symbol):
            return _describe_symbol(symbol)
        case Choice(guard, then, Unknown()) if not isinstance(then, Choice):
            return f"{describe(then)} if {guard.text}"
        case Choice(guard, then, otherwise) if not isinstance(then, Choice) and not isinstance(otherwise, Choice):
            return f"{describe(then)} if {guard.text} else {describe(otherwise)}"
        case Choice():
            *first, last = dict.fromkeys(map(describe, leaves(device)))
            return f"{', '.join(first)} or {last}" if first else last
        case _:
            return "an unknown device"


def _describe_symbol(symbol: Symbol) -> str:
    match symbol.anchor:
        case Anchor.MODULE:
            return "the module's device"
        case Anchor.BATCH:
            return f"the device `{symbol.name}` came on"
        case Anchor.EXPRESSION:
            return f"`{symbol.name}`"
        case Anchor.PARAMETER if symbol.name.endswith("device"):
            # The argument is itself a device.
            return f"`{symbol.name}`"
        case _:
            return f"the device of `{symbol.name}`"


def is_given(device: Device) -> bool:
    """Whether the place is the caller's or the module's choice: a symbol, but not that of a batch nobody has moved."""
    return isinstance(device, SameAs) and device.symbol.anchor is not Anchor.BATCH


def is_of_module(device: Device | None) -> bool:
    """Whether it is where the module is that the code belongs to, wherever that was moved."""
    return isinstance(device, SameAs) and device.symbol.anchor is Anchor.MODULE


def is_of_parameter(device: Device | None) -> TypeGuard[SameAs]:
    """Whether it is where the caller put an argument."""
    return isinstance(device, SameAs) and device.symbol.anchor is Anchor.PARAMETER


def batch_of(device: Device | None) -> Symbol | None:
    """The batch that a value came with, where nobody has moved it."""
    return device.symbol if isinstance(device, SameAs) and device.symbol.anchor is Anchor.BATCH else None
