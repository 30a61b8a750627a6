"""Calls that leave the device of what they make to a default: ``mask(n)``, of ``def mask(n, device=None)``.

For the caller such a call is what ``torch.ones(n)`` is: a creation on the CPU, for which no device was named.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.placement.calls.summaries import symbol_key
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.domain.abstract_values import Container, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU, SameAs, is_device_by_name
from devlint.placement.domain.provenance import Provenance, Step, StepKind
from devlint.placement.syntax.nodes import code_of, literal, parameters_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.interpreter.interpreter import Interpreter


def left_to_default(
    interp: Interpreter, node: cst.Call, info: FunctionInfo, site: CallSite, summary: Value, bound: bool
) -> Value:
    """The summary, where what is made on a device that the call does not name counts as made by the call."""
    left_out = _left_out(info, site, bound) if interp.state.factory_device == CPU else frozenset()
    if not left_out:
        return summary
    found = _made_by(interp, node, summary, left_out)
    return summary if found is None else found


def _left_out(info: FunctionInfo, site: CallSite, bound: bool) -> frozenset[str]:
    """The symbol keys of the device parameters that the call leaves to ``None`` or ``"cpu"``."""
    if site.unpacks:
        return frozenset()
    parameters = parameters_of(info.header)
    return frozenset(
        symbol_key(info, parameter.name.value)
        for position, parameter in enumerate(parameters[1:] if bound else parameters)
        if parameter.default is not None and parameter.name.value.endswith("device")
        if _is_cpu_or_none(parameter.default) and site.argument(parameter.name.value, position) is None
    )


def _is_cpu_or_none(default: cst.BaseExpression) -> bool:
    try:
        return literal(default) in (None, "cpu")
    except ValueError:
        return code_of(default) in ("torch.device('cpu')", 'torch.device("cpu")')


def _made_by(interp: Interpreter, node: cst.Call, value: Value, left_out: frozenset[str]) -> Value | None:
    """The value with the call as its creation, or a container with such an item; None for any other."""
    if isinstance(value, Container):
        items = [_made_by(interp, node, item, left_out) for item in value.items]
        rest = None if value.rest is None else _made_by(interp, node, value.rest, left_out)
        if rest is None and not any(items):
            return None
        kept = tuple(old if new is None else new for old, new in zip(value.items, items, strict=True))
        return replace(value, items=kept, rest=value.rest if rest is None else rest)
    if not isinstance(value, Tensor) or not isinstance(value.device, SameAs) or not is_device_by_name(value.device):
        return None
    made = value.provenance.first if value.provenance is not None else None
    if value.device.symbol.key not in left_out or made is None or made.kind is not StepKind.MADE:
        return None
    factory = made.factory if value.device.symbol.name == "device" else None
    step = Step(StepKind.MADE, node, interp.scope, CPU, code_of(node.func), factory, bare=True)
    return replace(value, provenance=Provenance(step))
