"""Methods of tensors (by the tables), modules, streams, ``self`` and unknown values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.calls import library_dispatch
from devlint.placement.calls.attributes import attribute_of, names_a_part
from devlint.placement.calls.bindings import item_of
from devlint.placement.calls.conventional_results import (
    computes,
    computes_where_it_is,
    meets_its_inputs,
    of_callable,
    of_inherited_forward,
)
from devlint.placement.calls.encodings import takes_an_encoding
from devlint.placement.calls.methods_of_containers import item_or_default
from devlint.placement.calls.methods_of_modules import meet_method
from devlint.placement.calls.module_inputs import meet_moved_model, note_callers_module
from devlint.placement.calls.modules import CONTAINERS, call_module
from devlint.placement.calls.project_objects import of_object
from devlint.placement.calls.registering import REGISTERING, fill_container, register, register_items, store_keywords
from devlint.placement.calls.state_dicts import items_of_state, state_dict
from devlint.placement.calls.told_modules import note_told_module
from devlint.placement.calls.unknown_models import meet_inputs_of_method
from devlint.placement.calls.unmoved_batches import meet_batch_in_method
from devlint.placement.calls.user_calls import call_function, call_self
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, MODULE_RESULT, OBSERVED, OF_ANOTHER_CLASS
from devlint.placement.declarations.evidence_names import OBSERVING, names_a_tokenizer, names_an_environment
from devlint.placement.declarations.evidence_rows import TENSOR_ONLY, takes_nothing
from devlint.placement.declarations.template_methods import is_abstract
from devlint.placement.domain.abstract_values import (
    NOTHING,
    PARAMETERS,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Function,
    Host,
    Instance,
    Kind,
    Module,
    OneOf,
    Opaque,
    Reference,
    Self,
    Tensor,
    UnknownValue,
    Value,
    as_tensor,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.class_facts import NAMES_OF_STATE
from devlint.placement.domain.events import HostRead, Sink
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Device,
    SameAs,
    is_accelerator,
    is_given,
    is_of_module,
)
from devlint.placement.domain.provenance import Provenance, StepKind, was_moved
from devlint.placement.domain.scope import Setting
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.operations import built_strings, factories, transfers
from devlint.placement.operations.device_check import perform
from devlint.placement.operations.operands import bind, device_of_value
from devlint.placement.operations.siblings import viewed_batch
from devlint.placement.operations.transfers import RETURN_THE_MODULE
from devlint.placement.state import streams
from devlint.placement.state.field_types import ITEMS
from devlint.placement.state.host_reads import METHOD, SCIPY_ONLY, host_read, read_indices
from devlint.placement.state.ranks import note_index
from devlint.placement.state.reads_of_arguments import is_of_a_callable
from devlint.placement.syntax.nodes import code_of, path_of
from devlint.records import replace
from devlint.semantics import Dim, Factory, Operation
from devlint.semantics.sampling import GENERATOR

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def of_tensor(interp: Interpreter, node: cst.Call, receiver: Tensor, function: cst.Attribute, site: CallSite) -> Value:
    name = function.attr.value
    if name == "numpy" or name == "__array__":
        forced = site.keyword("force")
        copies = forced is not None and isinstance(forced.value, Constant) and forced.value.value is True
        host_read(interp, node, METHOD, receiver, wants_cpu=not copies, expression=function.value, view=not copies)
        return Host(numpy=True, provenance=receiver.provenance, copied_at=receiver.copied_at)
    if name in ("size", "dim", "numel", "nelement", "stride", "element_size", "is_floating_point"):
        return Host(number=True)
    if name == "get_device":
        return DeviceName(receiver.device, node, code_of(node), provenance=receiver.provenance, is_index=True)
    if name == "data_ptr" or (name == "backward" and not site.arguments):
        return NOTHING
    if name in _THE_SAME and receiver.kind is Kind.PARAMETER and not site.arguments:
        return receiver
    known = semantics.method(name)
    if isinstance(known, Factory):
        return factories.create(interp, node, known, site, receiver)
    if known is None:
        if name in SCIPY_ONLY:
            return _of_matrix(interp, function)
        other = _of_another_class(interp, receiver, function)
        return NOTHING if other is None else of_opaque(interp, node, other, function, site)
    if name in ("item", "tolist"):
        host_read(interp, node, f".{name}()", receiver, expression=function.value)
        return Host(number=True)
    if _is_a_function(receiver, known, function, site):
        return of_callable(interp, node, site)
    result = perform(interp, node, known, bind(known, site, (receiver, function.value)), call=site)
    path = path_of(function.value)
    if name == "copy_" and path is not None:
        _filled(interp, node, receiver, path, site)
    if name.endswith("_") and not name.endswith("__") and path is not None and isinstance(result, Tensor):
        return replace(receiver, kind=Kind.PLAIN if name == "requires_grad_" else receiver.kind)
    return viewed_batch(interp, receiver, function, result)


def _is_a_function(receiver: Tensor, operation: Operation, function: cst.Attribute, site: CallSite) -> bool:
    """``library.softmax(x)``: what takes a tensor in place of a dimension is none (fixture `libraries_handed_in`)."""
    came_in = receiver.provenance is not None and receiver.provenance.step.kind is StepKind.GIVEN
    if not came_in or not isinstance(function.value, cst.Name) or not site.positional:
        return False
    told, given = operation.parameters[1:2], site.positional[0].value
    is_tensor = isinstance(given, Tensor) and given.evidence is Evidence.CERTAIN and given.dim is Dim.NONZERO
    return is_tensor and bool(told) and told[0].kind == "other"


def _of_another_class(interp: Interpreter, receiver: Tensor, function: cst.Attribute) -> Opaque | None:
    """``encoded[0].sample()``: no method of Tensor, so what was taken for one keeps its tensors together elsewhere."""
    placed = is_given(receiver.device) or is_accelerator(receiver.device)
    if receiver.evidence is Evidence.CERTAIN or receiver.kind is not Kind.PLAIN or not placed:
        return None
    note = CONVENTIONS[OF_ANOTHER_CLASS]
    name = code_of(function.value)
    held = interp.step(StepKind.GIVEN, function, receiver.device, name, receiver.provenance, note=note)
    return Opaque(receiver.device, held)


_THE_SAME = frozenset({"float", "contiguous"})
"""What gives a Parameter itself, where it is of the default dtype: ``self.scale = nn.Parameter(t).float()``."""


def _filled(interp: Interpreter, node: cst.Call, receiver: Tensor, path: str, site: CallSite) -> None:
    """``pinned.copy_(x, non_blocking=True)`` is queued; for pageable memory the host waits for the copy."""
    source = site.positional[0].value if site.positional else NOTHING
    if not (receiver.pinned and receiver.device == CPU and transfers.is_asynchronous(site)):
        return
    if isinstance(source, (Tensor, Opaque)) and is_accelerator(source.device):
        provenance = interp.step(StepKind.MOVED, node, CPU, ".copy_()", receiver.provenance)
        interp.state.values[path] = replace(receiver, copied_at=interp.state.streams.copies, provenance=provenance)


_CERTAIN = TENSOR_ONLY | {"view", "size", "numpy", "item", "tolist"}


def of_opaque(interp: Interpreter, node: cst.Call, receiver: Opaque, function: cst.Attribute, site: CallSite) -> Value:
    name = function.attr.value
    method = receiver.info.method(name) if receiver.info is not None else None
    if method is not None and not method.is_property:
        found = call_function(interp, node, Function(method, method.qualname, receiver), site)
        if not isinstance(found, UnknownValue) and not is_abstract(method):
            return found
    if meets_its_inputs(name):
        meet_moved_model(interp, node, receiver, function.value, site, computes=computes_where_it_is(name))
        meet_inputs_of_method(interp, node, receiver, name, site)
    elif takes_an_encoding(site):
        # `scorer.lm(**encoded)`: a model that the object keeps.
        return call_module(interp, node, Module(receiver.device, provenance=receiver.provenance), function, site)
    if name in SCIPY_ONLY:
        return _of_matrix(interp, function)
    if _gives_observations(function):
        return _observed(interp, node, function)
    if name in ("items", "values", "keys", "get", "pop", "copy", "_replace", "__getitem__", "clone_dict"):
        if (listed := items_of_state(receiver, name)) is not None:
            return listed
        if name == "items":
            return Container((), None, Container((Host(), receiver), None, None, "tuple"))
        if name == "get" and ITEMS in receiver.fields:
            item = as_tensor(receiver)
            return item_or_default(interp, node, item, site)
        default = site.positional[1].value if name == "get" and len(site.positional) > 1 else NOTHING
        if isinstance(default, Tensor) and default.device == receiver.device:
            # What stands in for the item is a tensor of its place.
            return as_tensor(receiver)
        if isinstance(default, Constant) and isinstance(default.value, (int, float, str)):
            return NOTHING  # `options.get("speed", 1.0)`: as a rule a number, too
        return Host() if name == "keys" else replace(receiver, tensorlike=False)
    method_of_tensor = semantics.method(name) is not None or name == "numpy"
    is_namespace = not receiver.tensorlike and site.positional and takes_nothing(name)  # ``xp.sin(x)``
    if (receiver.tensorlike or name in _CERTAIN) and method_of_tensor and not is_namespace:
        tensor = Tensor(
            receiver.device,
            evidence=Evidence.LIKELY,
            provenance=receiver.provenance,
            stream=receiver.stream,
            computed_at=receiver.computed_at,
        )
        return of_tensor(interp, node, tensor, function, site)
    if name in ("parameters", "buffers"):
        kind = NAMES_OF_STATE[name]
        tensor = Tensor(receiver.device, kind=kind, evidence=Evidence.LIKELY, provenance=receiver.provenance)
        return Container((), None, tensor)
    if name in ("eval", "train") and not any(argument.keyword is None for argument in site.arguments):
        transfers.note_moved_module(interp, function.value, receiver)
    if name in ("eval", "train", "requires_grad_", "half", "float", "detach", "clone", "contiguous"):
        return receiver
    handed = (device_of_value(argument.value) for argument in site.arguments)
    takes_moved = not receiver.tensorlike and any(device in interp.state.moved_groups.values() for device in handed)
    # `attack.perturb(images, labels)`, of images that were moved: the object works where they are.
    works = name == "forward" or takes_moved or _is_made_of_what_is_no_tensor(receiver, site)
    given = of_callable(interp, node, site) if works else NOTHING
    if given == NOTHING and isinstance(receiver.device, SameAs) and names_a_tokenizer(receiver.device.symbol.name):
        # A tokenizer is nowhere: what it makes of a text is on the CPU, or no tensor at all.
        return NOTHING
    if given == NOTHING and not receiver.tensorlike and _is_anywhere(name, site):
        return NOTHING
    return given if given != NOTHING else Opaque(receiver.device, receiver.provenance)


def _is_anywhere(name: str, site: CallSite) -> bool:
    """``library.scan(torch.randn(3))``, ``library.Encoder(8)``: of what is on the CPU, or by a class, it is made there.

    If the object itself holds tensors, it is where they are: nobody knows (fixture `libraries_handed_in`).
    """
    return name[:1].isupper() or any(device_of_value(argument.value) == CPU for argument in site.arguments)


def _is_made_of_what_is_no_tensor(receiver: Opaque, site: CallSite) -> bool:
    """``self.scaler = load_scaler(options)``: what its method makes of a tensor is where the tensor is."""
    return not receiver.tensorlike and is_of_a_callable(receiver) and any(_is_placed(a.value) for a in site.arguments)


def _is_placed(value: Value) -> bool:
    """Whether it is a tensor, or what a module is called with."""
    of_module = isinstance(value, Opaque) and is_of_module(value.device)
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and (value.tensorlike or of_module))


def _gives_observations(function: cst.Attribute) -> bool:
    named = (path_of(function.value) or "").rpartition(".")[2]
    return function.attr.value in OBSERVING and names_an_environment(named)


def _observed(interp: Interpreter, node: cst.Call, function: cst.Attribute) -> Container:
    """``env.reset()``, ``env.step(action)``: arrays, numbers and dicts of them."""
    provenance = interp.step(StepKind.GIVEN, node, CPU, code_of(function), note=CONVENTIONS[OBSERVED])
    return Container((), None, Host(provenance=provenance), "tuple")


def of_module(interp: Interpreter, node: cst.Call, receiver: Module, function: cst.Attribute, site: CallSite) -> Value:
    name = function.attr.value
    if receiver.type_name in CONTAINERS:
        fill_container(interp, receiver, function, site)
    if name in RETURN_THE_MODULE:
        return receiver
    if name in NAMES_OF_STATE:
        provenance = interp.step(StepKind.GIVEN, node, receiver.device, code_of(node), receiver.provenance)
        return _state(name, receiver.device, provenance)
    if name == "state_dict":
        return state_dict(interp, node, receiver.device, receiver.provenance)
    info = semantics.module(receiver.type_name)
    if info is not None and info.keyed and name in ("values", "items", "get", "pop"):
        item = item_of(interp, receiver, None)
        if name in ("get", "pop"):
            return item
        return Container((), None, item if name == "values" else Container((Host(), item), None, None, "tuple"))
    if name in ("children", "modules"):
        return Container((), None, Module(receiver.device, provenance=receiver.provenance))
    if name == "forward":
        return call_module(interp, node, receiver, function.value, site)
    if receiver.info is None or receiver.info.method(name) is None:
        meet_inputs_of_method(interp, node, receiver, name, site)
    told = library_dispatch.call_method(interp, node, receiver, receiver.type_name, name, site)
    if told is not None:
        return told
    if receiver.info is not None:
        method = receiver.info.method(name)
        if method is not None:
            meet_method(interp, node, method, receiver, function.value, site)
            meet_batch_in_method(interp, node, method, receiver, site)
            return call_function(interp, node, Function(method, method.qualname, receiver), site)
        part = attribute_of(interp, receiver, name, function)
        return call_module(interp, node, part, function, site) if isinstance(part, Module) else NOTHING
    if names_a_part(receiver, name) or takes_an_encoding(site):
        return call_module(interp, node, Module(receiver.device, provenance=receiver.provenance), function, site)
    if meets_its_inputs(name):
        meet_moved_model(interp, node, receiver, function.value, site, computes=computes_where_it_is(name))
        note_callers_module(interp, node, receiver, function.value, site)
        note_told_module(interp, node, receiver, function.value, site)
    if receiver.assumed:
        return NOTHING
    if not computes(name):
        # `model.reparameterize(mean, scale)`, of what was brought there: the model is there as well.
        given = of_callable(interp, node, site) if isinstance(receiver.device, SameAs) else NOTHING
        brought = isinstance(given, Opaque) and is_given(given.device) and was_moved(given.provenance)
        return given if brought else Opaque(receiver.device, receiver.provenance)
    note = CONVENTIONS[MODULE_RESULT]
    provenance = interp.step(
        StepKind.COMPUTED, node, receiver.device, code_of(function), receiver.provenance, note=note
    )
    return Opaque(receiver.device, provenance, tensorlike=True)


def _state(name: str, device: Device, provenance: Provenance | None) -> Container:
    """The parameters or buffers of a module, or pairs of a name and one of them: most parameters are no numbers."""
    kind = NAMES_OF_STATE[name]
    dim = Dim.NONZERO if kind is Kind.PARAMETER else Dim.UNKNOWN
    tensor = Tensor(device, dim, kind=kind, evidence=Evidence.CERTAIN, provenance=provenance)
    each = Container((Host(), tensor), None, None, "tuple") if name.startswith("named_") else tensor
    return Container((), None, each, PARAMETERS if kind is Kind.PARAMETER else "list")


def of_self(interp: Interpreter, node: cst.Call, receiver: Self, name: str, site: CallSite) -> Value:
    """``self.name(...)``: registration, a method of the class, or a callable attribute."""
    method = receiver.info.method(name)
    if name in REGISTERING and (method is None or receiver.info.is_module):
        return register(interp, node, receiver, name, site)
    if method is not None and not method.is_property:
        result = call_self(interp, node, receiver, name, site)
        store_keywords(interp, node, receiver, method, site)
        me = path_of(node.func.value) if isinstance(node.func, cst.Attribute) else None
        for path in (f"{me}.{stored}" for stored in sorted(method.stores)):
            if path in interp.state.values:
                # The call assigned the attribute again.
                interp.state.store(path, NOTHING)
        return result
    if name in NAMES_OF_STATE and receiver.info.is_module and not site.positional:
        device = SameAs(module_symbol(receiver.info))
        return _state(name, device, interp.step(StepKind.GIVEN, node, device, code_of(node)))
    if name == "state_dict" and receiver.info.is_module and method is None:
        return state_dict(interp, node, SameAs(module_symbol(receiver.info)))
    if name in ("to", "cuda", "cpu", "eval", "train", "float", "half"):
        interp.take_fate(node)
        placed = name in ("to", "cpu") and receiver.info.is_module and interp.scope.setting is not Setting.CONSTRUCTION
        if placed and isinstance(node.func, cst.Attribute):
            return transfers.bring_self(interp, node, receiver, node.func.value, name, site)
        return receiver
    if name == "forward" and receiver.info.is_module and interp.scope.setting is not Setting.CONSTRUCTION:
        return of_inherited_forward(interp, node, receiver)
    function = node.func
    value = interp.evaluate(function) if isinstance(function, cst.Attribute) else NOTHING
    called = interp.call_value(node, value, site)
    unknown = isinstance(called, UnknownValue) and isinstance(value, UnknownValue)
    stores = any(name in one.stores for info in receiver.info.order for one in info.methods.values())
    if unknown and (stores or method is not None):
        # A method sets it, ``self.target = build(options)``, or a property gives it: a callable, as an argument may be.
        return of_callable(interp, node, site)
    return called


def of_instance(interp: Interpreter, node: cst.Call, receiver: Instance, name: str, site: CallSite) -> Value:
    if receiver.type_name in ("torch.cuda.Stream", "torch.cuda.Event", "torch.Stream"):
        return _of_stream(interp, node, receiver, name, site)
    told = library_dispatch.call_method(interp, node, receiver, receiver.type_name, name, site)
    if told is not None:
        return told
    if receiver.type_name == GENERATOR and name == "manual_seed":
        return receiver
    if receiver.info is not None:
        method = receiver.info.method(name)
        if method is not None and not receiver.info.is_module:
            return call_function(interp, node, Function(method, method.qualname, receiver), site)
        if method is None and isinstance(node.func, cst.Attribute):
            # `agent.network(x)`, `physics.integral(x)`: what the object keeps is called.
            part = _bound_to(receiver, of_object(interp, receiver, name, node.func))
            called = isinstance(part, (Module, Function, OneOf))
            return interp.call_value(node, part, site) if called else NOTHING
    return NOTHING


def _bound_to(receiver: Instance, kept: Value) -> Value:
    """A method that the constructor chose, ``self.integral = self.sum if plain else self.mean``, of this object."""
    if isinstance(kept, OneOf):
        return OneOf(tuple(_bound_to(receiver, one) for one in kept.callees))
    own = isinstance(kept, Function) and isinstance(kept.receiver, Self)
    return replace(kept, receiver=receiver) if own and isinstance(kept, Function) else kept


def _of_stream(interp: Interpreter, node: cst.Call, receiver: Instance, name: str, site: CallSite) -> Value:
    own = _stream_name(receiver)
    if name == "wait_stream" and site.positional:
        other = site.positional[0].value
        streams.wait(interp, own, _stream_name(other) if isinstance(other, Instance) else "")
    elif name in ("synchronize", "wait_event", "wait", "query"):
        streams.synchronise(interp)
    elif name == "record_event":
        return Instance("torch.cuda.Event", node=node)
    return NOTHING


def _stream_name(stream: Instance) -> str:
    named = dict(stream.details).get("stream")
    return named.name if isinstance(named, Reference) else ""


def of_unknown(interp: Interpreter, node: cst.Call, receiver: Value, function: cst.Attribute, site: CallSite) -> Value:
    """A method of an unknown value: its effect on tensors is not known."""
    name = function.attr.value
    interp.take_fate(node)
    base = _base_of_library(interp, function) if name in ("forward", "__init__") else None
    if base is not None and name == "forward":
        return call_module(interp, node, base, function.value, site)
    if base is not None and base.type_name in CONTAINERS:
        register_items(interp, node, site)
        return NOTHING
    if name == "numpy":
        unknown = Opaque(UNKNOWN)
        expression = function.value
        interp.emit(HostRead(node, interp.scope, METHOD, unknown, True, expression=expression, arms=interp.arms))
        return Host(numpy=True)
    if name in ("item", "tolist", "size", "dim", "numel"):
        return Host(number=True)
    if isinstance(receiver, Constant):
        built = built_strings.of_method(node, name, receiver, site)
        note_index(interp, built, node, Sink.DEVICE)
        return built
    if _gives_observations(function):
        return _observed(interp, node, function)
    if name in SCIPY_ONLY:
        return _of_matrix(interp, function)
    return of_callable(interp, node, site) if _works_beside_the_module(interp, function, site) else NOTHING


def _works_beside_the_module(interp: Interpreter, function: cst.Attribute, site: CallSite) -> bool:
    """``self.raw_scale_constraint.transform(self.raw_scale)``: what a Module keeps, given a tensor of its own."""
    owner = interp.info.owner if interp.info is not None else None
    kept = (path_of(function.value) or "").split(".")
    if owner is None or not owner.is_module or len(kept) != len(("self", "part")) or kept[0] != "self":
        return False
    given = site.positional[0].value if site.positional else NOTHING
    return isinstance(given, Tensor) and given.kind in (Kind.PARAMETER, Kind.BUFFER) and is_of_module(given.device)


def _base_of_library(interp: Interpreter, function: cst.Attribute) -> Module | None:
    """``super()`` of ``super().forward(x)``: the Module itself, as the class of a library that it derives from."""
    owner = interp.info.owner if interp.info is not None else None
    called = function.value.func if isinstance(function.value, cst.Call) else None
    if owner is None or not owner.is_module or not isinstance(called, cst.Name) or called.value != "super":
        return None
    known = next((base for base in owner.resolved_bases if isinstance(base, str) and semantics.module(base)), "")
    return Module(SameAs(module_symbol(owner)), known)


def _of_matrix(interp: Interpreter, function: cst.Attribute) -> Host:
    """``matrix[rows].todense()``: what has the method is a matrix of scipy."""
    if isinstance(function.value, cst.Subscript):
        read_indices(interp, function.value)
    return Host(numpy=True)
