"""``torch.nn`` modules and modules of the project: constructed, wrapped and called."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls.conventional_results import of_callable
from devlint.placement.calls.inlining import call_with_values
from devlint.placement.calls.module_inputs import (
    is_float_tensor,
    is_module_by_convention,
    meet_module,
    meet_moved_model,
    note_callers_module,
)
from devlint.placement.calls.module_results import as_returned
from devlint.placement.calls.module_wrappers import WRAPPERS, wrap
from devlint.placement.calls.moved_on_arrival import is_moved_on_arrival
from devlint.placement.calls.reads_of_callees import note_module_call
from devlint.placement.calls.summaries import bind_arguments, handed_back, note_receiver, substitute
from devlint.placement.calls.told_modules import note_told_module
from devlint.placement.calls.unknown_models import beside_batches, meet_moved_inputs
from devlint.placement.calls.unmoved_batches import meet_moved_siblings, meet_unmoved_batch, note_brought_by_forward
from devlint.placement.declarations.evidence_conventions import BESIDE_BATCHES, CALLABLE_RESULT, CONVENTIONS
from devlint.placement.declarations.template_methods import is_abstract
from devlint.placement.domain.abstract_values import (
    NOTHING,
    SCATTERS,
    Argument,
    Constant,
    Container,
    Evidence,
    Host,
    Kind,
    Module,
    Opaque,
    Self,
    Tensor,
    Value,
    as_tensor,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Choice,
    Device,
    Known,
    SameAs,
    Unknown,
    is_accelerator,
    is_given,
    is_of_parameter,
    leaves,
)
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.operations import operands
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.encoded import is_encoded
from devlint.placement.operations.operands import Bound
from devlint.placement.operations.siblings import place_of_batches
from devlint.placement.state.devices import resolve_device
from devlint.placement.state.held_modules import is_put_by_methods
from devlint.placement.syntax.nodes import code_of, parameters_of
from devlint.records import replace
from devlint.semantics import Dim, ModuleInfo, library_models

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter

PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Buffer"})

CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})

_OF_WEIGHTS = MappingProxyType(
    {f"torch.nn.{name}.from_pretrained": f"torch.nn.{name}" for name in ("Embedding", "EmbeddingBag")}
)
"""Class methods that make a module around a tensor, whose parameter is that very tensor: torch/nn/modules/sparse.py."""


def construct_builtin(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> Value | None:
    """The Module of a ``torch.nn`` class; None if the name is not one."""
    if name in WRAPPERS and site.positional:
        return wrap(interp, node, name, site)
    if not name.startswith("torch.nn."):
        return None
    of_weights = name in _OF_WEIGHTS
    name = _OF_WEIGHTS.get(name, name)
    info = semantics.module(name)
    if info is None:
        return None
    named = site.keyword("device")
    if named is not None and not (isinstance(named.value, Constant) and named.value.value is None):
        device = resolve_device(interp, named.value, named.node, Sink.ARGUMENT, site)
    else:
        device = UNKNOWN if site.unpacks and named is None and not info.container else interp.state.factory_device
    children = _children(site) if name in CONTAINERS else ()
    holds_state = _state_by_arguments(info, site)
    if name in CONTAINERS:
        holds_state = _any_holds_state(children)
        places = {child.device if isinstance(child, (Module, Tensor)) else UNKNOWN for child in children}
        if places and device not in places:
            # `Sequential(*model[:k])`: modules that are there already, wherever that is.
            device = places.pop() if len(places) == 1 else UNKNOWN
    weight = site.keyword("weight") or site.keyword("pos_weight")
    if of_weights:
        weight = site.argument("embeddings", 0)
        device = weight.value.device if weight is not None and isinstance(weight.value, Opaque) else device
    if weight is not None and isinstance(weight.value, Tensor):
        device, holds_state = weight.value.device, True
    provenance = interp.step(StepKind.MADE, node, device, name)
    return Module(device, name, None, provenance, children, holds_state)


def _state_by_arguments(info: ModuleInfo, site: CallSite) -> bool | None:
    """``LayerNorm(d, elementwise_affine=False)`` has no state, ``InstanceNorm2d(c, affine=True)`` has some."""
    given = {a.keyword: a.value for a in site.arguments if a.keyword in info.state_with | info.stateless_without}
    told = {name: value.value for name, value in given.items() if isinstance(value, Constant)}
    if info.holds_state and info.stateless_without:
        if given.keys() == info.stateless_without and not any(told.get(name, True) for name in given):
            return False
        return None if len(told) < len(given) or len(site.positional) > 2 else True
    if not info.holds_state and any(told.get(name) is True for name in given):
        return True
    return info.holds_state


def _any_holds_state(children: tuple[Value, ...]) -> bool | None:
    """For a container, by its children; None if it is filled later."""
    states = [child.holds_state if isinstance(child, Module) else None for child in children]
    if True in states:
        return True
    return False if states and None not in states else None


def _children(site: CallSite) -> tuple[Value, ...]:
    found: list[Value] = []
    for argument in site.arguments:
        if isinstance(argument.value, Container):
            found += argument.value.values
        else:
            found.append(argument.value)
    return tuple(found)


def wrap_parameter(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> Value:
    """``nn.Parameter(t)``: a leaf on the device of ``t``."""
    argument = site.argument("data", 0)
    value = argument.value if argument is not None else NOTHING
    kind = Kind.BUFFER if name.endswith("Buffer") else Kind.PARAMETER
    if isinstance(value, Tensor):
        return replace(
            value,
            kind=kind,
            provenance=interp.step(StepKind.WRAPPED, node, value.device, "nn.Parameter", value.provenance),
        )
    device: Device = value.device if isinstance(value, Opaque) else UNKNOWN
    return Tensor(device, kind=kind, provenance=interp.step(StepKind.WRAPPED, node, device, "nn.Parameter"))


# -- calls --------------------------------------------------------------------------------------------------------


def is_unseen(module: Module) -> bool:
    """Whether no code says what the module does with its inputs: its class is not known, or leaves that to others."""
    forward = module.info.method("forward") if module.info is not None else None
    return module.info is None or (forward is not None and is_abstract(forward))


def call_module(
    interp: Interpreter, node: cst.Call, module: Module, module_node: cst.BaseExpression, site: CallSite
) -> Value:
    """``module(inputs)``: checks the parameters against the inputs; the output is on their device."""
    info = semantics.module(module.type_name) if module.type_name else None
    inputs = [a for a in site.arguments if not a.star]
    bound = _bound_inputs(info, site)
    if info is not None and info.call_operation is not None and module.stateless:
        callee = "loss" if info.loss else "module"
        operation = info.call_operation
        result = perform(interp, node, operation, bound, callee=callee, callee_node=module_node, call=site)
        # Layers keep the batch dimension; only a loss is reduced to 0-dim.
        batched = callee == "module" and isinstance(result, Tensor) and result.dim is Dim.UNKNOWN
        return replace(result, dim=Dim.NONZERO) if isinstance(result, Tensor) and batched else result
    meet_unmoved_batch(interp, node, module, site)
    note_callers_module(interp, node, module, module_node, site)
    note_told_module(interp, node, module, module_node, site)
    if not module.type_name and not module.assumed and is_unseen(module):
        meet_moved_model(interp, node, module, module_node, site)
    if is_module_by_convention(module):
        meet_moved_inputs(interp, node, site)
        meet_moved_siblings(interp, node, module, site)
        given = of_callable(interp, node, site)
        if given == NOTHING and _is_left_to_batches(interp, module, inputs):
            return beside_batches(interp, node)
        return replace(given, tensorlike=True) if isinstance(given, Opaque) else given
    if is_unseen(module) and (module.device == UNKNOWN or is_of_parameter(module.device)):
        # Of a model that is spread by its map, or came in, the inputs have to be together all the same.
        meet_moved_inputs(interp, node, site)
    if module.type_name != SCATTERS and not module.stateless:
        meet_module(
            interp,
            node,
            module,
            module_node,
            [*(bound or _first_input(interp, module, module_node, site)), *_encoded(module, site)],
        )
    forward = module.info.method("forward") if module.info is not None else None
    if forward is not None:
        note_receiver(interp, module)
        call_with_values(interp, node, forward, site, module)
        note_module_call(interp, node, forward, module, site)
        stayed = _left_on_cpu(interp, node, module, forward, site)
        if stayed is not None:
            return stayed
    device, note = _output_device(interp, module, [a.value for a in inputs]), ""
    place = place_of_batches(interp)
    if place is not None and device == module.device and _is_left_to_batches(interp, module, inputs):
        device, note = place, CONVENTIONS[BESIDE_BATCHES]
    if module.info is None and isinstance(module.device, SameAs) and is_accelerator(device):
        note = CONVENTIONS[CALLABLE_RESULT]  # It may bring back what it gives.
    if module.assumed and not any(operands.device_of_value(a.value) == device for a in inputs):
        return NOTHING
    previous = module.provenance if isinstance(device, Known) and not module.stateless else None
    if previous is None:
        previous = next(
            (operands.provenance_of(a.value) for a in inputs if operands.device_of_value(a.value) == device), None
        )
    name = code_of(module_node)
    provenance = interp.step(StepKind.COMPUTED, node, device, name if len(name) < 60 else "", previous, note=note)
    if info is not None and info.returns == "tensor" and not info.container:
        dim = Dim.UNKNOWN if info.loss else Dim.NONZERO
        stream, epoch = interp.state.streams.current, interp.state.streams.epoch
        return Tensor(device, dim, evidence=Evidence.LIKELY, provenance=provenance, stream=stream, computed_at=epoch)
    streams = interp.state.streams
    first = inputs[0].value if len(inputs) == 1 and module.stateless and info is None else None
    if isinstance(first, Tensor) and first.dim is Dim.NONZERO and first.device == device:
        # A transform of images gives one.
        return replace(first, provenance=provenance, evidence=Evidence.LIKELY, kind=Kind.PLAIN)
    note_brought_by_forward(interp, module, site, device)
    result = Opaque(device, provenance, tensorlike=True, stream=streams.current, computed_at=streams.epoch)
    left = partial(handed_back, interp, node)
    return result if forward is None else as_returned(result, interp.program.summary(forward), left)


def _is_left_to_batches(interp: Interpreter, module: Module, inputs: list[Argument]) -> bool:
    """``self.model(self.attack(images))``: a model that came in, of what may be made of a batch that was moved."""
    came_in = is_of_parameter(module.device)
    places = [operands.device_of_value(a.value) for a in inputs]
    # What is on the CPU, or where its batch came, in some arm is there for a model that is there as well.
    elsewhere = (place == UNKNOWN or is_given(place) or is_accelerator(place) for place in places)
    return (
        came_in and bool(places) and all(elsewhere) and not any(operands.left_behind(interp, a.value) for a in inputs)
    )


def _bound_inputs(info: ModuleInfo | None, site: CallSite) -> list[Bound]:
    """The tensor inputs of a ``torch.nn`` module, bound to the parameters of its forward."""
    if info is None or info.container:
        return []
    found = [
        Bound(name, argument.value, argument.node, strict=True)
        for name, argument in zip(info.operands, site.positional, strict=False)
    ]
    found += [
        Bound(a.keyword, a.value, a.node, strict=True)
        for a in site.arguments
        if a.keyword is not None and a.keyword in info.operands
    ]
    return found


def _left_on_cpu(
    interp: Interpreter, node: cst.Call, module: Module, forward: FunctionInfo, site: CallSite
) -> Value | None:
    """A tensor that a ``forward`` of the project creates on the CPU and returns; None for other results."""
    summary = interp.program.summary(forward)
    if summary is None:
        return None
    value = summary
    parts = value.items if isinstance(value, Container) and value.rest is None else (value,)
    if not parts or not all(isinstance(part, Tensor) and part.device == CPU for part in parts):
        return None
    return handed_back(interp, node, substitute(value, bind_arguments(interp, forward, site, module), interp, node))


def _first_input(interp: Interpreter, module: Module, module_node: cst.BaseExpression, site: CallSite) -> list[Bound]:
    """The input to check: for a module of the project, only a single first tensor certainly meets the parameters."""
    forward = module.info.method("forward") if module.info is not None else None
    if forward is not None:
        if module.holds_state is None:
            # The class may have no parameters; the evaluation of its forward checks the tensor.
            return []
        first = parameters_of(forward.node)[1:2]
        if any(is_moved_on_arrival(interp.program, forward, parameter.name.value) for parameter in first):
            return []
    if library_models.takes_tensors(module.type_name):
        if _adds_numbers(interp, module, module_node) and all(
            operands.device_of_value(a.value) == CPU for a in site.arguments
        ):
            return []
        # A number, as a step or a size, may be brought over.
        handed = [Bound("input", _unlisted(a), a.node, strict=True) for a in site.arguments if a.star != "**"]
        on_cpu = any(operands.device_of_value(b.value) == CPU for b in handed)
        if not on_cpu and any(isinstance(b.value, Opaque) and b.value.tensorlike for b in handed):
            handed = list(map(_taken_as_tensor, handed))
        return [bound for bound in handed if operands.dim_of(bound.value) is not Dim.ZERO]
    if module.assumed and not is_float_tensor(site):
        return []
    if module.info is None and module.type_name not in CONTAINERS and not module.assumed:
        return []
    # What a number does in a forward of the project is seen there: it may stand beside tensors anywhere.
    own = module.info is not None
    first_given = [Bound("input", _unlisted(a), a.node, strict=True) for a in site.arguments if a.keyword is None]
    return [bound for bound in first_given[:1] if not (own and operands.dim_of(bound.value) is Dim.ZERO)]


def _taken_as_tensor(bound: Bound) -> Bound:
    """What stands beside a tensor in a call that takes tensors is one, and so is that one: ``metric(predicted, y)``."""
    value = bound.value
    if not isinstance(value, Opaque):
        return bound
    return replace(bound, value=as_tensor(value))


def _adds_numbers(interp: Interpreter, module: Module, node: cst.BaseExpression) -> bool:
    """Whether the inputs come to a number that its tensors are added, by the keywords that it was made with."""
    unless = library_models.adds_numbers_unless(module.type_name)
    made = _construction(interp, module, node) if unless else None
    if made is None:
        return False
    given = {argument.keyword.value if argument.keyword is not None else argument.star for argument in made.args}
    return given.isdisjoint({*unless, "**"})


def _construction(interp: Interpreter, module: Module, node: cst.BaseExpression) -> cst.Call | None:
    """The call that made a module, or what the constructor stored as the attribute of ``self`` that is called."""
    if isinstance(node, cst.Attribute):
        owner = interp.evaluate_quietly(node.value)
        fact = interp.program.facts(owner.info).attributes.get(node.attr.value) if isinstance(owner, Self) else None
        module = fact.value if fact is not None and isinstance(fact.value, Module) else module
    step = module.provenance.find(StepKind.MADE) if module.provenance is not None else None
    return step.node if step is not None and isinstance(step.node, cst.Call) else None


def _unlisted(argument: Argument) -> Value:
    """What ``*batch`` hands over, each of them alike: ``batch = [torch.from_numpy(one) for one in arrays]``."""
    value = argument.value
    if not argument.star:
        return value
    if isinstance(value, Opaque):
        return value if was_moved(value.provenance) else NOTHING
    return value.rest if isinstance(value, Container) and not value.items and value.rest is not None else NOTHING


def _encoded(module: Module, site: CallSite) -> list[Bound]:
    """A tokenizer's output, ``model(**inputs)``: not moved, or a part of it, or moved for a pretrained model."""
    row = library_models.row(module.type_name) if module.type_name else None
    pretrained = row is not None and row.takes_encodings
    found = []
    for a in site.arguments:
        value = _unpacked(a)
        if not isinstance(value, (Opaque, Tensor)) or not (a.star == "**" or (pretrained and not a.star)):
            continue
        if isinstance(value, Opaque) and value.device == CPU and not value.tensorlike:
            value = Tensor(CPU, Dim.NONZERO, provenance=value.provenance)
        elif not (a.star and (pretrained or is_encoded(value))):
            continue
        found.append(Bound("input", value, a.node, strict=True))
    return found


