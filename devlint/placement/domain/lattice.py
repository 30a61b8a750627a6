"""The domain: which device a value is on, as far as the source tells.

The world analysed is the one with an accelerator in the machine. A device is *known*, or *the same as* that of
something the caller decides (movable), or a *choice* between two under a named condition, or unknown - and unknown
means silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from devlint.semantics import Relation


class Anchor(Enum):
    """What a movable device follows."""

    MODULE = "module"
    """The parameters of ``self``; in ``forward`` its inputs too: they count as one place."""
    PARAMETER = "parameter"
    """An argument of the function, placed by the caller."""
    BATCH = "batch"
    """One item drawn from an iterable: nobody has moved it yet."""
    EXPRESSION = "expression"
    """A device spelled by an expression whose value is not followed (``args.device``)."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A place the caller decides. ``key`` identifies it within one walk, ``name`` is what the source calls it."""

    anchor: Anchor
    name: str
    key: str
    source: str = field(default="", compare=False)
    """For BATCH: what the item is drawn from, in the source's words."""


SOME_INDEX = -1
"""The index of a device whose program computes it: there is one, and it is not known."""


@dataclass(frozen=True, slots=True)
class Known:
    """A device named by the program: its type, and its index unless it is the current one."""

    type: str
    index: int | None = None

    @property
    def on_cpu(self) -> bool:
        return self.type == "cpu"

    def __str__(self) -> str:
        return self.type if self.index in (None, SOME_INDEX) else f"{self.type}:{self.index}"


@dataclass(frozen=True, slots=True)
class SameAs:
    """Wherever ``symbol`` is."""

    symbol: Symbol


class GuardKind(Enum):
    PLAIN = "plain"
    IS_NONE = "is-none"
    FIRST_ITERATION = "first-iteration"
    """Of a loop: the value it began with, or the one its body left."""
    ON_ACCELERATOR = "on-accelerator"
    """The condition asks for a device, so it holds exactly when it must (``x.is_cuda``, ``use_cuda``)."""
    IS_TENSOR = "is-tensor"
    """``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)``."""
    IS_NO_TENSOR = "is-no-tensor"
    """``isinstance(x, np.ndarray)`` and other tests for types that no tensor has."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition. ``key`` is its normalised text with the versions of the names in it: equal keys, equal outcome."""

    key: str
    text: str = field(default="", compare=False)
    kind: GuardKind = field(default=GuardKind.PLAIN, compare=False)
    subject: Symbol | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Decided:
    """A condition that holds (or not) at some point of the program."""

    guard: Guard
    holds: bool


def exclude(a: tuple[Decided, ...], b: tuple[Decided, ...]) -> bool:
    """Whether two points stand in different arms of one branch, so that no run comes to both."""
    return any(x.guard == y.guard and x.holds is not y.holds for x in a for y in b)


@dataclass(frozen=True, slots=True)
class Choice:
    """``then`` where the guard holds, ``otherwise`` where it does not."""

    guard: Guard
    then: Device
    otherwise: Device


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known; nothing is said."""


Device = Known | SameAs | Choice | Unknown

CPU = Known("cpu")
UNKNOWN = Unknown()
MAX_GUARDS = 4


def relate(a: Device, b: Device) -> Relation:
    """Whether two values can be on different devices when an accelerator is in use.

    ``cpu`` against anything the caller decides is DIFFERENT: it holds whenever the caller is not on the CPU.
    An accelerator against something the caller decides stays UNKNOWN: the author's machine may be right. An item fresh
    from a loader is on the CPU as a rule, so it proves nothing against the CPU either.
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
    if known == CPU and isinstance(movable, SameAs) and movable.symbol.anchor is not Anchor.BATCH:
        return Relation.DIFFERENT
    return Relation.UNKNOWN


def _relate_known(a: Known, b: Known) -> Relation:
    if "meta" in (a.type, b.type):
        return Relation.UNKNOWN
    if a.type != b.type:
        return Relation.DIFFERENT
    if a.on_cpu:
        return Relation.SAME
    # "cuda" is the current device: it may well be the index the other names.
    return Relation.UNKNOWN if {a.index, b.index} & {None, SOME_INDEX} else Relation.DIFFERENT


def _relate_choice(choice: Choice, other: Device) -> Relation:
    if isinstance(other, Choice):
        if other.guard != choice.guard:
            return _all_of(relate(x, y) for x in (choice.then, choice.otherwise) for y in (other.then, other.otherwise))
        pairs = (relate(choice.then, other.then), relate(choice.otherwise, other.otherwise))
        return _any_of(pairs)
    arms = (relate(choice.then, other), relate(choice.otherwise, other))
    if is_device_choice(choice) and not isinstance(other, Known):
        # The condition was written to agree with the caller; one arm alone proves nothing against it.
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
    """Whether the condition decides *where*, not *what*: it asks for a device, or its arms are cpu and accelerator."""
    if choice.guard.kind is GuardKind.ON_ACCELERATOR:
        return True
    arms = (choice.then, choice.otherwise)
    return CPU in arms and any(isinstance(arm, Known) and not arm.on_cpu for arm in arms)


def choose(guard: Guard | None, then: Device, otherwise: Device) -> Device:
    """The join of two devices at the end of a branch."""
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
    """What is left of ``device`` where ``guard`` is decided."""
    if isinstance(device, Choice):
        if device.guard == guard:
            return _arm(device.then if holds else device.otherwise, guard, holds)
        return choose(device.guard, _arm(device.then, guard, holds), _arm(device.otherwise, guard, holds))
    return device


def assume(device: Device, guard: Guard, holds: bool) -> Device:
    """``device`` inside the branch where ``guard`` holds (or not)."""
    return _arm(device, guard, holds)


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


def leaves(device: Device) -> tuple[Device, ...]:
    """Every device a choice can end in."""
    if isinstance(device, Choice):
        return leaves(device.then) + leaves(device.otherwise)
    return (device,)


def is_movable(device: Device) -> bool:
    """Whether something that the caller decides is among what a choice can end in."""
    return any(isinstance(leaf, SameAs) for leaf in leaves(device))


def may_be_cpu(device: Device) -> bool:
    return CPU in leaves(device)


def is_accelerator(device: Device) -> bool:
    """Whether the device is an accelerator on every arm."""
    return all(isinstance(leaf, Known) and leaf.type not in ("cpu", "meta") for leaf in leaves(device))


def describe(device: Device) -> str:
    """The words a report uses for a device."""
    match device:
        case Known():
            return str(device)
        case SameAs(symbol):
            return _describe_symbol(symbol)
        case Choice(guard, then, otherwise):
            return f"{describe(then)} if {guard.text} else {describe(otherwise)}"
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
            # The argument names the device itself.
            return f"`{symbol.name}`"
        case _:
            return f"the device of `{symbol.name}`"
