"""What a function brings to where an argument is, whose tensors it hands to numpy as they came: part of DEV403.

Whoever asks for the device of an argument does not know it to be the CPU; a read by numpy knows nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import DraftStep
from devlint.drafts.wording import code_of
from devlint.placement.domain.abstract_values import Opaque, Tensor
from devlint.placement.domain.lattice import CPU, Anchor, SameAs, leaves
from devlint.placement.domain.scope import Setting
from devlint.placement.state.host_reads import METHOD
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Created, HostRead, Moved
    from devlint.placement.domain.lattice import Device, Symbol


@dataclass(slots=True)
class DeviceAsked:
    _brought: dict[tuple[str, Device], list[Created | Moved]] = field(default_factory=dict)
    """By definition and place: what was made on the CPU and brought there, or made there at once."""

    def created(self, event: Created) -> None:
        if event.named is not None and isinstance(event.value, Tensor):
            self._note(event, event.value.device)

    def moved(self, event: Moved) -> None:
        receiver = event.receiver
        if event.moves and isinstance(receiver, (Tensor, Opaque)) and receiver.device == CPU:
            self._note(event, event.target)

    def _note(self, event: Created | Moved, place: Device) -> None:
        if isinstance(place, SameAs) and place.symbol.anchor in (Anchor.PARAMETER, Anchor.MODULE):
            self._brought.setdefault((event.scope.qualname, place), []).append(event)

    def beside(self, event: HostRead) -> DraftStep | None:
        """The step that asked where the argument is, parts of which are read as they came, in each case."""
        if event.reader != METHOD or event.arms or event.scope.setting is Setting.HOST:
            return None
        if event.scope.role is Role.TEST:
            return None
        for leaf in leaves(event.value.device):
            for asked in self._brought.get((event.scope.qualname, leaf), ()):
                if isinstance(leaf, SameAs) and _is_of_the_same(event, leaf.symbol, asked):
                    return DraftStep(asked.node, asked.scope, "brought to where the argument is, here", passes_on=False)
        return None


def _is_of_the_same(event: HostRead, symbol: Symbol, asked: Created | Moved) -> bool:
    """Whether the argument is read itself, or the very item of it whose device was asked for.

    Beside the tensors of a batch there may be others that its loader keeps on the CPU: ``batch["lengths"].numpy()``.
    The arguments of ``forward`` are all where the module is, so there the item has to be the same.
    """
    read = _path(event.expression)
    of_argument = symbol.anchor is Anchor.PARAMETER and read == symbol.name
    return of_argument or (asked.named is not None and read == _path(asked.named.node))


def _path(node: cst.CSTNode | None) -> str:
    """``batch["x"]`` of ``batch["x"][0].detach()`` and of ``batch["x"].device``."""
    import libcst as cst

    while True:
        match node:
            case cst.Call(func=cst.Attribute(value=inner)):
                node = inner
            case cst.Attribute(value=inner, attr=cst.Name(value="device" | "data" | "T")):
                node = inner
            case cst.Subscript(value=inner, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]) if not isinstance(
                key, cst.SimpleString
            ):
                node = inner
            case cst.Subscript(value=inner, slice=slices) if len(slices) > 1:
                node = inner
            case None:
                return ""
            case _:
                return code_of(node)
