"""A place that names the accelerator in a file whose other places go to a device that they are told: part of DEV302.

What a file does nearly everywhere is what its author believes of it, and the place that contradicts that is likely a
mistake (Engler et al., "Bugs as deviant behavior", SOSP 2001). Nothing need connect the places but the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Constant, DeviceName, Tensor
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import speaks_of_devices
from devlint.repairs.bound_names import path_to
from devlint.rules.current_device import is_current
from devlint.rules.naming.accelerator_places import Definition, Place
from devlint.rules.naming.noted_places import is_contract
from devlint.rules.naming.ways_out import leaves_without, speak_of_devices, untried
from devlint.source.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import libcst as cst

    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.events import Called, Created, Moved
    from devlint.placement.domain.scope import Scope

_LEAST = 4
"""Places that go where they are told, before that is what the file does."""

_TIMES = 3
"""So many more of them there are than places that name the accelerator."""

_MOST_STEPS = 3


@dataclass(frozen=True, slots=True)
class _Follower:
    """A place that goes to a device it is told, which ``spelled`` says."""

    scope: Scope
    node: cst.CSTNode
    spelled: str


@dataclass(slots=True)
class UnlikeTheFile:
    """The places of one file, as its events come in."""

    _followers: dict[int, _Follower] = field(default_factory=dict)
    """By the expression that says the device."""
    _naming: set[int] = field(default_factory=set)
    """Expressions that say the current accelerator."""
    _callees: list[Place] = field(default_factory=list)
    """Calls of what is not torch's with the name of the accelerator, ``device="cuda"``."""

    def moved(self, event: Moved) -> None:
        if not event.moves:
            return
        self._note(event.scope, event.node, event.named)
        if event.named is None and is_current(event.target):
            self._naming.add(id(event.node))

    def created(self, event: Created) -> None:
        self._note(event.scope, event.node, event.named)

    def called(self, event: Called) -> None:
        named = event.call.keyword("device") or event.call.keyword("map_location")
        self._note(event.scope, event.node, named)
        if named is None or named.keyword != "device" or event.name.startswith("torch."):
            return
        if isinstance(named.value, Constant) and _says_the_current(named) and event.name not in (".to", ".cuda"):
            text = code_of(named.node)
            place = Place(named.node, event.scope, Sink.ARGUMENT, text.strip("\"'"), call=event.call.node)
            place.in_one_arm = speak_of_devices(event.arms)
            self._callees.append(place)

    def _note(self, scope: Scope, node: cst.CSTNode, named: Argument | None) -> None:
        if named is None:
            return
        if _says_the_current(named):
            self._naming.add(id(named.node))
        elif _is_told(named):
            self._followers.setdefault(id(named.node), _Follower(scope, node, code_of(named.node)))

    def draft_of(self, definition: Definition, place: Place) -> Draft | None:
        followers = self._followers.values()
        if len(followers) < max(_LEAST, _TIMES * len(self._naming)) or not _is_unasked(definition, place):
            return None
        nearest = sorted(followers, key=lambda one: one.scope != place.scope)[:_MOST_STEPS]
        return Draft(
            node=place.node,
            scope=place.scope,
            message=f"{quoted(place.node, f'`{place.text}`')} is the current CUDA device or none at all; "
            f"{len(followers)} other places of the file go where they are told, as to `{nearest[0].spelled}`",
            confidence=Confidence.MEDIUM,
            trace=tuple(DraftStep(one.node, one.scope, f"`{one.spelled}` says the device") for one in nearest),
            repair=Repair(Applicability.SUGGESTION, "take the device from where the others have it"),
        )

    def of_callees(self, definitions: Mapping[Scope, Definition]) -> Iterator[tuple[Place, Draft]]:
        """The calls that name the accelerator to what is not torch's."""
        for place in self._callees:
            draft = self.draft_of(definitions.get(place.scope, Definition()), place)
            if draft is not None and not is_contract(place.scope):
                yield place, draft


def _says_the_current(named: Argument) -> bool:
    value = named.value
    if isinstance(value, DeviceName):
        return is_current(value.device) and not value.chosen_by_probe
    return isinstance(value, Constant) and value.value == "cuda"


_DEVICE = re.compile(r"device\b|\bdev$", re.IGNORECASE)


def _is_told(named: Argument) -> bool:
    """Whether an expression that is no literal says a device, by its value or, where that is open, by its name."""
    import libcst as cst

    value = named.value
    if isinstance(value, (Constant, Tensor)):
        return False
    if not isinstance(named.node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
        return False
    if isinstance(value, DeviceName):
        return value.device != CPU
    return _DEVICE.search(code_of(named.node)) is not None


def _is_unasked(definition: Definition, place: Place) -> bool:
    """Whether it runs whatever the machine has and whatever the program was told."""
    scope, body = place.scope, definition.begun.node if definition.begun is not None else None
    # What a library does at its top level is an example, while a script works there.
    if scope.role is not Role.SCRIPT and (scope.role is not Role.LIBRARY or scope.setting is Setting.MODULE_LEVEL):
        return False
    asked = place.weak or place.in_one_arm or any(map(speaks_of_devices, place.conditions))
    if (
        asked
        or definition.fills_in(place.node)
        or place.where_available
        or place.absent
        or not _is_put_there(body, place)
    ):
        return False
    return body is None or (not leaves_without(body) and id(place.node) in untried(body))


def _is_put_there(body: cst.CSTNode | None, place: Place) -> bool:
    """Whether something goes to CUDA on the spot: ``device = torch.device("cuda")`` is what others are told."""
    import libcst as cst

    if "cuda" not in place.text:
        return False
    match place.sink:
        case Sink.TRANSFER:
            return True
        case Sink.ARGUMENT:
            return place.written_here
        case Sink.DEVICE:
            around = path_to(body, place.node) if isinstance(body, cst.FunctionDef) else []
            return sum(isinstance(node, cst.Call) for node in around) > 1
    return False
