"""A module and what it is called with: whether they are certainly apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.conventional_results import brings_nothing_over
from devlint.placement.calls.encodings import left_encoded
from devlint.placement.calls.module_wrappers import WRAPPERS
from devlint.placement.calls.moved_on_arrival import is_moved_on_arrival
from devlint.placement.calls.own_state import brings_its_state
from devlint.placement.declarations import evidence_names as names
from devlint.placement.declarations.evidence_conventions import (
    CALLED_BY_MODULE,
    CONVENTIONS,
    NAMED_MODULE,
)
from devlint.placement.domain.abstract_values import (
    Argument,
    Container,
    Instance,
    Kind,
    Module,
    Opaque,
    Tensor,
    Value,
    innermost_of,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import CallersModuleCalled, DeviceMismatch, MismatchOperand
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    GuardKind,
    SameAs,
    Unknown,
    batch_of,
    is_accelerator,
    is_given,
    is_of_parameter,
    is_set_as_device,
)
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.domain.scope import Setting
from devlint.placement.operations.device_check import tell_undecided
from devlint.placement.operations.operands import Bound
from devlint.placement.state.built_in_call import built_here
from devlint.placement.state.captured_losses import is_captured_for_good
from devlint.placement.state.given_values import is_of_a_loader
from devlint.placement.state.handed_on_modules import is_handed_on_by_its_owner
from devlint.placement.state.held_modules import is_put_by_methods
from devlint.placement.syntax.nodes import code_of, dotted, parameters_of, path_of
from devlint.records import replace
from devlint.semantics import Clash, Dim, DType, Operation, Relation, Rule
from devlint.semantics import module as layer_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

MODULE_OPERATION = Operation("torch.nn.Module.__call__", Rule.EXACT_SAME, clash="mismatch_exact")
"""What holds for every module call: its parameters and its first input must be on one device."""


def meet_moved_model(
    interp: Interpreter,
    node: cst.Call,
    model: Opaque | Module,
    model_node: cst.BaseExpression,
    site: CallSite,
    *,
    computes: bool = True,
) -> None:
    """``model(ids, mask)`` after ``model.to(d)`` and ``ids.to(d)``: what stayed on the CPU is forgotten.

    So is all that the model is called with, if that are tensors made on the CPU and the first one is of floats:
    ``model(noise, step)``; or of data, ``model(torch.tensor(ids))``, if it is called what models are called. Not of a
    method that may bring its inputs over, as ``encode`` does: ``computes`` is false.
    A part of the module itself is where the module is, and the caller's tensors are expected there. So is what stands
    in for one that the caller left out: ``if ids is None: ids = torch.arange(n)``.
    """
    part = _is_part(interp, model)
    moved = was_moved(model.provenance)
    if not (moved or part) or model.device in (CPU, UNKNOWN):
        return
    default = [a for a in site.arguments if part and isinstance(a.value, Tensor) and _stands_in(a.value)]
    brought = bool(default) or any(
        isinstance(a.value, (Tensor, Opaque)) and (is_given(a.value.device) if part else a.value.device == model.device)
        for a in site.arguments
    )
    left = [
        Bound(a.keyword or "input", replace(a.value, device=CPU), a.node, strict=True)
        for a in map(first_of_a_state, site.arguments)
        if isinstance(a.value, Tensor) and a.value.dim is Dim.NONZERO
        if (_comes_from_cpu(a.value.device) or a in default) and not is_length(a)
    ]
    encoded = [bound for a in site.arguments if (bound := left_encoded(a)) is not None]
    named = names.names_a_module_in_use((dotted(model_node) or "").rpartition(".")[2])
    if not brought and computes and moved and named and not is_put_by_methods(model):
        data = [
            Bound("input", replace(a.value, device=CPU), a.node, strict=True)
            for a in site.arguments[:1]
            if isinstance(a.value, Tensor) and _is_data_on_cpu(a)
        ]
        left, brought = data or left, bool(data)
    if encoded or (left and (brought or (computes and _is_of_floats_alone(site)))):
        as_module = Module(model.device, provenance=model.provenance, assumed=True)
        meet_module(interp, node, as_module, model_node, encoded or left)


def first_of_a_state(argument: Argument) -> Argument:
    """``(hidden, cell)``: a tuple that holds tensors of floats of the CPU alone is the state of a recurrent part."""
    value = argument.value
    if argument.star or not isinstance(value, Container) or value.keys is not None or value.rest is not None:
        return argument
    if not value.items or not all(
        isinstance(one, Tensor) and one.device == CPU and is_of_floats(one) for one in value.items
    ):
        return argument
    return replace(argument, value=value.items[0])


def is_left_on_cpu(argument: Argument) -> bool:
    """Whether it is a tensor on the CPU, other than a number or lengths."""
    value = argument.value
    on_cpu = isinstance(value, Tensor) and _comes_from_cpu(value.device) and value.dim is Dim.NONZERO
    return on_cpu and not is_length(argument)


def _comes_from_cpu(device: Device) -> bool:
    """Whether the value is on the CPU, if only in the first iteration of a loop, ``x = model(x, t)``, or in later ones.

    ``action = policy(state); state = torch.tensor(env.step(action))``: the first state may have been moved.
    """
    if not isinstance(device, Choice) or device.guard.kind is not GuardKind.FIRST_ITERATION:
        return device == CPU
    return CPU in (device.then, device.otherwise)


def _stands_in(value: Tensor) -> bool:
    """Whether it is on the CPU where an argument was left out, and otherwise that argument, where the caller put it."""
    device = value.device
    if not isinstance(device, Choice) or device.guard.kind is not GuardKind.IS_NONE:
        return False
    arms = (device.then, device.otherwise)
    return CPU in arms and any(is_given(arm) for arm in arms)


def _is_of_floats_alone(site: CallSite) -> bool:
    """Whether a call is handed tensors on the CPU and nothing else, the first one certainly of floats."""
    values = [argument.value for argument in site.arguments]
    return (
        bool(values)
        and all(isinstance(value, Tensor) and _comes_from_cpu(value.device) for value in values)
        and is_of_floats(values[0])
    )


def _is_data_on_cpu(argument: Argument) -> bool:
    """Whether it is a tensor that was made on the CPU of data, not of a number that is written there or computed."""
    value = argument.value
    first = value.provenance.first if isinstance(value, Tensor) and value.provenance is not None else None
    of_data = first is not None and first.factory is not None and first.factory.default != "default_device"
    from_cpu = isinstance(value, Tensor) and _comes_from_cpu(value.device) and value.dim is not Dim.ZERO
    return of_data and from_cpu and not is_length(argument)


def _is_part(interp: Interpreter, model: Opaque | Module) -> bool:
    """Whether it is a submodule of the module whose method runs, and nothing says that it is a plain function."""
    if not isinstance(model, Module) or not isinstance(model.device, SameAs) or model.provenance is None:
        return False
    if any(step.note in _BY_CONVENTION for step in model.provenance):
        return False
    at_work = interp.scope.setting in (Setting.FORWARD, Setting.METHOD)
    name = model.provenance.step.name.rpartition(".")[2]
    return at_work and model.device.symbol.anchor is Anchor.MODULE and not names.names_a_function(name)


def is_module_by_convention(module: Module) -> bool:
    """Whether a convention alone says that an argument is a module: as any callable, it works where its own are."""
    return module.provenance is not None and module.provenance.step.note in _BY_CONVENTION


_BY_CONVENTION = frozenset({CONVENTIONS[NAMED_MODULE], CONVENTIONS[CALLED_BY_MODULE]})


def is_length(argument: Argument) -> bool:
    """Lengths for packing have to be on the CPU."""
    return "len" in (argument.keyword or "") or "len" in code_of(argument.node)


def is_float_tensor(site: CallSite) -> bool:
    """A lone tensor of floats: what a module of unknown class does with positions or sizes is its own affair."""
    values = [argument.value for argument in site.arguments]
    return len(values) == 1 and is_of_floats(values[0])


def is_of_floats(value: Value) -> bool:
    """Whether a tensor was made of floats, or made floats: ``torch.from_numpy(x).float()``, ``to_tensor(image)``."""
    if not isinstance(value, Tensor) or value.dtype not in (DType.OTHER, DType.UNKNOWN):
        return False
    first = value.provenance.first if value.provenance is not None else None
    if first is None or first.kind is not StepKind.MADE:
        return False
    return value.dtype is DType.OTHER or (first.factory is not None and first.factory.dtype is DType.OTHER)


def note_callers_module(
    interp: Interpreter,
    node: cst.Call,
    module: Module,
    module_node: cst.BaseExpression,
    site: CallSite,
    if_brought: bool = False,
) -> None:
    """``self.model(ids.to(d))``, where the model is an argument that nobody moved: it may be anywhere.

    So may what stands in for a model that the caller left out, and an input that was left out is made here.
    ``if_brought``: nothing here says that it is a model, so that the value has to that a caller hands in.
    """
    if not _is_an_argument(module.device) or was_moved(module.provenance):
        return
    apart = tuple(
        MismatchOperand(argument.keyword or "input", argument.value, argument.node)
        for position, argument in enumerate(map(_where_left_out, site.arguments))
        if isinstance(argument.value, (Tensor, Opaque)) and not argument.star
        if is_accelerator(argument.value.device)
        or (position == 0 and (_is_made_on_cpu(argument) or is_of_a_loader(argument.value)))
    )
    apart += tuple(
        MismatchOperand("input", item, argument.node)
        for argument in site.arguments
        if argument.star == "**"
        for item in innermost_of(argument.value)
        if isinstance(item, (Tensor, Opaque)) and is_accelerator(item.device)
    )
    encoded = () if _meets_what_was_brought(node, module_node, site) else map(left_encoded, site.arguments)
    apart = tuple(MismatchOperand(one.role, one.value, one.node) for one in encoded if one is not None) or apart
    left = tuple(
        MismatchOperand(argument.keyword or "input", value, argument.node)
        for position, argument in enumerate(site.arguments)
        for value in _carried(argument.value, whole=position > 0)
        if _is_left_of_batch(interp, value, argument, site)
    )
    if (apart or left) and not brings_its_inputs(interp, module, site):
        own = MismatchOperand("module", module, module_node)
        interp.emit(CallersModuleCalled(node, interp.scope, own, apart, left, interp.arms, if_brought=if_brought))


def _meets_what_was_brought(node: cst.Call, module_node: cst.BaseExpression, site: CallSite) -> bool:
    """Whether another input of the call was brought over, which says where the model is: the inputs are told apart."""
    method = node.func.attr.value if isinstance(node.func, cst.Attribute) and node.func is not module_node else ""
    if method and not brings_nothing_over(method):
        return False
    values = (argument.value for argument in site.arguments if isinstance(argument.value, (Tensor, Opaque)))
    return any(value.device != CPU and was_moved(value.provenance) for value in values)


def _is_an_argument(device: Device) -> bool:
    """Whether it is where the caller put it, or where what stands in for it is."""
    if isinstance(device, Choice) and device.guard.kind is GuardKind.IS_NONE:
        arms = (device.then, device.otherwise)
        return any(map(_is_an_argument, arms)) and all(arm == UNKNOWN or isinstance(arm, SameAs) for arm in arms)
    return is_of_parameter(device)


def _where_left_out(argument: Argument) -> Argument:
    """``if x is None: x = torch.randn(shape)``: the input of a call that leaves it out."""
    value = argument.value
    if not isinstance(value, Tensor) or not _stands_in(value):
        return argument
    return replace(argument, value=replace(value, device=CPU))


def _carried(value: Value, *, whole: bool) -> Iterator[Tensor | Opaque]:
    """The tensors that an argument is, if it may be one as a whole, or that it carries to where it is used.

    An object carries what it was built with, if its class has a way to bring that elsewhere: ``NestedTensor(x, mask)``.
    """
    if isinstance(value, Instance):
        moves = value.info is not None and value.info.method("to") is not None
        yield from (held for _, held in value.given if moves and isinstance(held, (Tensor, Opaque)))
    elif isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike):
        yield from (value,) if whole else ()


def _is_left_of_batch(interp: Interpreter, value: Tensor | Opaque, argument: Argument, site: CallSite) -> bool:
    """Whether it is a tensor of a batch of which another item was moved and is handed over beside it."""
    batch = batch_of(value.device)
    target = interp.state.moved_groups.get(batch.key) if batch is not None else None
    if target is None or argument.star or is_length(argument):
        return False
    beside = (other.value for other in site.arguments if other is not argument)
    items = (one for other in beside for one in innermost_of(other))
    return any(getattr(one, "device", None) == target for one in items)


def _is_made_on_cpu(argument: Argument) -> bool:
    """Whether it may be an input on the CPU: of unknown data it hardly has no dimension."""
    value = argument.value
    on_cpu = isinstance(value, Tensor) and value.device == CPU and value.dim is not Dim.ZERO
    return on_cpu and not is_length(argument)


def brings_its_inputs(interp: Interpreter, model: Opaque | Module, site: CallSite) -> bool:
    """Whether the ``forward`` of a model moves what it is called with itself."""
    if isinstance(model, Module) and WRAPPERS.get(model.type_name) == "scatters":
        return True
    forward = model.info.method("forward") if model.info is not None else None
    if forward is None:
        return False
    names = [parameter.name.value for parameter in parameters_of(forward.node)[1:]]
    given = names[: max(1, len(site.arguments))]
    return any(is_moved_on_arrival(interp.program, forward, name) for name in given)


def meet_module(
    interp: Interpreter, node: cst.Call, module: Module, module_node: cst.BaseExpression, bound: list[Bound]
) -> None:
    """Emit a mismatch of the module's device with an input that is certainly elsewhere."""
    own = Tensor(module.device, Dim.NONZERO, kind=Kind.PARAMETER, provenance=module.provenance)
    if not _placed_on_purpose(module) or brings_its_state(interp, module):
        return
    told = module.info is not None and module.info.method("forward") is not None
    for b in bound:
        if isinstance(b.value, Container) and b.value.keys is not None and told:
            # Of a dict of inputs its `forward` may move some, and use others on the host: its body tells.
            continue
        if isinstance(b.value, Container):
            items = [Bound(b.role, item, b.node, strict=True) for item in b.value.items]
        else:
            items = [b]
        for item in items:
            sides = (MismatchOperand("module", own, module_node), MismatchOperand(item.role, item.value, item.node))
            if _input_apart(interp, module, module_node, item.value):
                # The offending operand is the one left on the CPU.
                first = 0 if _on_cpu(own) and not _on_cpu(item.value) else 1
                tell_apart(interp, node, sides, first, module_node, assumed=module.assumed or _is_filled_unseen(module))
                if first == 0:
                    return
            elif is_left_for_callers(interp, module, module_node, item.value):
                tell_apart(interp, node, sides, 0, module_node, if_brought=True)
            elif module.type_name and layer_of(module.type_name) is not None:
                # What a layer of torch computes with: the body of another module tells of it.
                layer = Bound("module", own, module_node, strict=True)
                tell_undecided(interp, node, MODULE_OPERATION, [layer, item])


