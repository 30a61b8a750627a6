"""Devices that a Module reads off its own parameters once, and keeps for every later call: part of DEV504."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName, Self
from devlint.placement.domain.lattice import is_of_module
from devlint.placement.domain.scope import Setting

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.class_facts import ClassFacts
    from devlint.placement.domain.events import Stored
    from devlint.repairs.device_expressions import Definitions


@dataclass(slots=True)
class CachedDevices:
    definitions: Definitions
    _stores: dict[str, dict[str, list[Stored]]] = field(default_factory=dict)
    """By class and by attribute: the stores outside of constructors."""

    def stored(self, event: Stored) -> None:
        owner = event.scope.class_name
        if event.scope.setting is Setting.CONSTRUCTION or not isinstance(event.owner, Self):
            return
        if owner is not None and event.attribute is not None:
            self._stores.setdefault(owner, {}).setdefault(event.attribute, []).append(event)

    def of_class(self, facts: ClassFacts) -> Iterator[Draft]:
        for attribute, stores in self._stores.get(facts.info.qualname, {}).items():
            store = stores[0]
            # A second method that stores it brings it up to date.
            if len({id(one.node) for one in stores}) > 1 or not _is_of_own_state(store):
                continue
            asked = _asks_for(self.definitions.node_of(store.scope), attribute)
            if asked is None:
                continue
            method = store.scope.qualname.rpartition(".")[2]
            yield Draft(
                node=store.node,
                scope=store.scope,
                message=f"`self.{attribute}` keeps the device of the first call of `{method}`, which `.to()` does not "
                "change: after a move, and in the copies that data parallelism makes, it names another one",
                confidence=Confidence.MEDIUM,
                trace=(DraftStep(asked, store.scope, "what was kept is used again"),),
                repair=Repair(Applicability.SUGGESTION, f"ask the parameters each time, without `self.{attribute}`"),
            )


def _is_of_own_state(store: Stored) -> bool:
    return isinstance(store.value, DeviceName) and not store.value.is_type and is_of_module(store.value.device)


def _asks_for(definition: cst.FunctionDef | None, attribute: str) -> cst.CSTNode | None:
    """The test of a definition whether an attribute is there: `hasattr(self, "_device")`, `self._device is None`."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    for node in descend(definition) if definition is not None else ():
        if isinstance(node, cst.If):
            test = code_of(node.test)
            there = "hasattr" in test or "getattr" in test or f"self.{attribute} is" in test
            if (there and attribute in test) or test in (f"self.{attribute}", f"not self.{attribute}"):
                return node.test
    return None
