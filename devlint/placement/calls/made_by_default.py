"""Arguments that default to a tensor, ``def scale(x, factor=torch.ones(3))``: made once, on the CPU, for all calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, MAKES_BY_DEFAULT
from devlint.placement.domain.abstract_values import Host, Opaque, Reference, Tensor, UnknownValue, Value
from devlint.placement.domain.lattice import CPU, Guard, GuardKind, SameAs, Symbol
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.value_join import join_values
from devlint.semantics import Dim, Factory

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def left_out_or(interp: Interpreter, parameter: cst.Param, symbol: Symbol, given: Value) -> Value:
    """What a parameter holds: the tensor that is made by default where a call leaves it out, else what is given.

    ``window_fn=torch.hann_window``: what makes tensors by default makes them where a call leaves it out.
    """
    default = parameter.default
    if isinstance(default, (cst.Name, cst.Attribute)) and isinstance(given, (Host, UnknownValue)):
        function = interp.evaluate_quietly(default)
        known = semantics.function(function.name) if isinstance(function, Reference) else None
        if isinstance(function, Reference) and isinstance(known, Factory) and known.takes_device:
            return Reference(function.name, CONVENTIONS[MAKES_BY_DEFAULT])
    named = isinstance(default, cst.Name) and default.value not in ("None", "True", "False")
    if default is None or not (named or isinstance(default, cst.Call)):
        return given
    made = interp.evaluate_quietly(default)
    if not isinstance(made, Tensor) or made.device != CPU or made.dim is Dim.ZERO or made.provenance is None:
        return given
    if made.provenance.first.kind is not StepKind.MADE or not made.provenance.first.bare:
        return given
    if not isinstance(given, Tensor):
        if not isinstance(given, (Host, Opaque)):
            return given
        device = SameAs(symbol)
        given = Tensor(device, provenance=interp.step(StepKind.GIVEN, parameter, device, symbol.name))
    left_out = Guard(f"{symbol.key} is left out", f"`{symbol.name}` is left out", GuardKind.IS_NONE, symbol)
    return join_values(left_out, made, given)
