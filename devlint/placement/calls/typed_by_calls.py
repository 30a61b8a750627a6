"""Arguments that a call shows to be tensors on another device than the CPU, where the callee alone does not tell.

``self.score(outputs, labels)`` after ``labels = labels.to(self.device)``: for ``score`` itself ``labels`` may be
numbers, or on the CPU as what ``score`` makes of its own, or its object keeps. The call decides, so that the callee is
evaluated for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.placement.calls import handed_on
from devlint.placement.calls.summaries import arguments_of
from devlint.placement.declarations.parameter_evidence import Role
from devlint.placement.domain.abstract_values import Opaque, Tensor, Value
from devlint.placement.domain.events import Created, DeviceMismatch, Loaded
from devlint.placement.domain.lattice import CPU, Anchor, Device, SameAs, is_accelerator, is_device_by_name, leaves
from devlint.placement.domain.provenance import Provenance, was_moved
from devlint.placement.domain.scope import Setting
from devlint.placement.state.later_stores import is_bare_on_cpu

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.interpreter.interpreter import Interpreter
    from devlint.placement.interpreter.program import Program

_TOLD = frozenset({Role.TENSOR, Role.LIKELY_TENSOR, Role.DEVICE, Role.MODULE})
"""What the callee knows well enough by itself."""


def typed_by_call(
    interp: Interpreter, info: FunctionInfo, site: CallSite, receiver: Value | None
) -> Iterator[Provenance]:
    """The arguments that are tensors elsewhere, and are none in particular for the callee.

    Asked of one that makes tensors bare, or reads such an attribute of its object or such a constant of its module.
    """
    program = interp.program.holder(info)
    if interp.depth or interp.muted or interp.in_cpu_world or program is None:
        return
    given = arguments_of(info, site, receiver, interp.program)
    elsewhere = [(name, value) for name, value in given if _is_elsewhere(interp, value)]
    if not elsewhere:
        return
    if not (any(_has_on_cpu(event) for event in program.events_of(info)) or _reads_a_constant(program, info)):
        return
    if _tests_types(info):
        return
    roles = handed_on.roles(program, info)
    for name, value in elsewhere:
        provenance = value.provenance if isinstance(value, (Tensor, Opaque)) else None
        if provenance is not None and name in roles and roles[name].role not in _TOLD:
            yield provenance


def _tests_types(info: FunctionInfo) -> bool:
    """``if torch.is_tensor(x): return x``: what comes after it is for arguments that are no tensors."""
    return not _TYPE_TESTS.isdisjoint(info.names)


_TYPE_TESTS = frozenset({"isinstance", "is_tensor", "type", "hasattr", "ndarray"})


def _is_elsewhere(interp: Interpreter, value: Value) -> bool:
    """A tensor that was brought to another place, or that a module computed in its own method."""
    if not isinstance(value, Tensor) and not (isinstance(value, Opaque) and (value.moved or value.tensorlike)):
        return False
    moved = was_moved(value.provenance)
    in_module = interp.scope.setting in (Setting.FORWARD, Setting.METHOD)
    # ``"cuda" if use_cuda else "cpu"``: where it is chosen, it is elsewhere.
    chosen = [leaf for leaf in leaves(value.device) if leaf != CPU]
    return bool(chosen) and all(_is_chosen(leaf, moved, in_module) for leaf in chosen)


def _is_chosen(device: Device, moved: bool, in_module: bool) -> bool:
    if not isinstance(device, SameAs):
        return is_accelerator(device)
    return moved or is_device_by_name(device) or (in_module and device.symbol.anchor is Anchor.MODULE)


def _has_on_cpu(event: object) -> bool:
    """A tensor that the callee makes bare, or an attribute of its object that was made so and stays on the CPU."""
    if not isinstance(event, (Created, Loaded)) or not isinstance(event.value, Tensor) or event.value.device != CPU:
        return False
    return event.named is None if isinstance(event, Created) else is_bare_on_cpu(event.value)


def _reads_a_constant(program: Program, info: FunctionInfo) -> bool:
    """Whether the callee reads a tensor that its module keeps on the CPU, by a name for constants: ``TABLE[ids]``."""
    constants = (name for name in sorted(info.names) if name.isupper() and len(name) > 1)
    return any(is_bare_on_cpu(program.global_value(name)) for name in constants)


def meets(interp: Interpreter, event: DeviceMismatch, info: FunctionInfo, given: list[Provenance]) -> bool:
    """Whether such an argument meets what the callee made on the CPU, and the callee alone does not show it."""
    sides = (event.offending.value, event.other.value)
    about = any(
        isinstance(one, (Tensor, Opaque)) and isinstance(other, (Tensor, Opaque)) and one.device == CPU
        and any(step is provenance.step for provenance in given for step in other.provenance or ())
        for one, other in (sides, sides[::-1])
    )  # fmt: skip
    if not about:
        return False
    program = interp.program.holder(info)
    own = program.events_of(info) if program is not None else ()
    return not any(isinstance(known, DeviceMismatch) and known.node is event.node for known in own)
