"""What a definition puts on the current accelerator and then meets with tensors that it is handed: part of DEV302.

That an argument is a tensor often shows by what is done with it alone, behind the place where the accelerator is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Opaque, Tensor
from devlint.placement.domain.lattice import is_device_by_name, is_of_parameter
from devlint.placement.operations.device_check import placed_here
from devlint.rules.current_device import is_current
from devlint.rules.naming.device_candidates import Candidate, Moves
from devlint.rules.naming.ways_out import leaves_without

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import Begun, UndecidedMismatch
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class MetWithCallers:
    """The arguments of the definitions of one file that such a value meets, by what put it there."""

    _met: dict[tuple[Scope, int], list[str]] = field(default_factory=dict)
    """By definition and the identity of the node that made or moved it: names of arguments."""

    def undecided_mismatch(self, event: UndecidedMismatch) -> None:
        handed = [name for one in event.operands if (name := _argument_of(one.value))]
        for one in event.operands if handed else ():
            device = getattr(one.value, "device", None)
            step = placed_here(event.scope, one.value)
            if step is not None and device is not None and is_current(device):
                self._met.setdefault((event.scope, id(step.node)), []).extend(handed)

    def candidates(self, begun: Begun | None, nodes: Iterator[int], moved: Moves) -> list[Candidate]:
        """What says the device of what one of the nodes puts on the accelerator."""
        if begun is None or not self._met or leaves_without(begun.node):
            return []
        handed = {name for name, _ in begun.arguments}
        if any(re.split(r"\W", text, maxsplit=1)[0] in handed for text, _ in moved):
            return []  # it is the place that chooses for what it is handed (fixture `met_with_callers`)
        met = dict.fromkeys(name for node in nodes for name in self._met.get((begun.scope, node), ()))
        return [Candidate(name, f"{name}.device", is_tensor=True) for name in met if name in handed]


def _argument_of(value: Value) -> str:
    """The argument on whose device a tensor is; empty for what is nowhere or no tensor."""
    if not (isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)):
        return ""
    device = value.device
    return device.symbol.name if is_of_parameter(device) and not is_device_by_name(device) else ""
