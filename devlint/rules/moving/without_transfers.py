"""Optimizers, schedulers, loaders and scalers that are moved, and have no such method: part of DEV204."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Constant, Opaque, Reference
from devlint.placement.syntax.nodes import dotted
from devlint.semantics import lacks

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, Stored
    from devlint.placement.domain.scope import Scope

Kept = tuple[str, str]
"""A class or a definition, and what it keeps an object under, in the source's words."""

CHOSEN_BY_NAME = {
    "torch.optim": "torch.optim.Optimizer",
    "torch.optim.lr_scheduler": "torch.optim.lr_scheduler.LRScheduler",
}
"""Modules of which ``getattr(module, name)(...)`` makes an object, and the base of its class."""


TRANSFERS = (".to", ".cuda", ".cpu", ".pin_memory")


@dataclass(slots=True)
class WithoutTransfers:
    """The objects of one file that are of a class without transfers, and the calls of transfers."""

    _made: dict[int, str] = field(default_factory=dict)
    """By the identity of the call that makes it: the class."""
    _classes: dict[int, str] = field(default_factory=dict)
    """By the identity of `getattr(optim, name)`: the base of the class that it gives."""
    _stored: dict[Kept, list[cst.CSTNode | None]] = field(default_factory=dict)
    _parameters: set[tuple[Scope, str]] = field(default_factory=set)
    _moved: list[Called] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        self._parameters.update((event.scope, name) for name, _ in event.arguments)

    def stored(self, event: Stored) -> None:
        self._stored.setdefault(_kept(event.scope, event.target), []).append(event.value_node)

    def called(self, event: Called) -> None:
        import libcst as cst

        node, function = event.call.node, event.call.node.func
        if "." in event.name.lstrip(".") and lacks(event.name, "to"):
            self._made[id(node)] = event.name
        elif event.name == "getattr":
            self._note_chosen(event)
        elif id(function) in self._classes:
            self._made[id(node)] = self._classes[id(function)]
        elif isinstance(function, cst.Name) and self._classes:
            kept = self._stored.get((event.scope.qualname, function.value), [])
            found = {self._classes.get(id(one)) for one in kept}
            if len(found) == 1 and (base := found.pop()) is not None:
                self._made[id(node)] = base
        elif event.name in TRANSFERS:
            self._moved.append(event)

    def _note_chosen(self, event: Called) -> None:
        """A class of its module, and not a module inside of it, which has a name that is written out as a rule."""
        given = event.call.positional
        owner = given[0].value if given else None
        if isinstance(owner, Reference) and owner.name in CHOSEN_BY_NAME and not isinstance(given[1].value, Constant):
            self._classes[id(event.call.node)] = CHOSEN_BY_NAME[owner.name]

    def drafts(self) -> list[Draft]:
        return [draft for event in self._moved if (draft := self._draft_of(event)) is not None]

    def _draft_of(self, event: Called) -> Draft | None:
        import libcst as cst

        function = event.call.node.func
        if not isinstance(function, cst.Attribute) or any("hasattr" in arm.guard.text for arm in event.arms):
            return None
        told = event.receiver.immovable if isinstance(event.receiver, Opaque) else ""
        made = (told, function.value) if told else self._class_of(event.scope, function.value)
        method = function.attr.value
        if made is None or not lacks(made[0], method):
            return None
        name, node = made
        kind = name.rpartition(".")[2]
        apart = node is not function.value
        return Draft(
            node=event.node,
            scope=event.scope,
            message=f"{quoted(function.value, 'the receiver')} is an object of `{kind}`, which has no `.{method}()`; "
            "the call raises AttributeError",
            confidence=Confidence.HIGH,
            trace=(DraftStep(node, event.scope, "it is made here", crosses=True),) if apart else (),
            repair=Repair(Applicability.SUGGESTION, "drop the call: it has nothing of its own to move"),
        )

    def _class_of(self, scope: Scope, receiver: cst.BaseExpression) -> tuple[str, cst.CSTNode] | None:
        """The class of the receiver, if all that is stored under its name is of such a class; and where it is made."""
        if id(receiver) in self._made:
            return self._made[id(receiver)], receiver
        spelled = dotted(receiver)
        if spelled is None or (scope, spelled) in self._parameters:
            return None
        stored = [one for one in self._stored.get(_kept(scope, spelled), []) if not _moves(one, spelled)]
        classes = {self._made.get(id(one)) for one in stored}
        only = classes.pop() if len(classes) == 1 else None
        return (only, stored[0]) if only is not None and stored[0] is not None else None


def _kept(scope: Scope, target: str) -> Kept:
    """An attribute of `self` is kept for the whole class."""
    own = target.startswith("self.") and scope.class_name is not None
    return (scope.class_name or "" if own else scope.qualname), target


def _moves(value: cst.CSTNode | None, spelled: str) -> bool:
    """``optimizer = optimizer.cuda()`` is the mistake itself."""
    import libcst as cst

    return (
        isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and code_of(value.func.value) == spelled
    )
