"""Files that are read onto an accelerator where something else says where the work is done: part of DEV302.

`map_location="cuda"` fails where there is no CUDA, as `.cuda()` does. Beside a device to which the definition or the
object brings things it is a second choice. And a state that is copied into a module on the CPU need not be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Constant, DeviceName, Module
from devlint.placement.domain.lattice import CPU
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.current_device import is_current
from devlint.rules.naming.ways_out import speak_of_devices
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.events import Called
    from devlint.placement.domain.scope import Scope
    from devlint.rules.naming.accelerator_places import Definition
    from devlint.rules.naming.device_candidates import Candidate

_TO_CUDA = re.compile(r"\.cuda\(")


@dataclass(slots=True)
class MappedToAccelerators:
    _loads: list[tuple[Called, Argument]] = field(default_factory=list)
    _copied: dict[int, Called] = field(default_factory=dict)
    """By load: where its state goes into a module that is on the CPU."""

    def called(self, event: Called) -> None:
        if event.name == "torch.load":
            place = event.call.argument("map_location", 1)
            asked = event.guarded or speak_of_devices(event.arms)
            if place is not None and not asked and _is_current_accelerator(place):
                self._loads.append((event, place))
        elif event.name == ".load_state_dict" and isinstance(event.receiver, Module) and event.receiver.device == CPU:
            for argument in event.call.arguments[:1]:
                provenance = provenance_of(argument.value)
                if provenance is not None:
                    self._copied.setdefault(id(provenance.first.node), event)

    def drafts(self, definitions: Mapping[Scope, Definition]) -> Iterator[Draft]:
        of_classes = _kept_by_classes(definitions) if self._loads else {}
        for event, place in self._loads:
            scope, definition = event.scope, definitions.get(event.scope)
            if definition is None or scope.role not in (Role.LIBRARY, Role.SCRIPT):
                continue
            if definition.tests_device or is_named_for_accelerator(scope.qualname):
                continue
            known = (
                *definition.in_use,
                *of_classes.get(scope.class_name or "", ()),
            )
            beside = next((one for one in known if one.is_device and one.name not in code_of(place.node)), None)
            copied = self._copied.get(id(event.node))
            if beside is not None:
                yield _draft_beside(event, place, beside)
            elif copied is not None and not definition.moved:
                yield _draft_copied(event, place, copied)


def _kept_by_classes(definitions: Mapping[Scope, Definition]) -> Mapping[str, Sequence[Candidate]]:
    """By class: the devices of the object to which its methods bring something, the constructor among them."""
    found: dict[str, list[Candidate]] = {}
    for scope, one in definitions.items():
        kept = (replace(candidate, node=None) for candidate in one.in_use if candidate.name.startswith("self."))
        found.setdefault(scope.class_name or "", []).extend(kept)
    return found


def _draft_beside(event: Called, place: Argument, beside: Candidate) -> Draft:
    spelled = quoted(place.node, "its place")
    return Draft(
        node=place.node,
        scope=event.scope,
        message=f"{spelled} reads the file onto the current CUDA device or fails where there is none; "
        f"`{beside.name}` says where the rest goes",
        confidence=Confidence.MEDIUM,
        trace=(DraftStep(beside.node, event.scope, f"`{beside.name}` is in use here"),) if beside.node else (),
        repair=Repair(
            Applicability.SUGGESTION, f"`map_location={beside.device}`", (Replace(place.node, beside.device),)
        ),
        premise=Premise.CALLERS_CHOOSE,
    )


def _draft_copied(event: Called, place: Argument, copied: Called) -> Draft:
    spelled = quoted(place.node, "its place")
    return Draft(
        node=place.node,
        scope=event.scope,
        message=f"{spelled} needs an accelerator for a state that is copied into a module on the CPU",
        confidence=Confidence.MEDIUM,
        trace=(DraftStep(copied.node, event.scope, "copied to the CPU here"),),
        repair=Repair(Applicability.SUGGESTION, '`map_location="cpu"`', (Replace(place.node, '"cpu"'),)),
        premise=Premise.GOES_ON_WITHOUT,
    )


def _is_current_accelerator(place: Argument) -> bool:
    """`"cuda"`, `torch.device("cuda")`, `lambda storage, loc: storage.cuda()`, written out at the call."""
    import libcst as cst

    if isinstance(place.node, cst.Lambda):
        return _TO_CUDA.search(code_of(place.node.body)) is not None
    if not isinstance(place.node, (cst.SimpleString, cst.Call)):
        return False
    if isinstance(place.value, Constant):
        return place.value.value == "cuda"
    return isinstance(place.value, DeviceName) and not place.value.chosen_by_probe and is_current(place.value.device)
