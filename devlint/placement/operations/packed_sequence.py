"""Packed sequences: the data stays on the sequence's device, the lengths are always on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import NOTHING, Container, Kind, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import bind
from devlint.records import replace
from devlint.semantics import Dim, DType, Operation

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

_PACK = "torch.nn.utils.rnn.pack_padded_sequence"
_UNPACK = "torch.nn.utils.rnn.pad_packed_sequence"


def pack(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``pack_padded_sequence(x, lengths)``."""
    result = _performed(interp, node, site, _PACK)
    return replace(result, kind=Kind.PACKED) if isinstance(result, Tensor) else result


def unpack(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``pad_packed_sequence(packed)``: the padded data and, on the CPU, the lengths."""
    result = _performed(interp, node, site, _UNPACK)
    padded = result.rest if isinstance(result, Container) else result
    data = replace(padded, kind=Kind.PLAIN) if isinstance(padded, Tensor) else NOTHING
    provenance = interp.step(StepKind.COMPUTED, node, CPU, _UNPACK)
    lengths = Tensor(CPU, Dim.NONZERO, dtype=DType.INT, provenance=provenance)
    return Container((data, lengths), None, None, "tuple")


def _performed(interp: Interpreter, node: cst.Call, site: CallSite, name: str) -> Value:
    operation = semantics.function(name)
    if not isinstance(operation, Operation):
        return NOTHING
    return perform(interp, node, operation, bind(operation, site), call=site)
