"""Functions of torch and Python other than tensor operations: settings, streams, copies.

Functions of other libraries are in their tables (:mod:`devlint.placement.calls.library_dispatch`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls import builtin_models, computed_names, library_dispatch
from devlint.placement.calls import higher_order as indirect
from devlint.placement.calls.conventional_results import is_told_a_device, of_told_device
from devlint.placement.calls.load_places import note_load
from devlint.placement.calls.unknown_models import beside_arguments
from devlint.placement.declarations.evidence_names import names_a_transfer
from devlint.placement.domain.abstract_values import (
    DEVICE_COUNT,
    NOTHING,
    Argument,
    Constant,
    DeviceName,
    Host,
    Instance,
    Module,
    Opaque,
    Reference,
    Truth,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import DeviceNamed, Sink
from devlint.placement.domain.lattice import SOME_INDEX, UNKNOWN, Device, Known
from devlint.placement.domain.provenance import StepKind
from devlint.placement.operations import factories, generators
from devlint.placement.operations import packed_sequence as packed
from devlint.placement.state import contexts, streams
from devlint.placement.state.devices import resolve_device
from devlint.placement.state.ranks import note_index
from devlint.placement.syntax.nodes import code_of
from devlint.records import replace
from devlint.semantics import Factory
from devlint.semantics.library_models import is_functional, is_unplaced_context, library_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

Special = Callable[["Interpreter", cst.Call, CallSite], Value]

_LOSSES = ("loss", "cross_entropy", "nll", "kl_div", "binary_cross_entropy")


def callee_kind(name: str) -> str:
    """ "loss" or "operation", for the report's text."""
    named_as_loss = any(word in name for word in _LOSSES)
    return "loss" if named_as_loss and (name.startswith("torch.nn.functional.") or is_functional(name)) else "operation"


# -- torch ------------------------------------------------------------------------------------------------------