def _unpacked(argument: Argument) -> Value:
    """What ``**inputs`` hands over, by any key: ``inputs`` may be ``{k: v.to(device) for k, v in inputs.items()}``."""
    value = argument.value
    if argument.star == "**" and isinstance(value, Container) and not value.items and value.rest is not None:
        return value.rest
    return value


def _output_device(interp: Interpreter, module: Module, inputs: list[Value]) -> Device:
    if isinstance(module.device, Known) and module.device != CPU:
        return module.device
    devices = [operands.device_of_value(value) for value in inputs if isinstance(value, (Tensor, Opaque))]
    if not devices and module.info is None and any(isinstance(value, Host) and value.numpy for value in inputs):
        return UNKNOWN  # What takes arrays is no Module of torch, whatever its name says.
    placed = [d for d in devices if d != CPU and not isinstance(d, Unknown)]
    if is_put_by_methods(module):
        # Before a method has put it there it works where its inputs are, and they tell which of the two is meant.
        return placed[0] if placed else UNKNOWN
    # What was moved to an accelerator in one arm has parameters there.
    moved = isinstance(module.device, Choice) and any(map(is_accelerator, leaves(module.device)))
    if (isinstance(module.device, SameAs) or moved) and not placed:
        return module.device
    if placed:
        # A module that was passed in is on the device to which a batch was moved, or what it is called with.
        first = next(value for value in inputs if operands.device_of_value(value) == placed[0])
        there = is_given(placed[0]) or is_accelerator(placed[0])
        brought = there and was_moved(operands.provenance_of(first))
        agreed = brought or placed[0] in interp.state.moved_groups.values()
        return module.device if isinstance(module.device, SameAs) and not agreed else placed[0]
    if module.holds_state is not True and any(isinstance(device, Unknown) for device in devices):
        # Without parameters it works wherever its input is.
        return UNKNOWN
    return module.device if devices else UNKNOWN
