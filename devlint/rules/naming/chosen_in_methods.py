"""Tensors that a method of a Module makes where the machine has an accelerator, by a device it names first: DEV302.

``device = "cuda" if torch.cuda.is_available() else "cpu"`` says what the machine has, and not where the module is. Nor
does it say where the tensors are that a function of a library is handed, and does not move. The same holds of a device
that another file of the library chooses while it is imported, ``settings.device``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName, Module, Self, Tensor
from devlint.placement.domain.lattice import CPU, is_accelerator
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.naming.device_candidates import Candidate, candidates_of, is_known_module
from devlint.source.outline import is_private
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Argument, Value
    from devlint.placement.domain.events import Begun, Called, Created, GlobalRead, Moved, Stored
    from devlint.placement.domain.scope import Scope

MOST_STEPS = 3
"""Further places of a method that are shown."""


@dataclass(slots=True)
class ChosenInMethods:
    """The methods of Modules in one file, and what they put on the accelerator of the machine."""

    _methods: dict[Scope, Begun] = field(default_factory=dict)
    _functions: set[Scope] = field(default_factory=set)
    """Those that are functions, of which only their tensors say a place."""
    _chosen: dict[Scope, set[str]] = field(default_factory=dict)
    """By method: the names that it binds to what the machine has."""
    _places: dict[Scope, list[Argument]] = field(default_factory=dict)
    """By method: where it hands such a device to a factory, or to the transfer of a tensor made there."""
    _bringing: set[Scope] = field(default_factory=set)
    """Methods that bring there what they are given."""
    _imported: set[int] = field(default_factory=set)
    """Expressions that read a device which another file of the library chose, by their identity."""
    _followed: set[str] = field(default_factory=set)
    """Such devices, in the source's words, to which the file brings modules, or what it is given."""
    _placing: set[str | None] = field(default_factory=set)
    """Classes that bring themselves or their parts there, or keep such a device."""

    def begun(self, event: Begun) -> None:
        scope, owner = event.scope, event.owner
        if scope.role is not Role.LIBRARY or is_named_for_accelerator(scope.qualname):
            return
        in_use = scope.setting in (Setting.FORWARD, Setting.METHOD)
        if in_use and owner is not None and is_known_module(owner):
            self._methods[scope] = event
        elif scope.setting is Setting.FUNCTION and not scope.is_nested and not is_private(scope.qualname):
            # A model that comes in is another matter: `chosen_for_models`.
            self._functions.add(scope)
            self._methods[scope] = event

    def stored(self, event: Stored) -> None:
        if not _is_of_machine(event.value):
            return
        if event.target.startswith("self."):
            self._placing.add(event.scope.class_name)
        elif event.target.isidentifier():
            self._chosen.setdefault(event.scope, set()).add(event.target)

    def global_read(self, event: GlobalRead) -> None:
        if event.imported:
            self._imported.add(id(event.node))

    def created(self, event: Created) -> None:
        if event.named is not None:
            self._note(event.scope, event.named)

    def moved(self, event: Moved) -> None:
        if not event.moves or not is_accelerator(event.target):
            return
        made_here = isinstance(event.receiver, Tensor) and event.receiver.device == CPU
        if made_here and event.named is not None:
            self._note(event.scope, event.named)
        elif not made_here:
            if event.named is not None:
                self._followed.add(code_of(event.named.node))
            self._bringing.add(event.scope)
            if event.receiver_text.startswith("self."):
                self._placing.add(event.scope.class_name)

    def called(self, event: Called) -> None:
        """`self.to(device)`."""
        if isinstance(event.receiver, Self) and event.name in (".to", ".cuda"):
            self._placing.add(event.scope.class_name)
        if isinstance(event.result, Module):
            # `Part(width, device=settings.device)`
            handed = (code_of(one.node) for one in event.call.arguments if id(one.node) in self._imported)
            self._followed.update(handed)

    def _note(self, scope: Scope, named: Argument) -> None:
        """A device that is named at the top of the file, or kept by the object, is another matter."""
        if scope not in self._methods or not _is_of_machine(named.value):
            return
        spelled = code_of(named.node)
        chosen_here = not spelled.replace(".", "").isidentifier() or spelled in self._chosen.get(scope, ())
        if chosen_here or (id(named.node) in self._imported and scope not in self._functions):
            self._places.setdefault(scope, []).append(named)

    def drafts(self) -> list[Draft]:
        return [draft for scope in self._places if (draft := self._draft_of(scope)) is not None]

    def _draft_of(self, scope: Scope) -> Draft | None:
        candidates = candidates_of(self._methods[scope], ())
        if not candidates or candidates[0].is_device:
            return None
        if scope in self._functions and not candidates[0].is_tensor:
            return None
        if scope in self._bringing or scope.class_name in self._placing:
            # It chooses for all that it computes with, or the class is where the machine has an accelerator.
            return None
        best, places = _best(candidates), self._places[scope]
        first, *others = places
        if id(first.node) in self._imported and (not best.is_tensor or code_of(first.node) in self._followed):
            return None
        return Draft(
            node=first.node,
            scope=scope,
            message=f"{quoted(first.node, 'this')} is the accelerator of the machine, if it has one; "
            f"`{best.name}` says where the caller works",
            confidence=Confidence.LOW if _is_fallback(self._methods[scope], first) else Confidence.MEDIUM,
            trace=tuple(DraftStep(one.node, scope, "used here as well") for one in others[:MOST_STEPS]),
            repair=Repair(
                Applicability.UNSAFE if best.is_tensor else Applicability.SUGGESTION,
                f"use `{best.device}`",
                tuple(Replace(one.node, best.device) for one in places),
            ),
        )


_NOTHING_THERE = re.compile(r"\blen\(|\.numel\(|\bis None\b|\bnot\b|\bempty\b|== 0\b|< 1\b")
"""Conditions under which there may be nothing that could be asked for its device."""


def _is_fallback(method: Begun, named: Argument) -> bool:
    """Whether it stands where the method was given nothing (fixture `chosen_in_methods`)."""
    import libcst as cst

    from devlint.repairs.bound_names import path_to

    around = path_to(method.node, named.node) if isinstance(method.node, cst.FunctionDef) else []
    return any(_NOTHING_THERE.search(code_of(node.test)) for node in around if isinstance(node, cst.If))


def _best(candidates: list[Candidate]) -> Candidate:
    """A tensor, or the module itself."""
    return next((one for one in candidates if one.is_tensor), candidates[0])


def chooses_by_machine(event: Created) -> bool:
    """Whether a creation is told the accelerator that the machine has."""
    return event.named is not None and _is_of_machine(event.named.value)


def _is_of_machine(value: Value) -> bool:
    return isinstance(value, DeviceName) and value.chosen_by_probe and is_accelerator(value.device)