def _device(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.device("cuda", 1)``, ``torch.device(1)``, ``torch.device(args.device)``."""
    return replace(_device_of_call(interp, node, site), is_object=True)


def _device_of_call(interp: Interpreter, node: cst.Call, site: CallSite) -> DeviceName:
    first = site.argument("device", 0) or site.argument("type", None)
    if first is None:
        return DeviceName(UNKNOWN, node)
    index = site.argument("index", 1)
    if index is not None and isinstance(first.value, Constant) and isinstance(first.value.value, str):
        type_name = first.value.value
        if isinstance(index.value, Constant) and isinstance(index.value.value, int):
            text = f"{type_name}:{index.value.value}"
            name = DeviceName(Known(type_name, index.value.value), node, text)
            if type_name != "cpu":
                guarded = interp.under_device_guard
                interp.emit(DeviceNamed(node, interp.scope, text, Sink.DEVICE, name, site, guarded, interp.arms))
            return name
        _name_fallback(interp, index.node, type_name, site)
        if type_name != "cpu":
            note_index(interp, index.value, index.node, Sink.DEVICE)
        return DeviceName(Known(type_name, SOME_INDEX), node, code_of(node))
    device = resolve_device(interp, first.value, first.node, Sink.DEVICE, site)
    if isinstance(first.value, DeviceName):
        # `torch.device(x.device.type, x.device.index)` is the device itself again.
        return replace(first.value, device=device, is_type=first.value.is_type and index is None)
    if isinstance(first.value, Constant):
        return DeviceName(device, first.value.node or first.node, str(first.value.value))
    return DeviceName(device, first.node, code_of(first.node))


def _name_fallback(interp: Interpreter, index: cst.BaseExpression, type_name: str, site: CallSite) -> None:
    """``torch.device("cuda", index or 0)``: the index of everybody who gives none."""
    fallback = index.right if isinstance(index, cst.BooleanOperation) and isinstance(index.operator, cst.Or) else None
    if isinstance(fallback, cst.Integer) and type_name != "cpu":
        text = f"{type_name}:{fallback.evaluated_value}"
        interp.emit(DeviceNamed(fallback, interp.scope, text, Sink.FALLBACK, None, site, arms=interp.arms))


def _probe(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    return Truth(True, about_device=True)


def _device_count(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    return Instance(DEVICE_COUNT)


def _cuda_device(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    argument = site.argument("device", 0)
    device = (
        resolve_device(interp, argument.value, argument.node, Sink.CONTEXT, site) if argument is not None else UNKNOWN
    )
    return Instance("torch.cuda.device", device=device, node=node)


def _device_of(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.cuda.device_of(x)``: inside, the current device is that of ``x``."""
    given = site.positional[0].value if site.positional else NOTHING
    return Instance("torch.cuda.device", device=getattr(given, "device", UNKNOWN), node=node)


def _device_type(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.autocast("cuda")``, ``torch.amp.GradScaler("cuda")``: for the named type of device."""
    argument = site.argument("device_type", 0) or site.keyword("device")
    if argument is not None:
        resolve_device(interp, argument.value, argument.node, Sink.DEVICE_TYPE, site)
    return NOTHING


def _current_device(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    return DeviceName(Known("cuda", interp.state.current_index), None, "torch.cuda.current_device()")


def _device_or_current(interp: Interpreter, argument: Argument | None, site: CallSite) -> Device:
    """The device of an optional argument; without it the current device, with its index if that is set."""
    if argument is None or (isinstance(argument.value, Constant) and argument.value.value is None):
        return Known("cuda", interp.state.current_index)
    return resolve_device(interp, argument.value, argument.node, Sink.CONTEXT, site)


def _stream(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    argument = site.argument("device", 0)
    device = _device_or_current(interp, argument, site)
    return Instance(
        "torch.cuda.Stream", device=device, node=node, details=(("stream", Reference(f"stream@{id(node)}")),)
    )


def _event(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    return Instance("torch.cuda.Event", node=node)


def _current_stream(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    device = _device_or_current(interp, site.argument("device", 0), site)
    return Instance(
        "torch.cuda.Stream", device=device, node=node, details=(("stream", Reference(interp.state.streams.current)),)
    )


def _default_stream(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    return Instance("torch.cuda.Stream", node=node, details=(("stream", Reference("")),))


def _stream_context(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    given = site.positional[0].value if site.positional else NOTHING
    if isinstance(given, Instance) and given.type_name == "torch.cuda.Stream":
        return replace(given, type_name="torch.cuda.stream")
    return NOTHING


def _synchronize(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    argument = site.argument("device", 0)
    if argument is not None:
        resolve_device(interp, argument.value, argument.node, Sink.CONTEXT, site)
    streams.synchronise(interp)
    return NOTHING


def _setting(change: Callable[[Interpreter, CallSite], Value]) -> Special:
    return lambda interp, node, site: change(interp, site)


def _same(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """Returns its first argument: ``copy.deepcopy``, ``iter``, and ``Variable``, which no longer wraps.

    ``vmap(f)`` computes what ``f`` computes, on the same device.
    """
    return site.positional[0].value if site.positional else NOTHING


def _load(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    note_load(interp, site)
    location = site.argument("map_location", 1)
    if location is None or (isinstance(location.value, Constant) and location.value.value is None):
        # The file determines the device of each tensor; later uses show what the file contains.
        return Opaque(UNKNOWN, interp.step(StepKind.MADE, node, UNKNOWN, "torch.load"))
    device = resolve_device(interp, location.value, location.node, Sink.MAP_LOCATION, site)
    return Opaque(device, interp.step(StepKind.MADE, node, device, "torch.load"))


def _load_script(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``torch.jit.load(path)``: a module of unknown code, which works on what it is called with as layers do."""
    loaded = _load(interp, node, site)
    device = loaded.device if isinstance(loaded, Opaque) else UNKNOWN
    return Module(device, SCRIPTED, None, interp.step(StepKind.MADE, node, device, "torch.jit.load"), (), True)


SCRIPTED = "torch.jit.ScriptModule"


def _one_of_torch(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``getattr(torch, window)(400)``: what takes numbers alone makes a tensor."""
    given = [argument.value for argument in site.arguments if argument.keyword is None]
    numbers = bool(given) and all(isinstance(value, Host) or _is_whole_number(value) for value in given)
    factory = semantics.function("torch.hann_window") if numbers and not site.unpacks else None
    return factories.create(interp, node, factory, site) if isinstance(factory, Factory) else NOTHING


def _is_whole_number(value: Value) -> bool:
    return isinstance(value, Constant) and type(value.value) is int


FUNCTIONS: dict[str, Special] = {
    computed_names.ONE_OF_TORCH: _one_of_torch,
    "torch.device": _device,
    "torch.cuda.is_available": _probe,
    "torch.accelerator.is_available": _probe,
    "torch.cuda.device_count": _device_count,
    "torch.accelerator.device_count": _device_count,
    "torch.cuda.device": _cuda_device,
    "torch.cuda.device_of": _device_of,
    "torch.cuda.current_device": _current_device,
    "torch.autocast": _device_type,
    "torch.amp.autocast": _device_type,
    "torch.amp.autocast_mode.autocast": _device_type,
    "torch.amp.GradScaler": _device_type,
    "torch.GradScaler": _device_type,
    "torch.cuda.set_device": _setting(contexts.set_device),
    "torch.set_default_device": _setting(contexts.set_default_device),
    "torch.set_default_tensor_type": _setting(contexts.set_default_tensor_type),
    "torch.cuda.Stream": _stream,
    "torch.cuda.streams.Stream": _stream,
    "torch.Stream": _stream,
    "torch.cuda.Event": _event,
    "torch.Event": _event,
    "torch.cuda.current_stream": _current_stream,
    "torch.cuda.default_stream": _default_stream,
    "torch.cuda.stream": _stream_context,
    "torch.cuda.StreamContext": _stream_context,
    "torch.cuda.synchronize": _synchronize,
    "torch.accelerator.synchronize": _synchronize,
    "torch.Generator": generators.make,
    "torch.manual_seed": generators.default_of_cpu,
    "torch.load": _load,
    "torch.jit.load": _load_script,
    "torch.nn.utils.rnn.pack_padded_sequence": packed.pack,
    "torch.nn.utils.rnn.pad_packed_sequence": packed.unpack,
    "torch.utils.checkpoint.checkpoint": indirect.checkpoint,
    "functools.partial": indirect.partial,
    "torch.vmap": _same,
    "torch.func.vmap": _same,
    "torch.func.functional_call": indirect.functional_call,
    "torch.nn.utils.stateless.functional_call": indirect.functional_call,
    "torch.jit.trace": indirect.trace,
    "torch.autograd.grad": indirect.gradients,
    "torch.autograd.backward": indirect.backward,
    "torch.autograd.functional.jacobian": indirect.derivatives,
    "torch.autograd.functional.hessian": indirect.derivatives,
    "torch.is_tensor": builtin_models.truth,
    "torch.autograd.Variable": _same,
    "torch.autograd.variable.Variable": _same,
    "copy.deepcopy": _same,
    "copy.copy": _same,
    "iter": _same,
    **builtin_models.FUNCTIONS,
}


def call_by_prefix(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> Value:
    """A call whose own name is in no table: models of its package, device probes; otherwise unknown."""
    found = library_dispatch.call_in_package(interp, node, name, site)
    if found is not None:
        return found
    if name.startswith("math."):
        return Host(number=True)
    last = name.rsplit(".", 1)[-1]
    if name.startswith("torch.") and last[:1].islower() and semantics.is_device_probe(name):
        return Truth(None, about_device=True)
    if is_unplaced_context(name):
        return Instance(name, node=node)
    if name.startswith("torch.") or (is_told_a_device(site) and not names_a_transfer(last)):
        # What a library is told a device for it computes there; its results it hands out as it likes
        # (fixture `told_a_library`).
        return NOTHING
    if is_of_unknown_library(name):
        return beside_arguments(interp, node, site)
    return of_told_device(interp, node, site)


def is_of_unknown_library(name: str) -> bool:
    """Whether it is a function, not a class, of a library of which no table tells anything.

    What a table leaves out of a library that it tells of, and what the standard library does, is no matter of tensors
    as likely as not.
    """
    rest = name.partition(".")[2]
    if not rest or library_of(name) is not None:
        return False
    return rest.rpartition(".")[2][:1].islower()
