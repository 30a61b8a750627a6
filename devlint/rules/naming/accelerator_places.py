"""Namings of the accelerator beside what could say the device: what rule DEV302 notes of them, and their drafts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.events import Sink
from devlint.placement.domain.scope import Setting
from devlint.repairs.device_expressions import Definitions
from devlint.rules.current_device import named_instead
from devlint.rules.naming.device_candidates import Candidate, candidates_of, is_part_of
from devlint.rules.naming.switches import switches_in
from devlint.rules.naming.ways_out import is_skipped_without, leaves_without
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Begun, Moved
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True, eq=False)
class Place:
    """One naming of the accelerator. ``receiver`` is what a transfer moves, in the source's words."""

    node: cst.CSTNode
    scope: Scope
    sink: str
    text: str
    receiver: str = ""
    of_module: bool = False
    move: Moved | None = None
    call: cst.Call | None = None
    weak: bool = False
    """It only keeps an autocast out, or a condition chose the accelerator for the whole class."""
    absent: frozenset[str] = frozenset()
    """Arguments that are None where it is reached."""
    where_available: bool = False
    """What was made on the CPU goes there wherever the machine has an accelerator."""
    written_here: bool = True
    """The literal stands in the call itself, and did not come by way of a name or another function."""
    in_place: bool = False
    """A statement that moves a module, or what may be one."""
    conditions: frozenset[str] = frozenset()
    """What holds where it is reached, in the source's words."""
    bound: frozenset[str] = frozenset()
    """The names that the definition has bound by then."""
    in_one_arm: bool = False
    """A condition that speaks of devices decides whether it is reached."""

    @property
    def is_decided(self) -> bool:
        """Whether anything decides, in the definition, whether it is reached or whether it means an accelerator."""
        return bool(self.conditions or self.weak or self.in_one_arm or self.where_available or self.absent)

    def placed_by(self) -> Iterator[int]:
        """The identities of the nodes of which the analysis says that they put a value there."""
        return (id(node) for node in (self.node, self.call, self.move.node if self.move else None) if node is not None)


@dataclass(slots=True, eq=False)
class Definition:
    """What one definition is handed and what it does."""

    begun: Begun | None = None
    places: list[Place] = field(default_factory=list)
    moved: list[tuple[str, bool]] = field(default_factory=list)
    """What it moves to the current accelerator, in the source's words, and whether that is a module."""
    filled_in: set[tuple[int, str]] = field(default_factory=set)
    """Nodes of what is assigned to a device argument, with the argument's name."""
    in_use: list[Candidate] = field(default_factory=list)
    """Devices of objects to which it moves something itself."""
    tests_device: bool = False
    """It tests for a device."""
    tests_place: bool = False
    """It tests where something is, and not only what the machine has."""
    bound: set[str] = field(default_factory=set)
    """The names that it has bound so far."""
    of_cuda: bool = False
    """It uses `torch.cuda` for more than moving."""
    devices: frozenset[str] = frozenset()
    """Its arguments that are devices."""
    sends_to_others: bool = False
    """It hands a collective what is on the current accelerator, of which each process of a group has one."""

    def fills_in(self, node: cst.CSTNode) -> bool:
        """Whether a device argument gets this where the caller left it out."""
        return any(filled == id(node) for filled, _ in self.filled_in)


def switches(definitions: Iterable[Definition]) -> Mapping[str, frozenset[str]]:
    """By class with a place under a condition: the conditions that choose a device in one of its methods."""
    asked = {place.scope.class_name for one in definitions for place in one.places if place.conditions}
    found: dict[str, frozenset[str]] = {}
    for begun in (one.begun for one in definitions):
        owner = begun.scope.class_name if begun is not None else None
        if begun is not None and owner is not None and owner in asked:
            found[owner] = found.get(owner, frozenset()).union(switches_in(begun.node))
    return found


def used_by_classes(definitions: Iterable[Definition]) -> Mapping[str, tuple[Candidate, ...]]:
    """By class: the devices of the object itself, as `self.device`, to which one of its methods moves something."""
    found: dict[str, tuple[Candidate, ...]] = {}
    definitions = tuple(definitions)
    built_there = frozenset(_built_on_the_current(definitions))
    for one in definitions:
        owner = one.begun.scope.class_name if one.begun is not None else None
        constructs = one.begun is not None and one.begun.scope.setting is Setting.CONSTRUCTION
        in_use = (*(c for c in one.in_use if c.falls_back), *_kept_as_told(one)) if constructs else one.in_use
        # Where what the machine has chose the device, there are objects without an accelerator as well.
        own = tuple(
            replace(c, node=None)
            for c in in_use
            if c.name.startswith("self.") and (c.falls_back or owner not in built_there)
        )
        if owner is not None and own:
            found[owner] = (*found.get(owner, ()), *own)
    return found


