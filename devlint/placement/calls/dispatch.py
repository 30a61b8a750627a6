"""Calls: dispatch on the callee's value, evaluation of arguments, and the result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial, reduce
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls import call_models as library
from devlint.placement.calls import library_dispatch, methods
from devlint.placement.calls.attributes import attribute_of, of_class
from devlint.placement.calls.conventional_results import computes, of_accessor, of_callable, of_image
from devlint.placement.calls.encodings import takes_an_encoding
from devlint.placement.calls.higher_order import call_partial
from devlint.placement.calls.methods_of_containers import of_container
from devlint.placement.calls.module_inputs import meet_moved_model, note_callers_module
from devlint.placement.calls.modules import (
    PARAMETERS,
    call_module,
    construct_builtin,
    is_unseen,
    wrap_parameter,
)
from devlint.placement.calls.refused_calls import note_refused_by_torch
from devlint.placement.calls.summaries import note_arguments
from devlint.placement.calls.unknown_losses import (
    call_unknown_loss,
    is_method_that_compares,
    is_named_as_loss,
    meet_targets,
)
from devlint.placement.calls.unknown_models import (
    call_method_of_unknown_model,
    call_unknown,
    call_unknown_model,
    is_named_as_model,
    meet_moved_inputs,
)
from devlint.placement.calls.unmoved_batches import meet_moved_siblings, meet_unmoved_batch
from devlint.placement.calls.user_calls import call_function, call_self, construct
from devlint.placement.declarations.evidence_names import names_a_model_in_use, names_a_module
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Argument,
    ClassValue,
    Constant,
    Container,
    DeviceName,
    Function,
    Host,
    Instance,
    Module,
    OneOf,
    Opaque,
    Partial,
    ProjectModule,
    Reference,
    Self,
    Tensor,
    UnknownValue,
    Value,
    array_of,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import Called, DeviceNamed, Sink
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.domain.value_join import join_values
from devlint.placement.operations import device_questions, factories, transfers
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.generators import note_sampling
from devlint.placement.operations.operands import bind, element_nodes
from devlint.placement.state import ranks
from devlint.placement.state.handed_on_modules import note_handed_on
from devlint.placement.state.host_reads import ARRAY_REDUCTIONS, ARRAY_VIEWS, host_read
from devlint.placement.syntax.nodes import dotted, path_of
from devlint.records import replace
from devlint.semantics import Factory
from devlint.semantics.library_models import is_unplaced_context

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def call(interp: Interpreter, node: cst.Call) -> Value:
    function = node.func
    if type(function) is cst.Attribute:
        receiver = interp.evaluate(function.value)
        if isinstance(receiver, (Reference, ProjectModule)):
            return _call_reference(interp, node, attribute_of(interp, receiver, function.attr.value, function))
        site = arguments(interp, node)
        result = library_dispatch.call_by_keyword(interp, node, site) or _call_method(
            interp, node, receiver, function, site
        )
        _tell(interp, node, f".{function.attr.value}", site, receiver, result)
        return result
    callee = interp.evaluate(function)
    if isinstance(callee, Reference):
        return _call_reference(interp, node, callee)
    site = arguments(interp, node)
    result = library_dispatch.call_by_keyword(interp, node, site) or call_value(interp, node, callee, site)
    _tell(interp, node, dotted(function) or "", site, None, result)
    return result


def _tell(
    interp: Interpreter, node: cst.Call, name: str, site: CallSite, receiver: Value | None, result: Value
) -> None:
    left_out = interp.take_left_out(node)
    note_handed_on(interp, name, site)
    if interp.muted:
        return
    guarded = interp.tries > 0 or interp.seconds > 0 or interp.under_device_guard
    interp.emit(
        Called(node, interp.scope, name, site, receiver, result, interp.arms, interp.in_cpu_world, left_out, guarded)
    )


def arguments(interp: Interpreter, node: cst.Call) -> CallSite:
    """The arguments, evaluated in order. Of a type test only the tested value: the types are read by name."""
    tests = type(node.func) is cst.Name and node.func.value in ("isinstance", "issubclass")
    evaluate = interp.evaluate
    given: list[Argument] = []
    for written in node.args[:1] if tests else node.args:
        keyword = written.keyword
        argument = Argument(
            evaluate(written.value), written.value, None if keyword is None else keyword.value, written.star
        )
        if argument.star:
            given += _with_items(argument)
        else:
            given.append(argument)
    return CallSite(node, tuple(given))


def _with_items(argument: Argument) -> Iterator[Argument]:
    """What ``*pair`` and ``**options`` are known to hold, before the unpacking itself, which may hold more."""
    held = argument.value
    if argument.star and isinstance(held, Container):
        nodes = element_nodes(argument.node, held)
        if argument.star == "*" and held.keys is None and held.rest is None:
            yield from map(Argument, held.items, nodes)
        elif argument.star == "**" and held.keys is not None:
            named = zip(held.items, nodes, held.keys, strict=False)
            yield from (Argument(item, node, key) for item, node, key in named if isinstance(key, str))
    yield argument


def _call_reference(interp: Interpreter, node: cst.Call, callee: Value) -> Value:
    site = arguments(interp, node)
    if not isinstance(callee, Reference):
        result = call_value(interp, node, callee, site)
        _tell(interp, node, dotted(node.func) or "", site, None, result)
        return result
    result = _library_call(interp, node, callee.name, site, callee.note)
    _name_index(interp, callee.name, site)
    _tell(interp, node, callee.name, site, None, result)
    return result


def _name_index(interp: Interpreter, name: str, site: CallSite) -> None:
    """``Communicator(group, device=0)``: an index where another library takes a device."""
    named = site.keyword("device")
    if named is None or name.startswith("torch.") or not isinstance(named.value, Constant):
        return
    index = named.value.value
    if isinstance(index, int) and not isinstance(index, bool) and index >= 0:
        interp.emit(
            DeviceNamed(named.node, interp.scope, str(index), Sink.ARGUMENT, None, site, interp.under_device_guard)
        )


def _library_call(interp: Interpreter, node: cst.Call, name: str, site: CallSite, note: str = "") -> Value:
    """A call of a name defined outside the file, by the tables."""
    special = library.FUNCTIONS.get(name)
    if special is not None:
        return special(interp, node, site)
    moved = _unbound_transfer(interp, node, name, site)
    if moved is not None:
        return moved
    rank = ranks.of_call(interp, node, name, site)
    if rank is not None:
        return rank
    if name.startswith("torch.utils.data."):
        note_sampling(interp, node, name, site)
    told = library_dispatch.call(interp, node, name, site)
    if told is not None:
        return told
    built = construct_builtin(interp, node, name, site)
    if built is not None:
        # Before the function tables: they list nn.Parameter as a factory, but it keeps the device and sets the kind.
        return built
    if name in PARAMETERS:
        return wrap_parameter(interp, node, name, site)
    known = semantics.function(name)
    if isinstance(known, Factory):
        return factories.create(interp, node, known, site, note=note)
    if known is not None:
        note_refused_by_torch(interp, node, known, site)
        return perform(interp, node, known, bind(known, site), call=site, callee=library.callee_kind(name))
    if "." in name and _may_be_submodule(interp, name):
        provenance = interp.step(StepKind.MADE, node, CPU, dotted(node.func) or "")
        return Module(CPU, name, provenance=provenance, assumed=True)
    return library.call_by_prefix(interp, node, name, site)


def _unbound_transfer(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> Value | None:
    """``torch.Tensor.cpu(x)`` is ``x.cpu()``; None for other calls."""
    owner, _, method = name.rpartition(".")
    if owner not in ("torch.Tensor", "torch.nn.Module") or method not in transfers.METHODS or not site.positional:
        return None
    receiver = site.positional[0]
    if not _can_transfer(receiver.value, method):
        return None
    rest = CallSite(node, tuple(argument for argument in site.arguments if argument is not receiver))
    return transfers.transfer(interp, node, receiver.value, receiver.node, method, rest)


def _may_be_submodule(interp: Interpreter, name: str) -> bool:
    """Whether the object is likely a submodule: created in a Module's constructor, of a class of another file."""
    owner = interp.info.owner if interp.info is not None else None
    last = name.rsplit(".", 1)[-1]
    named_as_class = last[:1].isupper() and not last.isupper() and not last.endswith(_NO_MODULES)
    in_constructor = interp.info is not None and interp.info.name == "__init__"
    return named_as_class and in_constructor and owner is not None and owner.is_module


