"""What a constructor has put on its object by the time that it calls one of the object's methods.

``self.table = self.outer(size)`` after ``self.register_buffer("steps", ...)``: what the class holds in the end is not
known yet, and what the method gives is computed of what is there by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Self, Tensor, Value
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import parameters_of

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


def kept_so_far(interp: Interpreter, info: FunctionInfo, receiver: Value | None) -> Mapping[str, Tensor]:
    """The tensors on the CPU, by attribute, that the running constructor has stored and a method reads.

    None for a method that gives nothing, and where another object is meant.
    """
    if interp.scope.setting is not Setting.CONSTRUCTION or not isinstance(receiver, Self) or info.gives_none:
        return {}
    if interp.info is None or not interp.program.in_progress(receiver.info):
        return {}
    me = next((parameter.name.value for parameter in parameters_of(interp.info.header)), "")
    info.depend_on_body()
    held = ((name, interp.state.values.get(f"{me}.{name}")) for name in sorted(info.own.mentioned))
    return {name: value for name, value in held if isinstance(value, Tensor) and value.device == CPU}
