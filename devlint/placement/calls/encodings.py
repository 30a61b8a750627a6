"""What a tokenizer or a processor makes: tensors on the CPU, for a model."""

from __future__ import annotations

from devlint.placement.domain.abstract_values import Argument, Opaque, Tensor
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU
from devlint.placement.operations.encoded import is_encoded
from devlint.placement.operations.operands import Bound
from devlint.semantics import Dim


def left_encoded(argument: Argument) -> Bound | None:
    """What a tokenizer made, or a part of it, as it came: it is made for a model, and `**` hands over all of it."""
    value = argument.value
    if not isinstance(value, (Tensor, Opaque)) or value.device != CPU or not is_encoded(value):
        return None
    if isinstance(value, Opaque):
        value = Tensor(CPU, Dim.NONZERO, provenance=value.provenance)
    return Bound(argument.keyword or "input", value, argument.node, strict=True)


def takes_an_encoding(site: CallSite) -> bool:
    """``scorer(**encoded)``: a model, for nothing else takes all of an encoding apart."""
    return any(argument.star == "**" and left_encoded(argument) is not None for argument in site.arguments)