_NO_MODULES = (
    "Config", "Error", "Tokenizer", "Processor", "Coder", "Generator", "Sampler", "Matcher", "Scheduler", "Dict",
    "Args", "Params", "Options", "Extractor", "Manager", "Pool", "Dataset", "Loader", "Cache", "Solver",
    "Namespace", "Path", "Properties",
)  # fmt: skip


def call_value(interp: Interpreter, node: cst.Call, callee: Value, site: CallSite) -> Value:
    """The result of calling a value."""
    match callee:
        case Function() if is_unplaced_context(callee.info.name):
            return Instance(callee.info.name, node=node)
        case Function():
            return call_function(interp, node, callee, site)
        case ClassValue() if callee.info.kind is ClassKind.UNKNOWN and _may_be_submodule(interp, callee.info.name):
            provenance = interp.step(StepKind.MADE, node, CPU, dotted(node.func) or "")
            return Module(CPU, callee.info.name, provenance=provenance, assumed=True)
        case ClassValue():
            return construct(interp, node, callee, site)
        case Module():
            if is_named_as_loss(node.func) and is_unseen(callee):
                meet_targets(interp, node, site)
            return call_module(interp, node, callee, node.func, site)
        case Partial():
            return call_partial(interp, node, callee, site)
        case Reference():
            return _library_call(interp, node, callee.name, site, callee.note)
        case Opaque() | Host() | UnknownValue() if is_named_as_loss(node.func):
            return call_unknown_loss(interp, node, site)
        case OneOf():
            given = reduce(partial(join_values, None), _called_in_turn(interp, node, callee, site))
            if not is_named_as_loss(node.func):
                return given
            compared = call_unknown_loss(interp, node, site)
            return given if isinstance(given, Tensor) else compared
        case Self():
            return _call_object(interp, node, callee, site)
        case Instance():
            return methods.of_instance(interp, node, _after_a_call(interp, callee, node.func), "__call__", site)
        case Opaque() if takes_an_encoding(site):
            return call_module(interp, node, Module(callee.device, provenance=callee.provenance), node.func, site)
        case Opaque():
            meet_moved_model(interp, node, callee, node.func, site)
            meet_unmoved_batch(interp, node, callee, site)
            held = Module(callee.device, provenance=callee.provenance, assumed=True)
            note_callers_module(interp, node, held, node.func, site, if_brought=True)
            name = (dotted(node.func) or "").rpartition(".")[2].strip("_")
            if names_a_module(name):
                meet_moved_siblings(interp, node, callee, site)
            if names_a_model_in_use(name) and not was_moved(callee.provenance):
                meet_moved_inputs(interp, node, site)
            given = of_callable(interp, node, site)
            if given == NOTHING:
                return of_image(interp, node, site)
            # What was moved and is called is a model: what it gives is used as a tensor where arithmetic is done.
            return replace(given, moved=True) if callee.moved and isinstance(given, Opaque) else given
        case Host(numpy=False, number=False):
            # What is annotated as a callable, or named after a number and called.
            return of_callable(interp, node, site)
        case UnknownValue() if is_named_as_model(node.func):
            return call_unknown_model(interp, node, site)
        case UnknownValue():
            return call_unknown(interp, node, site)
        case _:
            return NOTHING


