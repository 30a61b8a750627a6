"""The state of a module as a dictionary: tensors by name, each where the module is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Container, Evidence, Host, Opaque, Tensor
from devlint.placement.domain.provenance import StepKind
from devlint.placement.state.field_types import ALL_ITEMS, ITEMS
from devlint.placement.syntax.nodes import code_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.lattice import Device
    from devlint.placement.domain.provenance import Provenance
    from devlint.placement.interpreter.interpreter import Interpreter


def state_dict(interp: Interpreter, node: cst.Call, device: Device, provenance: Provenance | None = None) -> Opaque:
    """``model.state_dict()``: what is kept in it shares the memory of parameters and buffers."""
    given = interp.step(StepKind.GIVEN, node, device, code_of(node), provenance)
    return Opaque(device, given, fields=frozenset({ITEMS, ALL_ITEMS}))


def item_of_state(receiver: Opaque) -> Tensor:
    return Tensor(receiver.device, evidence=Evidence.CERTAIN, provenance=receiver.provenance)


def items_of_state(receiver: Opaque, method: str) -> Value | None:
    """What ``items()`` or ``values()`` give of such a dictionary; None for another object or method."""
    if ALL_ITEMS not in receiver.fields or method not in ("items", "values"):
        return None
    item = item_of_state(receiver)
    return Container((), None, item if method == "values" else Container((Host(), item), None, None, "tuple"))