def is_left_for_callers(interp: Interpreter, module: Module, module_node: cst.BaseExpression, value: Value) -> bool:
    """Whether an object left a module on the CPU, and a method of it gets what that is called with from its callers."""
    if module.device != CPU or module.holds_state is not True or module.assumed or interp.muted:
        return False
    if not isinstance(value, (Tensor, Opaque)) or not is_of_parameter(value.device):
        return False
    kept = interp.scope.setting is Setting.METHOD and (path_of(module_node) or "").startswith("self.")
    return kept and not interp.in_cpu_world and not is_handed_on_by_its_owner(interp, module_node)


def tell_apart(
    interp: Interpreter,
    node: cst.Call,
    sides: tuple[MismatchOperand, MismatchOperand],
    stray: int,
    module_node: cst.BaseExpression,
    *,
    assumed: bool = False,
    if_brought: bool = False,
) -> None:
    """Emit that two sides of a module call are on different devices, the one with the number ``stray`` by mistake."""
    other = 1 - stray
    clash: Clash[Device] = Clash("mismatch_exact", stray, other, "")
    apart = (sides, clash, sides[stray], sides[other], "module", module_node, assumed)
    event = DeviceMismatch(node, interp.scope, MODULE_OPERATION, *apart, arms=interp.arms, if_brought=if_brought)
    interp.emit(event)