def _call_object(interp: Interpreter, node: cst.Call, receiver: Self, site: CallSite) -> Value:
    """``self(x)``: ``__call__`` where the class has one and no ``forward``, which a base class may have as well."""
    info = receiver.info
    if info.method("forward") is None and info.method("__call__") is not None:
        return call_self(interp, node, receiver, "__call__", site)
    if info.is_module:
        return methods.of_self(interp, node, receiver, "forward", site)
    return call_self(interp, node, receiver, "forward", site)


def _called_in_turn(interp: Interpreter, node: cst.Call, chosen: OneOf, site: CallSite) -> Iterator[Value]:
    """What each of several callees gives.

    A function of the project is judged as if the call stood in an arm of its own. Of a library's, which of them takes
    what it is handed is not known, so that none of their mismatches is certain.
    """
    note_arguments(interp, chosen, site)
    for one in chosen.callees:
        with nullcontext() if isinstance(one, Function) else interp.trial():
            yield call_value(interp, node, one, site)


def _after_a_call(interp: Interpreter, receiver: Instance, node: cst.BaseExpression) -> Instance:
    """A method of an object of the project may change what it holds."""
    if receiver.info is None or not receiver.details:
        return receiver
    changed = replace(receiver, details=())
    if (path := path_of(node)) is not None:
        interp.state.store(path, changed)
    return changed


