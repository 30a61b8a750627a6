"""Random generators as values with a device, and the calls that use them.

A generator belongs to one type of device: ``check_generator`` in PyTorch's ATen/core/Generator.h compares types and
ignores the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import (
    Argument,
    Constant,
    DeviceName,
    Instance,
    Reference,
    Self,
    Tensor,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import DeviceMismatch, MismatchOperand, Sink
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Choice,
    Device,
    Known,
    batch_of,
    is_accelerator,
    leaves,
)
from devlint.placement.domain.provenance import StepKind
from devlint.placement.state.devices import resolve_device
from devlint.placement.state.later_stores import first_on_cpu
from devlint.records import replace
from devlint.semantics import Clash, Operation, Relation, Rule
from devlint.semantics.sampling import CLASH, GENERATOR, sampling

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def make(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.Generator(device)``: without a device it is on the CPU, whatever the default device is."""
    argument = site.argument("device", 0)
    if argument is None or (isinstance(argument.value, Constant) and argument.value.value is None):
        device: Device = UNKNOWN if site.unpacks else CPU
        return _generator(interp, node, device, "torch.Generator", bare=True)
    return _generator(
        interp, node, resolve_device(interp, argument.value, argument.node, Sink.ARGUMENT, site), "torch.Generator"
    )


def default_of_cpu(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.manual_seed(n)`` returns the default generator of the CPU."""
    return _generator(interp, node, CPU, "torch.manual_seed", bare=True)


def _generator(interp: Interpreter, node: cst.CSTNode, device: Device, name: str, *, bare: bool = False) -> Instance:
    provenance = interp.step(StepKind.MADE, node, device, name, bare=bare)
    details: tuple[tuple[str, Value], ...] = (
        ("device", DeviceName(device)),
        ("placed", Tensor(device, provenance=provenance)),
    )
    return Instance(GENERATOR, device=device, node=node, details=details)


def note_factory(
    interp: Interpreter, node: cst.Call, name: str, site: CallSite, made: Tensor, named: Argument | None
) -> None:
    """Check the generator of a factory against the device of the new tensor."""
    argument = site.keyword("generator")
    if argument is not None:
        role, place = ("draws on", node) if named is None else ("device", named.node)
        _judge(interp, node, name, argument, MismatchOperand(role, made, place))


def note_operation(
    interp: Interpreter, node: cst.CSTNode, operation: Operation, drawn: MismatchOperand, site: CallSite
) -> None:
    """Check ``x.normal_(generator=g)``, ``torch.multinomial(p, n, generator=g)`` against the first operand's device."""
    argument = site.keyword("generator")
    if argument is not None:
        _judge(interp, node, operation.name, argument, replace(drawn, role="draws on"))


def note_sampling(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> None:
    """Check the generator of samplers, loaders and splits, which draw on the default device."""
    known = sampling(name)
    if known is None:
        return
    device = interp.state.factory_device if known.at_once else interp.state.default_device
    drawn = MismatchOperand("draws on", Tensor(device), node)
    argument = site.argument("generator", known.position)
    if argument is not None and not _is(argument, None):
        placed = _placed(interp, argument)
        # If no default device is set here, a generator of unknown device shows that a caller sets one.
        if placed is not None and (device != CPU or is_accelerator(placed.device)):
            _report(interp, node, name, MismatchOperand("generator", placed, argument.node), drawn)
        return
    asked = site.argument(known.only_if, known.only_if_position) if known.only_if else None
    silent = site.unpacks or not known.makes_cpu_generator
    if not silent and (not known.only_if or (asked is not None and _is(asked, True))):
        _report(interp, node, name, MismatchOperand("generator", Tensor(CPU), node), drawn)


def _is(argument: Argument, value: object) -> bool:
    return isinstance(argument.value, Constant) and argument.value.value is value


def _judge(interp: Interpreter, node: cst.CSTNode, name: str, argument: Argument, drawn: MismatchOperand) -> None:
    placed = _placed(interp, argument)
    if placed is not None:
        _report(interp, node, name, MismatchOperand("generator", placed, argument.node), drawn)


def _placed(interp: Interpreter, argument: Argument) -> Tensor | None:
    """The generator as a value with a device; None if the device is unknown or the generator may be replaced."""
    value = argument.value
    if isinstance(value, Reference) and value.name == "torch.default_generator":
        return Tensor(CPU, provenance=interp.step(StepKind.GIVEN, argument.node, CPU, value.name))
    if not isinstance(value, Instance) or value.type_name != GENERATOR:
        return None
    placed = dict(value.details)["placed"]
    assert isinstance(placed, Tensor)
    return None if _may_be_replaced(interp, argument.node, placed) else placed


def _may_be_replaced(interp: Interpreter, node: cst.BaseExpression, placed: Tensor) -> bool:
    if not isinstance(node, cst.Attribute):
        return False
    owner = interp.evaluate_quietly(node.value)
    if not isinstance(owner, Self) or f"self.{node.attr.value}" in interp.state.values:
        return False
    name, info = node.attr.value, owner.info
    if info.defines("_apply", "to", "cuda"):
        return True
    stored_later = any(name in c.assigned_outside_init for c in info.order)
    return stored_later and (placed.device != CPU or first_on_cpu(interp, info, name) is None)


def _report(
    interp: Interpreter, node: cst.CSTNode, name: str, generator: MismatchOperand, drawn: MismatchOperand
) -> None:
    assert isinstance(generator.value, Tensor)
    device = getattr(drawn.value, "device", UNKNOWN)
    if interp.is_dead or not _apart(interp, generator.value.device, device, drawn.role == "device"):
        return
    operation = Operation(name, Rule.OWN_CHECK, clash=CLASH)
    clash: Clash[Device] = Clash(CLASH, 0, 1, "")
    interp.emit(DeviceMismatch(node, interp.scope, operation, (generator, drawn), clash, generator, drawn))


def _apart(interp: Interpreter, own: Device, theirs: Device, named: bool) -> bool:
    own, theirs = _types(own), _types(theirs)
    if interp.relate(own, theirs) is Relation.DIFFERENT:
        return True
    # `device=p.device` shows that `p` may be on any device, even if it was drawn from a list.
    return named and own == CPU and not interp.in_cpu_world and any(map(batch_of, leaves(theirs)))


def _types(device: Device) -> Device:
    """The device without its index."""
    if isinstance(device, Known):
        return Known(device.type)
    if isinstance(device, Choice):
        return Choice(device.guard, _types(device.then), _types(device.otherwise))
    return device
