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
from devlint.placement.domain.abstract_values import Constant, DeviceName, Kind, Module, Self, Tensor
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import UNKNOWN
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.placement.syntax.nodes import descend
from devlint.rules.current_device import goes_to_current, is_current
from devlint.rules.naming.device_candidates import is_known_module
from devlint.rules.naming.ways_out import speak_of_devices
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, DeviceNamed, Moved, Stored
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class PartsOfModules:
    """What the constructors of one file put on the current accelerator."""

    _constructors: set[Scope] = field(default_factory=set)
    """Those of Modules."""
    _placed: dict[int, cst.CSTNode] = field(default_factory=dict)
    """Transfers and creations in them, by the identity of their nodes, but where a condition asks for a device."""
    _drafts: list[Draft] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        built = event.scope.setting is Setting.CONSTRUCTION and event.owner is not None and is_known_module(event.owner)
        if built and not is_named_for_accelerator(event.scope.qualname):
            self._constructors.add(event.scope)

    def moved(self, event: Moved) -> None:
        if event.scope in self._constructors and goes_to_current(event) and not _is_asked(event):
            if event.arms and isinstance(event.receiver, Module):
                return  # an option may choose where a part works, `if spread:`
            self._placed[id(event.node)] = event.node

    def named(self, event: DeviceNamed) -> None:
        """``torch.zeros(n, device="cuda")``."""
        name, call = event.name, event.call
        if event.scope not in self._constructors or event.sink != Sink.ARGUMENT or _is_asked(event):
            return
        if name is not None and call is not None and is_current(name.device) and not name.chosen_by_probe:
            self._placed[id(call.node)] = call.node

    def called(self, event: Called) -> None:
        """``self.cuda()``, ``self.register_buffer("mean", mean.cuda())``."""
        if event.scope not in self._constructors or not isinstance(event.receiver, Self) or _is_asked(event):
            return
        if brings_itself(event) and not event.arms:
            self._drafts.append(_draft(event.scope, event.node, "itself", True))
        elif event.name == ".register_buffer" and self._placed:
            given = event.call.argument("tensor", 1)
            placed = self._placed_in(given.node) if given is not None else None
            if given is not None and placed is not None and is_current(getattr(given.value, "device", UNKNOWN)):
                self._drafts.append(_draft(event.scope, placed, "a buffer", True))

    def _placed_in(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return next((self._placed[id(part)] for part in descend(node) if id(part) in self._placed), None)

    def stored(self, event: Stored) -> None:
        node = event.value_node
        if event.scope not in self._constructors or not self._placed or node is None or event.attribute is None:
            return
        if not event.target.startswith("self.") or not isinstance(event.value, (Tensor, Module)):
            return
        placed = self._placed_in(node)
        if placed is not None and is_current(event.value.device):
            moves_along = isinstance(event.value, Module) or _is_registered(event)
            self._drafts.append(_draft(event.scope, placed, f"`{event.target}`", moves_along))

    def drafts(self) -> list[Draft]:
        return self._drafts


def _is_asked(event: Moved | DeviceNamed | Called) -> bool:
    return event.guarded or speak_of_devices(event.arms)


def brings_itself(event: Called) -> bool:
    """``self.cuda()``, ``self.to("cuda")``: spelled on the spot, as the accelerator of whoever builds it."""
    if event.name not in (".cuda", ".to") or not isinstance(event.receiver, Self):
        return False
    named = event.call.argument("device", 0)
    if named is None:
        return event.name == ".cuda"
    if isinstance(named.value, Constant):
        return event.name == ".to" and named.value.value == "cuda"
    return isinstance(named.value, DeviceName) and is_current(named.value.device) and not named.value.chosen_by_probe


def _draft(scope: Scope, placed: cst.CSTNode, what: str, moves_along: bool) -> Draft:
    """``moves_along``: whoever moves the module moves it as well."""
    import libcst as cst

    message = "register it as a buffer, which moves with the module"
    changes: tuple[DropCall, ...] = ()
    if moves_along:
        message = "leave it to whoever moves the module"
        if isinstance(placed, cst.Call) and isinstance(placed.func, cst.Attribute) and placed.func.attr.value == "cuda":
            changes = (DropCall(placed),)
    repair = Repair(Applicability.SUGGESTION, message, changes)
    return Draft(
        node=placed,
        scope=scope,
        message=f"{quoted(placed, 'this')} puts {what} on the current device while the module is built, "
        "which fails without one; where the module works, whoever moves it decides",
        confidence=Confidence.MEDIUM if scope.role is Role.LIBRARY else Confidence.LOW,
        repair=repair,
    )


def _is_registered(event: Stored) -> bool:
    return isinstance(event.value, Tensor) and event.value.kind in (Kind.PARAMETER, Kind.UNWRAPPED, Kind.BUFFER)