def _call_method(
    interp: Interpreter, node: cst.Call, receiver: Value, function: cst.Attribute, site: CallSite
) -> Value:
    name = function.attr.value
    if isinstance(receiver, Self):
        return methods.of_self(interp, node, receiver, name, site)
    if isinstance(receiver, ClassValue):
        method = receiver.info.method(name)
        if method is not None:
            return call_function(interp, node, of_class(receiver, method), site)
        return NOTHING
    if isinstance(receiver, OneOf) and all(isinstance(one, ClassValue) for one in receiver.callees):
        # `kind = Wide if wide else Narrow; kind.load(path)`: a class that is chosen beforehand.
        found = (_call_method(interp, node, one, function, site) for one in receiver.callees)
        return reduce(partial(join_values, None), found)
    if name == "type" and not site.arguments and isinstance(receiver, (Tensor, Opaque)):
        return DeviceName(receiver.device, is_type=True)
    if isinstance(receiver, Instance):
        receiver = _after_a_call(interp, receiver, function.value)
    if (part := of_accessor(interp, node, receiver, name)) is not None:
        return part
    if isinstance(receiver, Host) and name in ("to", "cuda", "cpu") and not (receiver.number or receiver.numpy):
        # `graph.num_edges.to(device)`: what is called as sizes are is a tensor nevertheless.
        receiver = NOTHING
    if name in transfers.METHODS and _can_transfer(receiver, name):
        if _is_a_part_of_a_library(interp, receiver, function.value):
            return NOTHING
        return transfers.transfer(interp, node, receiver, function.value, name, site)
    if is_method_that_compares(name) and _has_no_body(receiver, name):
        compared = meet_targets(interp, node, site)
        if compared != NOTHING:
            return compared
    match receiver:
        case Tensor():
            return methods.of_tensor(interp, node, receiver, function, site)
        case Opaque() if len(site.positional) == 2 and function.attr.value.lstrip("_").startswith("criterion"):
            # `trainer._criterion(output, target)`: a loss that another object keeps.
            return call_unknown_loss(interp, node, site)
        case Opaque():
            if is_named_as_model(function):
                # `trainer.model(x)`: what an argument holds is where that is.
                held = Module(receiver.device, provenance=receiver.provenance, assumed=True)
                note_callers_module(interp, node, held, function, site)
            return methods.of_opaque(interp, node, receiver, function, site)
        case Module():
            return methods.of_module(interp, node, receiver, function, site)
        case Container():
            return of_container(interp, receiver, function, site)
        case Instance():
            return methods.of_instance(interp, node, receiver, name, site)
        case Host():
            for argument in site.arguments if receiver.numpy else ():
                host_read(interp, node, f".{name}", argument.value, wants_cpu=True, expression=argument.node)
            if name in ARRAY_VIEWS:
                return receiver
            host_read(interp, node, f".{name}()", receiver, expression=function.value)
            if receiver.number or (receiver.numpy and name in ARRAY_REDUCTIONS and not site.arguments):
                return Host(number=True, provenance=receiver.provenance)
            return array_of(receiver, *(a.value for a in site.arguments)) if receiver.numpy else Host()
        case Function():
            return NOTHING
        case DeviceName() if (answer := device_questions.of_method(name, receiver, site)) is not None:
            return answer
        case UnknownValue() if is_named_as_model(function.value) and (name == "forward" or computes(name)):
            return call_method_of_unknown_model(interp, node, name, site)
        case _:
            return methods.of_unknown(interp, node, receiver, function, site)


def _has_no_body(receiver: Value, method: str) -> bool:
    """Whether a method is called whose code is not at hand."""
    if not isinstance(receiver, (Opaque, Module, UnknownValue)):
        return False
    info = receiver.info if isinstance(receiver, (Opaque, Module)) else None
    return info is None or info.method(method) is None


def _is_a_part_of_a_library(interp: Interpreter, receiver: Value, node: cst.BaseExpression) -> bool:
    """``tvm.target.cuda()`` after ``import tvm``, in a function of that name: a function of another library.

    Fixture `functions_named_as_transfers`.
    """
    root, inner, _ = (dotted(node) or "").partition(".")
    is_module = bool(inner) and root not in interp.state.values and interp.index.imports.get(root) == root
    return is_module and isinstance(receiver, (UnknownValue, Opaque))


def _can_transfer(receiver: Value, name: str) -> bool:
    if isinstance(receiver, (Tensor, Module, Opaque)):
        return True
    return isinstance(receiver, (UnknownValue, Container, Instance)) and name in ("to", "cuda", "cpu", "pin_memory")