def _kept_as_told(constructor: Definition) -> Iterator[Candidate]:
    """``self.device`` of an object whose constructor brings something to its argument `device`, and keeps that.

    A base may keep it: ``super().__init__(device)``.
    """
    import libcst as cst

    begun = constructor.begun
    if begun is None or begun.owner is None:
        return
    told = {one.name: one for one in constructor.in_use if one.name in constructor.devices}
    for init in begun.owner.constructors if told else ():
        for name, values in init.stored_expressions.items():
            value = values[0] if len(values) == 1 else None
            if isinstance(value, cst.Name) and value.value in told:
                yield replace(told[value.value], name=f"self.{name}", device=f"self.{name}")


def _built_on_the_current(definitions: Iterable[Definition]) -> Iterator[str | None]:
    """Classes, but for Modules, whose constructors bring parts to the current accelerator in any case.

    Where there is none, or where another one is meant, nobody has such an object (fixture `built_there`).
    """
    for one in definitions:
        owner = one.begun.owner if one.begun is not None else None
        if owner is None or owner.is_module or one.begun is None or one.begun.scope.setting is not Setting.CONSTRUCTION:
            continue
        if any(place.sink == Sink.TRANSFER and not place.in_one_arm and not place.absent for place in one.places):
            yield one.begun.scope.class_name


def draft_of(
    definitions: Definitions,
    definition: Definition,
    place: Place,
    of_class: Iterable[Candidate] = (),
    met: Iterable[Candidate] = (),
) -> Draft | None:
    """``of_class``: devices of the object to which other methods move something; ``met``: what it meets later."""
    handed = {name for name, _ in definition.begun.arguments} if definition.begun is not None else set()
    # The top level is where a program chooses its device, but not where it has asked for one that may be the CPU.
    at_top = place.scope.setting is Setting.MODULE_LEVEL
    known = candidates_of(definition.begun, definition.moved)
    # Each argument once: whether it stands alone decides how safe the repair is.
    later = [one for one in met if all(one.name != other.name for other in known)]
    shared = _said_by_the_class(place, of_class)
    candidates = [
        candidate
        for candidate in (
            *((*definition.in_use, *shared) if place.written_here else ()),
            *known,
            *later,
        )
        if candidate.name not in place.absent
        and (candidate.falls_back or not at_top)
        and not _comes_later(candidate, definition, place)
        and not is_part_of(place.receiver, candidate.name)
        and (id(place.node), candidate.name) not in definition.filled_in
        # Whoever asks whether to go there at all may have asked the machine before (fixture `chosen_in_functions`).
        and not (candidate.chosen and (place.in_one_arm or place.sink == Sink.DEVICE_TYPE or candidate.name in handed))
    ]
    if place.where_available:
        # What the machine has says nothing of where this module is, or what a function is handed and does not move
        # (fixture `where_available`).
        function = place.scope.setting is Setting.FUNCTION
        follows = not function or not _is_for_accelerators(definition, handed)
        candidates = [c for c in candidates if follows and (c.is_tensor if function else c.name == "self")]
    elif place.in_place:
        # Where a module goes is a choice, unless the definition itself goes elsewhere with other things.
        reached = {one.name for one in definition.in_use}
        candidates = [candidate for candidate in candidates if candidate.in_use or candidate.name in reached]
    if not candidates:
        return None
    best = candidates[0]
    # The module itself is where its inputs are.
    alone = sum(candidate.name != "self" for candidate in candidates) == 1
    named = quoted(place.node, f"`{place.text}`")
    if place.sink == Sink.DEVICE_TYPE:
        device = f"{best.device}.type"
        message = f"{named} names one type of accelerator; `{best.name}` says which one is in use"
    else:
        device = best.device
        where = "where the rest goes" if best.chosen else "where the caller works"
        message = f"{named} is the current CUDA device or none at all; `{best.name}` says {where}"
    return Draft(
        node=place.node,
        scope=place.scope,
        message=message.replace("CUDA device", "device") if "cuda" not in place.text else message,
        confidence=_confidence(definition, place, best),
        trace=(DraftStep(best.node, place.scope, f"`{best.name}` comes in here"),) if best.node is not None else (),
        repair=_repair(definitions, place, best, device, alone),
        premise=Premise.CURRENT_LEFT_ALONE if best.numbered else None,
    )


