"""Results of calls by convention: where what a Module, or a callable of unknown type, gives is taken to be.

These speak only where the callee's body is not known. The trace of a finding names the convention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.stated_types import as_moved
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_conventions import (
    CALLABLE_RESULT,
    CONVENTIONS,
    GIVEN_BY_A_MAKER,
    GIVES_A_PART,
    MADE_OF_AN_IMAGE,
    MODULE_RESULT,
    TOLD_A_DEVICE,
)
from devlint.placement.declarations.evidence_names import (
    names_a_constructor,
    names_a_maker,
    names_a_module,
    names_a_transform,
)
from devlint.placement.declarations.parameter_evidence import Role, annotated
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Container,
    DeviceName,
    Evidence,
    Host,
    Instance,
    Module,
    Opaque,
    Self,
    Tensor,
    UnknownValue,
    Value,
    as_tensor,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Device, SameAs
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.operations.operands import device_of_value, moved_beside, provenance_of
from devlint.placement.syntax.nodes import code_of, dotted, is_name
from devlint.semantics import Dim, DType

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def of_overrides(interp: Interpreter, node: cst.Call, receiver: Self, method: FunctionInfo, site: CallSite) -> Value:
    """What the overrides of an abstract method of a Module give: it sits with the module's parameters.

    Given what is on the CPU, or an object that the code at hand has made of it, the module is there as well.
    """
    if not receiver.info.is_module or interp.scope.setting in (Setting.CONSTRUCTION, Setting.HOST):
        return NOTHING
    if any(_is_made_in_sight(argument.value) for argument in site.arguments):
        return NOTHING
    returns = method.header.returns if isinstance(method.header, cst.FunctionDef) else None
    stated = annotated(code_of(returns.annotation), interp.index.imports) if returns is not None else None
    if stated in (Role.HOST, Role.NUMPY):
        return Host(numpy=stated is Role.NUMPY)
    if returns is not None and stated not in (Role.TENSOR, Role.TENSORS):
        return NOTHING
    result = _beside_parameters(interp, node, receiver)
    if stated is Role.TENSOR:
        return as_tensor(result)
    return result


def _is_made_in_sight(value: Value) -> bool:
    made = isinstance(value, Instance) and value.node is not None
    return made or (isinstance(value, (Tensor, Opaque)) and value.device == CPU)


def of_inherited_forward(interp: Interpreter, node: cst.Call, receiver: Self) -> Value:
    """``self.forward(x)`` where a base class outside the project defines it, as ``nn.Sequential`` does."""
    result = _beside_parameters(interp, node, receiver)
    return Opaque(result.device, result.provenance, tensorlike=True)


def _beside_parameters(interp: Interpreter, node: cst.Call, receiver: Self) -> Opaque:
    device = SameAs(module_symbol(receiver.info))
    note = CONVENTIONS[MODULE_RESULT]
    return Opaque(device, interp.step(StepKind.COMPUTED, node, device, code_of(node.func), note=note))


def of_callable(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """What a callable of unknown type gives: it works where its arguments are."""
    if _hands_all_on(interp, site):
        return NOTHING
    told = of_told_device(interp, node, site)
    if told != NOTHING:
        return told
    given = (a.value.rest if a.star == "*" and isinstance(a.value, Container) else a.value for a in site.arguments)
    placed = [part for value in given for part in _parts(value) if isinstance(part, (Tensor, Opaque))]
    places = {device_of_value(part) for part in placed}
    # What stayed of a batch is brought over in the callee, or is no part of the result: there the rest of it was moved.
    placed = [part for part in placed if moved_beside(interp, part) not in places]
    if not placed:
        return NOTHING
    first = placed[0]
    devices = [device_of_value(value) for value in placed]
    if any(device != devices[0] for device in devices) and not all(map(_is_given, devices)):
        return NOTHING
    note = CONVENTIONS[CALLABLE_RESULT]
    name = code_of(node.func)
    return Opaque(devices[0], interp.step(StepKind.COMPUTED, node, devices[0], name, provenance_of(first), note=note))


def of_told_device(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``prepare(batch, self.device)``: what a function of unknown body is told one device for is brought there.

    So far as there is something to bring: a tensor, or what may hold some, is handed over beside the device. A class,
    by its name, makes an object of them.
    """
    if (dotted(node.func) or "").rpartition(".")[2][:1].isupper():
        return NOTHING
    named = [a.value.device for a in site.arguments if isinstance(a.value, DeviceName)]
    brought = [a.value for a in site.arguments if isinstance(a.value, (Tensor, Opaque, Container)) and not a.star]
    if len(named) != 1 or not brought or named[0] == UNKNOWN:
        return NOTHING
    previous = next((provenance_of(value) for value in brought), None)
    note = CONVENTIONS[TOLD_A_DEVICE]
    step = interp.step(StepKind.RETURNED, node, named[0], f"{code_of(node.func)}()", previous, note=note)
    return Opaque(named[0], step)


