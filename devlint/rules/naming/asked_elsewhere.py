"""Who asks before going to the accelerator, and in one place does not: part of DEV302.

A class asks an attribute of its own in one method and not in another one; a function asks for some of what it moves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Module
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import GuardKind
from devlint.placement.domain.scope import Setting
from devlint.rules.current_device import goes_to_current
from devlint.rules.naming.ways_out import leaves_without, untried
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Moved
    from devlint.placement.domain.scope import Scope
    from devlint.rules.naming.accelerator_places import Definition, Place

_ROLES = frozenset({Role.LIBRARY, Role.SCRIPT})


@dataclass(slots=True)
class AskedElsewhere:
    """The guarded moves to the current accelerator in the methods of one file."""

    _asked: dict[str, tuple[Moved, str]] = field(default_factory=dict)
    """By class: the first move under an attribute that says whether the accelerator is used, and that attribute."""

    _models: dict[str, Moved] = field(default_factory=dict)
    """By class: the first move of a module that its objects keep, under a test for an accelerator."""

    _bodies: dict[Scope, cst.CSTNode] = field(default_factory=dict)

    _asked_here: dict[Scope, Moved] = field(default_factory=dict)
    """By definition: the first move under a test for an accelerator."""

    def begun(self, event: Begun) -> None:
        self._bodies[event.scope] = event.node

    def moved(self, event: Moved) -> None:
        owner = event.scope.class_name
        if not goes_to_current(event):
            return
        if event.guarded and event.named is None:
            self._asked_here.setdefault(event.scope, event)
            if owner is not None and isinstance(event.receiver, Module) and event.receiver_text.startswith("self."):
                self._models.setdefault(owner, event)
        if owner is None:
            return
        # `if self.use_cuda:`; a longer condition may be about other things as well.
        guards = (d.guard for d in event.arms if d.holds and d.guard.kind is GuardKind.ON_ACCELERATOR)
        flag = next((guard.text for guard in guards if _is_flag(guard.text)), None)
        if flag is not None:
            self._asked.setdefault(owner, (event, flag))

    def draft_of(self, definition: Definition, place: Place) -> Draft | None:
        """Of a move that nobody asks about, where the definition asks about others, or another method does."""
        return (
            self._unlike_others_here(definition, place)
            or self._unlike_other_methods(place)
            or self._unlike_the_model(definition, place)
        )

    def _unlike_others_here(self, definition: Definition, place: Place) -> Draft | None:
        """``self.target = Net().cuda()``, and then ``if torch.cuda.is_available(): self.net.cuda()``."""
        asked = self._asked_here.get(place.scope)
        if asked is None or place.move is None or place.sink != Sink.TRANSFER or place.scope.role not in _ROLES:
            return None
        decided = place.is_decided
        # `if x.is_cuda:` asks where something is, and the rest may follow it (fixture `left_unasked`).
        if decided or definition.tests_place or definition.of_cuda or definition.begun is None:
            return None
        body = definition.begun.node
        if leaves_without(body) or id(place.node) not in untried(body):
            return None
        return _unlike(asked, place, "ask here as well, or choose a device once and move all to it")

    def _unlike_the_model(self, definition: Definition, place: Place) -> Draft | None:
        """``rows.cuda()`` in a method of an object that brings ``self.model`` there ``if torch.cuda.is_available():``.

        Of a model that a function is handed :mod:`devlint.rules.naming.chosen_for_models` tells.
        """
        scope = place.scope
        if place.move is None or place.sink != Sink.TRANSFER or place.of_module or scope.role not in _ROLES:
            return None
        decided = place.is_decided
        if decided or definition.begun is None or definition.tests_device or _is_helper(scope):
            return None
        asked = self._models.get(scope.class_name or "") if scope.setting is Setting.METHOD else None
        if asked is None or asked.scope == scope or id(place.node) not in untried(definition.begun.node):
            return None
        bodies = (definition.begun.node, self._bodies.get(asked.scope))
        if any(leaves_without(body) for body in bodies if body is not None):
            return None
        return _unlike(asked, place, "ask here as well, or bring it to where the model is")

    def _unlike_other_methods(self, place: Place) -> Draft | None:
        """In another method that callers may call in any state of the object."""
        asked = self._asked.get(place.scope.class_name or "")
        if asked is None or place.move is None or place.sink != Sink.TRANSFER or place.conditions or place.weak:
            return None
        move, flag = asked
        if move.scope == place.scope or place.scope.role is Role.TEST or _is_helper(place.scope):
            return None
        moved = quoted(place.node, f"`{place.text}`")
        return Draft(
            node=place.node,
            scope=place.scope,
            message=f"{moved} needs an accelerator whatever `{flag}` says, which other methods of the class ask",
            confidence=Confidence.MEDIUM,
            trace=(DraftStep(move.node, move.scope, f"only if `{flag}` holds"),),
            repair=Repair(Applicability.SUGGESTION, f"ask `{flag}` here as well, or keep a device and move there"),
        )


def _unlike(asked: Moved, place: Place, instead: str) -> Draft:
    return Draft(
        node=place.node,
        scope=place.scope,
        message=f"{quoted(place.node, f'`{place.text}`')} needs an accelerator on every machine, and "
        f"`{asked.receiver_text}` goes there only where there is one",
        confidence=Confidence.MEDIUM,
        trace=(DraftStep(asked.node, asked.scope, "only where there is an accelerator"),),
        repair=Repair(Applicability.SUGGESTION, instead),
    )


def _is_flag(text: str) -> bool:
    """`self.use_cuda`, `self.cuda`: an attribute alone."""
    return text.startswith("self.") and text.removeprefix("self.").isidentifier()


def _is_helper(scope: Scope) -> bool:
    """Whether its callers, in the class, may ask before they call it."""
    return scope.qualname.rpartition(".")[2].startswith("_")
