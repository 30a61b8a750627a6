"""Accelerators named where the rest of the file asks a function for its device, `get_device()`: part of DEV302.

Such a function knows of the options, of the other accelerators, or of the process's own number. A place that names
`cuda` in its stead goes elsewhere than everything around it. The same holds where the rest goes to what the file, or
another one, chose by what the machine has, `DEVICE`: that is the CPU where there is no accelerator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName
from devlint.placement.domain.events import Moved, Sink
from devlint.placement.syntax.nodes import descend, dotted
from devlint.rules.current_device import is_current, named_instead
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import Begun, Called, Created, GlobalRead, Stored
    from devlint.placement.domain.scope import Scope
    from devlint.rules.naming.accelerator_places import Definition, Place

_FUNCTION = re.compile(r"(?:^|_)device(?:_?(?:id|name|type|str|string|index))?$", re.IGNORECASE)
_OF_OTHERS = re.compile(r"cpu|host|offload|storage|output|intermediate|dtype|num|count", re.IGNORECASE)
"""Words in the names of functions that give a device for something of its own."""

_ROLES = frozenset({Role.LIBRARY, Role.SCRIPT})


class _Asked(NamedTuple):
    node: cst.CSTNode
    scope: Scope


@dataclass(slots=True)
class NamedByFunctions:
    """The calls of such functions in one file, where they say the place of something."""

    _asked: dict[str, _Asked] = field(default_factory=dict)
    """By call, in the source's words: where it is used first."""

    _functions: set[int] = field(default_factory=set)
    """Calls of functions, by the identity of their nodes: a method, `x.get_device()`, speaks of its object."""
    _own: set[str] = field(default_factory=set)
    """What the file defines itself, where one place may well be for something else than the others."""

    _shared: set[int] = field(default_factory=set)
    """Reads of what is bound outside of all functions, by the identity of their nodes."""

    def global_read(self, event: GlobalRead) -> None:
        self._shared.add(id(event.node))

    def begun(self, event: Begun) -> None:
        self._own.add(event.scope.qualname)

    def created(self, event: Created) -> None:
        if event.named is not None:
            self._note(event.scope, event.named.node, event.named.value)

    def moved(self, event: Moved) -> None:
        if event.named is not None and event.moves:
            self._note(event.scope, event.named.node, event.named.value)

    def called(self, event: Called) -> None:
        if not event.name.startswith((".", "torch.")) and _FUNCTION.search(event.name.rpartition(".")[2]) is not None:
            self._functions.add(id(event.call.node))
        told = event.call.keyword("device")
        if told is not None:
            self._note(event.scope, told.node, told.value)

    def stored(self, event: Stored) -> None:
        """`device = get_device()`: the definition works there."""
        if event.value_node is not None and event.target.rpartition(".")[2] == "device":
            self._note(event.scope, event.value_node, event.value)

    def _note(self, scope: Scope, node: cst.CSTNode, value: Value) -> None:
        import libcst as cst

        if isinstance(node, cst.Name) and id(node) in self._shared:
            if isinstance(value, DeviceName) and value.chosen_by_probe and not _OF_OTHERS.search(node.value):
                self._asked.setdefault(node.value, _Asked(node, scope))
            return
        if not isinstance(node, cst.Call) or node.args or id(node) not in self._functions:
            return
        if _OF_OTHERS.search((dotted(node.func) or "").rpartition(".")[2]):
            return
        if isinstance(value, DeviceName) and is_current(value.device) and not value.chosen_by_probe:
            return  # it names the accelerator itself
        self._asked.setdefault(code_of(node), _Asked(node, scope))

    def draft_of(self, definition: Definition, place: Place) -> Draft | None:
        decided = place.is_decided
        if decided or definition.tests_device or place.sink == Sink.DEVICE_TYPE or place.scope.role not in _ROLES:
            return None
        found = [one for one in self._asked.items() if one[0].partition("(")[0] not in self._own]
        if found and (place.sink == Sink.DEVICE or not place.written_here or _asks_the_machine(definition)):
            # What answers for the machine is what the name at the top was chosen by (fixture `named_beside_the_files`).
            found = [one for one in found if one[0].endswith(")")]
        if not found or definition.fills_in(place.node):
            return None
        # What the definition itself asks says more than what another one does.
        spelled, asked = next((one for one in found if one[1].scope == place.scope), found[0])
        changes: tuple[Change, ...] = (Replace(place.node, spelled),)
        if place.sink == Sink.TRANSFER:
            changes = named_instead(place.move, spelled) if place.move is not None else ()
        elif place.sink == Sink.DEVICE and place.call is not None and place.call.args[0].value is place.node:
            changes = (Replace(place.call, spelled),)
        return Draft(
            node=place.node,
            scope=place.scope,
            message=f"{quoted(place.node, f'`{place.text}`')} is the current device or none at all, where the rest of "
            f"the file {'asks' if spelled.endswith(')') else 'goes to'} `{spelled}`",
            confidence=Confidence.MEDIUM,
            trace=(DraftStep(asked.node, asked.scope, "asked here"),),
            repair=Repair(Applicability.SUGGESTION, f"as the rest does: `{spelled}`", changes),
        )


def _asks_the_machine(definition: Definition) -> bool:
    import libcst as cst

    if definition.begun is None:
        return True
    named = (node.attr for node in descend(definition.begun.node) if isinstance(node, cst.Attribute))
    return any(name.value == "is_available" for name in named)
