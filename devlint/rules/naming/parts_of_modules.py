"""Parts that a Module puts on the current accelerator while it is built: part of DEV302.

Whoever builds it moves the whole afterwards, or works on the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.changes import DropCall
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.wording import quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Kind, Module, Tensor
from devlint.placement.domain.events import Sink
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.placement.syntax.nodes import descend
from devlint.rules.current_device import goes_to_current, is_current
from devlint.rules.naming.device_candidates import is_known_module
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, DeviceNamed, Moved, Stored
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class PartsOfModules:
    """What the constructors of one file put on the current accelerator."""

    _constructors: set[Scope] = field(default_factory=set)
    """Those of Modules."""
    _placed: dict[int, cst.CSTNode] = field(default_factory=dict)
    """Transfers and creations in them under no condition, by the identity of their nodes: an option may choose."""
    _drafts: list[Draft] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        built = event.scope.setting is Setting.CONSTRUCTION and event.owner is not None and is_known_module(event.owner)
        if built and not is_named_for_accelerator(event.scope.qualname):
            self._constructors.add(event.scope)

    def moved(self, event: Moved) -> None:
        if event.scope in self._constructors and goes_to_current(event) and not (event.guarded or event.arms):
            self._placed[id(event.node)] = event.node

    def named(self, event: DeviceNamed) -> None:
        """``torch.zeros(n, device="cuda")``."""
        name, call = event.name, event.call
        if event.scope not in self._constructors or event.sink != Sink.ARGUMENT or event.guarded or event.arms:
            return
        if name is not None and call is not None and is_current(name.device) and not name.chosen_by_probe:
            self._placed[id(call.node)] = call.node

    def stored(self, event: Stored) -> None:
        node = event.value_node
        if event.scope not in self._constructors or not self._placed or node is None or event.attribute is None:
            return
        if not event.target.startswith("self.") or not isinstance(event.value, (Tensor, Module)):
            return
        placed = next((self._placed[id(part)] for part in descend(node) if id(part) in self._placed), None)
        if placed is not None and is_current(event.value.device):
            self._drafts.append(_draft(event, placed))

    def drafts(self) -> list[Draft]:
        return self._drafts


def _draft(event: Stored, placed: cst.CSTNode) -> Draft:
    import libcst as cst

    message = "register it as a buffer, which moves with the module"
    changes: tuple[DropCall, ...] = ()
    if isinstance(event.value, Module) or _is_parameter(event):
        message = "leave it to whoever moves the module"
        if isinstance(placed, cst.Call) and isinstance(placed.func, cst.Attribute) and placed.func.attr.value == "cuda":
            changes = (DropCall(placed),)
    repair = Repair(Applicability.SUGGESTION, message, changes)
    return Draft(
        node=placed,
        scope=event.scope,
        message=f"{quoted(placed, 'this')} puts `{event.target}` on the current device while the module is built, "
        "which fails without one; where the module works, whoever moves it decides",
        confidence=Confidence.MEDIUM if event.scope.role is Role.LIBRARY else Confidence.LOW,
        repair=repair,
    )


def _is_parameter(event: Stored) -> bool:
    return isinstance(event.value, Tensor) and event.value.kind in (Kind.PARAMETER, Kind.UNWRAPPED)
