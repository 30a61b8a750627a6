"""Tests of a device that the definition has chosen by name: which of two places is meant in each arm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_state import Narrowing
from devlint.placement.domain.abstract_values import Constant, DeviceName, Opaque, Tensor, Value
from devlint.placement.domain.lattice import Choice, Known, leaves
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

_ALIKE = (cst.Equal, cst.NotEqual)


def narrowed_by_name(interp: Interpreter, asked: Value, target: cst.ComparisonTarget) -> Iterator[Narrowing]:
    """``device == "cuda"`` where the function has chosen between two: what is on the chosen one is on that, or not."""
    device = asked.device if isinstance(asked, DeviceName) else None
    if not isinstance(device, Choice) or not isinstance(target.operator, _ALIKE):
        return
    named = interp.evaluate_quietly(target.comparator)
    if not isinstance(named, Constant):
        return
    places = set(leaves(device))
    meant = {one for one in places if isinstance(one, Known) and one.index is None and one.type == named.value}
    if len(meant) != 1 or len(places) != 2:
        return
    (there,), (elsewhere,) = meant, places - meant
    equal = isinstance(target.operator, cst.Equal)
    for path, value in interp.state.values.items():
        if isinstance(value, (Tensor, Opaque)) and value.device == device:
            yield Narrowing(path, replace(value, device=there), equal)
            yield Narrowing(path, replace(value, device=elsewhere), not equal)