def _runs_without(definition: Definition) -> bool:
    """Whether nothing keeps a test from machines without an accelerator."""
    begun = definition.begun
    return begun is not None and not (leaves_without(begun.node) or is_skipped_without(begun))


def _said_by_the_class(place: Place, of_class: Iterable[Candidate]) -> Iterable[Candidate]:
    """The devices of its object that speak of a place.

    Where a module goes, and what the constructor puts somewhere, is the class's own choice; but not where it chose
    its device by what the machine has, and other methods work there.
    """
    if not (place.of_module or place.in_place or place.scope.setting is Setting.CONSTRUCTION):
        return of_class
    return () if place.in_one_arm or place.conditions else [one for one in of_class if one.falls_back]


def _is_for_accelerators(definition: Definition, handed: set[str]) -> bool:
    """Whether it refuses to run without one, or moves what it computes with there: a module, or what it is handed."""
    if definition.begun is not None and leaves_without(definition.begun.node):
        return True
    roots = ((re.split(r"\W", text, maxsplit=1)[0], of_module) for text, of_module in definition.moved)
    return any(of_module or root in handed for root, of_module in roots)


def _comes_later(candidate: Candidate, definition: Definition, place: Place) -> bool:
    """Whether the definition binds the name only behind the place: there is nothing to ask yet."""
    root = candidate.name.partition(".")[0]
    handed = definition.begun is not None and any(name == root for name, _ in definition.begun.arguments)
    return root in definition.bound and not handed and root not in place.bound


_WAITS_ON_CPU = re.compile(r"(?:^|[_.\s])cpu(?:_|$)|offload")


def _confidence(definition: Definition, place: Place, best: Candidate) -> Confidence:
    if place.where_available:
        return Confidence.LOW if definition.tests_place else Confidence.MEDIUM
    # `dtype = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor` asks for nobody's place.
    by_type = place.move is not None and place.move.method == "type"
    tests = definition.tests_place if best.in_use or by_type else definition.tests_device
    # What no condition decides runs whatever was asked, `if device.type == "cuda": model.half()`.
    tests = tests and not best.chosen
    # Where a module goes is the caller's choice, who may name another device than the one that is filled in for none.
    is_default = not best.is_tensor and definition.fills_in(place.node)
    # `if self.cpu_cache: x = x.cuda()`: what waits on the CPU does not say where the work is done.
    waits = any(_WAITS_ON_CPU.search(condition) for condition in place.conditions)
    # What calls `torch.cuda` is for CUDA, unless it asks what the machine has (fixture `chosen_by_helpers`).
    of_cuda = definition.of_cuda and not (best.in_use and best.falls_back)
    if tests or of_cuda or place.weak or is_default or waits:
        return Confidence.LOW
    if place.scope.role is not Role.LIBRARY:
        # A script chooses a device, but not two ways to spell it in one function, nor for the inputs of a model.
        of_model = place.scope.setting is Setting.FORWARD and best.is_tensor
        reached = best.in_use or (best.is_device and any(one.name == best.name for one in definition.in_use))
        # A test runs wherever its author did, unless it asks itself what the machine has (fixture `asked_by_tests`).
        asks = best.in_use and best.falls_back and place.scope.role is Role.TEST and _runs_without(definition)
        chosen = not asks and (place.scope.role is not Role.SCRIPT or not (reached or of_model))
        return Confidence.LOW if chosen else Confidence.MEDIUM
    if place.of_module and not best.is_device:
        # Where a module goes is a choice, and nothing says that the others are to follow.
        return Confidence.LOW
    return Confidence.MEDIUM


def _repair(definitions: Definitions, place: Place, best: Candidate, device: str, alone: bool) -> Repair:
    """Safe where one tensor says the device, is certainly there, and no other argument could say it."""
    changes: tuple[Change, ...] = (Replace(place.node, device),)
    match place.sink:
        case Sink.TRANSFER:
            message = f"name the device: `.to({device})`"
            changes = named_instead(place.move, device) if place.move is not None else ()
        case Sink.ARGUMENT:
            message = f"name the device: `device={device}`"
        case Sink.DEVICE if place.call is not None and place.call.args[0].value is place.node:
            message = f"use `{device}`"
            changes = (Replace(place.call, device),)
        case _:
            message = f"use `{device}`"
    if best.is_tensor and not definitions.holds_tensor(place.scope, best.name, place.node):
        return Repair(Applicability.SUGGESTION, f"name the device of `{best.name}`")
    expression = definitions.argument(place.scope, best.name, place.node) if best.is_tensor else None
    applicability = expression.applicability if alone and expression is not None else Applicability.SUGGESTION
    return Repair(applicability, message, changes)
