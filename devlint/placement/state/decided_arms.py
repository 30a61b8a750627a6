"""Values that a condition placed, under the outcome of it that a point of the program rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import DeviceName, Module, Opaque, Tensor, Value
from devlint.placement.domain.lattice import Choice, Device, assume
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def as_decided(interp: Interpreter, value: Value) -> Value:
    """An attribute that a switch of the constructor placed, or an argument, as it is where this point is reached.

    ``if self.on_gpu: return x.cuda() + self.table`` (fixture `switches`); ``if not args.cuda: sys.exit()`` before
    ``if args.cuda: model.cuda()`` and ``fit(model)`` (fixture `moved_in_any_case_by_main`).
    """
    if not isinstance(value, (Tensor, Opaque, Module, DeviceName)) or not isinstance(value.device, Choice):
        return value
    device: Device = value.device
    for decided in (*interp.arms, *interp.state.left):
        device = assume(device, decided.guard, decided.holds)
    return value if device == value.device else replace(value, device=device)
