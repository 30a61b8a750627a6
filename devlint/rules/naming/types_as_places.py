"""`y.to(x.device.type)`: the type of a device, without its index, names the place: part of DEV310."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, device_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName
from devlint.placement.domain.events import Moved
from devlint.placement.domain.lattice import is_movable
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Created


def goes_by_type(event: Moved | Created) -> Draft | None:
    """The draft about a transfer, or a creation, that is told the type of a device which a caller or an object has."""
    import libcst as cst

    named = event.named
    if named is None or not isinstance(named.value, DeviceName) or not named.value.is_type:
        return None
    there = event.target if isinstance(event, Moved) else device_of(event.value)
    if not is_movable(named.value.device) or there != named.value.device:
        return None
    spelled = named.node
    whole = spelled.value if isinstance(spelled, cst.Attribute) and spelled.attr.value == "type" else None
    device = code_of(whole) if whole is not None else "the device itself"
    low = event.scope.role in (Role.TEST, Role.BENCHMARK)
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{quoted(event.node, 'the call')} means the current device; {quoted(spelled, 'its device')} tells the "
        "type of a device and not which one it is",
        confidence=Confidence.LOW if low else Confidence.MEDIUM,
        trace=(DraftStep(event.node, event.scope, "goes to the current device", passes_on=False),),
        repair=Repair(
            Applicability.SUGGESTION if whole is None else Applicability.UNSAFE,
            f"name the device: `{device}`",
            () if whole is None else (Replace(spelled, device),),
        ),
    )