def _on_cpu(value: Value) -> bool:
    return getattr(value, "device", None) == CPU


def _is_filled_unseen(module: Module) -> bool:
    """A container with parts of unknown classes: a chain of transforms of images has nothing that moves."""
    return module.type_name == "torch.nn.Sequential" and module.holds_state is None


def _placed_on_purpose(module: Module) -> bool:
    """Whether the module is on the device of ``self``, was moved, or was created on its final device."""
    return not isinstance(module.device, Unknown)


def _input_apart(interp: Interpreter, module: Module, module_node: cst.BaseExpression, value: Value) -> bool:
    if not isinstance(value, (Tensor, Opaque)):
        return False
    # What a function is told where to make, `self.make_batch(items, self.device)`, shows what was left on the CPU.
    shows = module.device == CPU and module.holds_state is True and is_set_as_device(value.device)
    if isinstance(value, Opaque) and not (value.tensorlike or was_moved(value.provenance) or shows):
        return False
    moved = was_moved(value.provenance) or is_set_as_device(value.device)
    open_to_callers = not moved and isinstance(value, Opaque) and interp.scope.setting is not Setting.FORWARD
    if open_to_callers and not is_captured_for_good(interp, module, module_node):
        return False
    if module.device == CPU and not moved and not built_here(interp, module, module_node):
        # Not moved in this definition, and called with the caller's arguments.
        return False
    if module.device == CPU and is_handed_on_by_its_owner(interp, module_node):
        return False
    return interp.relate(module.device, value.device) is Relation.DIFFERENT