def of_image(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``preprocess(Image.open(path))``: what a transform that came in, or is kept, makes of an image.

    Not a method of another object: ``scaler.transform(x)`` of scikit-learn gives an array. Of a chain that is put
    together in sight a step may move it (fixture `questions`).
    """
    owner, _, name = (dotted(node.func) or "").rpartition(".")
    given = site.arguments[0] if len(site.arguments) == 1 else None
    if given is None or given.keyword or given.star or owner not in ("", "self") or not names_a_transform(name):
        return NOTHING
    if not isinstance(given.value, Host) or not given.value.numpy:
        return NOTHING
    step = interp.step(StepKind.MADE, node, CPU, name, note=CONVENTIONS[MADE_OF_AN_IMAGE])
    return Tensor(CPU, Dim.NONZERO, dtype=DType.OTHER, evidence=Evidence.LIKELY, provenance=step)


def is_told_a_device(site: CallSite) -> bool:
    """Whether a call hands a device over."""
    return any(isinstance(argument.value, DeviceName) for argument in site.arguments)


def of_maker(interp: Interpreter, info: FunctionInfo, value: Value) -> Value:
    """What ``build_model(options)`` of the project gives, where its body does not show it: a module."""
    is_open = isinstance(value, UnknownValue) or (isinstance(value, Opaque) and not value.tensorlike and not value.info)
    if not is_open or info.is_generator:
        return value
    owner = info.owner if info.owner is not None and info.owner.is_module and info.is_classmethod else None
    if owner is not None and names_a_constructor(info.name):
        made_of: ClassInfo | None = owner
    elif names_a_module(info.name) if info.is_property else names_a_maker(info.name):
        made_of = None
    else:
        return value
    moved, note = as_moved(value), CONVENTIONS[GIVEN_BY_A_MAKER]
    made = interp.step(StepKind.RETURNED, info.header, moved.device, f"{info.name}()", moved.provenance, note=note)
    return Module(moved.device, "", made_of, made, assumed=made_of is None)


def _hands_all_on(interp: Interpreter, site: CallSite) -> bool:
    """``function(self, *args, **kwargs)`` in a wrapper: it knows nothing of what it hands on."""
    header = interp.info.header if interp.info is not None else None
    own = header.params.star_arg if header is not None else None
    if not isinstance(own, cst.Param) or not any(is_name(a.node, own.name.value) for a in site.arguments if a.star):
        return False
    return all(a.star or is_name(a.node, "self") for a in site.arguments)


def _parts(value: Value | None) -> tuple[Value | None, ...]:
    """``net([x, condition])``: the items of a list that is written out."""
    written_out = isinstance(value, Container) and value.keys is None and value.rest is None
    return value.items if written_out and isinstance(value, Container) else (value,)


def _is_given(device: Device) -> bool:
    """Whether the caller, or the module, says where the value is."""
    return isinstance(device, SameAs) and device.symbol.anchor in (Anchor.PARAMETER, Anchor.MODULE)


_COMPUTING = ("forward", "loss", "encode", "decode", "embed", "score", "log_prob", "predict", "sample", "infer")


def computes(method: str) -> bool:
    """Whether a method of a Module of unknown class is named after a computation of its parameters."""
    if method.startswith("get_") and method.endswith(_NAMED_AFTER_PARTS):
        return False
    named = method.startswith("compute_") or any(part in method for part in _COMPUTING)
    return named and not method.endswith(("_fn", "_name", "_type", "_size"))


def meets_its_inputs(method: str) -> bool:
    """Whether a method of a Module of unknown class is named after one that its parameters meet the inputs in.

    What ``generate`` gives may be texts as well.
    """
    return method.startswith("generate") or computes(method) or computes_where_it_is(method)


def computes_where_it_is(method: str) -> bool:
    """Whether a method of a Module of unknown class is named after a step of ``forward``, which brings nothing over.

    ``encode``, ``predict`` and ``generate`` are also names of what is for users, who have texts and arrays.
    """
    return method.startswith("forward") or method in _STEPS_OF_FORWARD


def brings_nothing_over(method: str) -> bool:
    """Whether a method of a model takes its inputs as they come, so that they have to be together.

    ``generate`` of transformers hands them to ``forward`` (generation/utils.py).
    """
    return method == "generate" or computes_where_it_is(method)


_STEPS_OF_FORWARD = frozenset(
    "encode_image encode_text get_image_features get_text_features get_audio_features log_prob".split()
)
"""Methods that compute with their inputs as they come: CLIP (clip/model.py, open_clip/model.py), transformers
(models/clip/modeling_clip.py), torch.distributions and the libraries of flows that follow it."""


_NAMED_AFTER_PARTS = ("embeddings", "encoder", "decoder")
"""Endings of accessors that give a submodule, or what it gives."""

_ACCESSORS = frozenset("get_input_embeddings get_output_embeddings get_encoder get_decoder get_submodule".split())
"""Methods that give a submodule (transformers/modeling_utils.py, torch/nn/modules/module.py)."""


def of_accessor(interp: Interpreter, node: cst.Call, receiver: Value, method: str) -> Module | None:
    """``net.get_input_embeddings()``: a part of the model, which is where that is. None for any other method."""
    if method not in _ACCESSORS or not isinstance(receiver, (Module, Opaque, UnknownValue)):
        return None
    if isinstance(receiver, (Module, Opaque)) and receiver.info is not None and receiver.info.method(method):
        return None
    device, previous = (UNKNOWN, None) if isinstance(receiver, UnknownValue) else (receiver.device, receiver.provenance)
    step = interp.step(StepKind.GIVEN, node, device, code_of(node), previous, note=CONVENTIONS[GIVES_A_PART])
    return Module(device, provenance=step)
