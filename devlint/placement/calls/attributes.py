"""Attributes of tensors, modules, ``self``, and names defined outside the file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from devlint import semantics
from devlint.placement.calls import library_objects
from devlint.placement.calls.summaries import substitute
from devlint.placement.declarations.class_body import set_value
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_conventions import CALLED_BY_MODULE, CONVENTIONS
from devlint.placement.declarations.evidence_rows import TENSOR_ONLY
from devlint.placement.declarations.imports import canonical
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.declarations.own_transfers import moves_itself
from devlint.placement.domain.abstract_values import (
    NOTHING,
    ClassValue,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Function,
    Host,
    Instance,
    Kind,
    Module,
    Opaque,
    ProjectModule,
    Reference,
    Self,
    Tensor,
    Truth,
    UnknownValue,
    Value,
)
from devlint.placement.domain.class_facts import names_registered
from devlint.placement.domain.events import Loaded
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, Known, SameAs
from devlint.placement.domain.provenance import Provenance, Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.state.held_modules import where_methods_put_it
from devlint.placement.state.later_stores import first_on_cpu, is_bare_on_cpu, is_only_updated, is_stored_by_others
from devlint.placement.syntax.nodes import code_of, path_of
from devlint.semantics import Dim, DType, library_models

if TYPE_CHECKING:
    from devlint.placement.domain.class_facts import AttributeFact
    from devlint.placement.interpreter.interpreter import Interpreter


def attribute(interp: Interpreter, node: cst.Attribute) -> Value:
    owner = interp.evaluate(node.value)
    path = path_of(node)
    name = node.attr.value
    if path is not None:
        found = interp.state.values.get(path)
        if found is not None:
            if isinstance(owner, Self):
                interp.emit(Loaded(node, interp.scope, name, found))
            return found
    if isinstance(owner, (Tensor, Opaque)) and name in library_models.anywhere().host_attributes:
        return Tensor(
            CPU, Dim.NONZERO, dtype=DType.INT, provenance=interp.step(StepKind.GIVEN, node, CPU, code_of(node))
        )
    value = attribute_of(interp, owner, name, node)
    if isinstance(owner, Self):
        interp.emit(Loaded(node, interp.scope, name, value))
    return value


def attribute_of(interp: Interpreter, owner: Value, name: str, node: cst.Attribute) -> Value:
    """The value of ``owner.name``."""
    if name == "dtype" and isinstance(owner, (Tensor, Opaque, Module, Host, UnknownValue)):
        return Host(is_dtype=True)
    match owner:
        case Reference():
            return reference(owner, name)
        case ProjectModule():
            return interp.program.member(owner, name)
        case Tensor():
            return _of_tensor(owner, name, node)
        case Opaque():
            return _of_opaque(interp, owner, name, node)
        case Module():
            return _of_module(interp, owner, name, node)
        case Self():
            found = of_self(interp, owner, name)
            return found if found != NOTHING else _inherited(interp, owner.info, name, node)
        case DeviceName():
            if name == "type":
                return replace(owner, is_type=True)
            return Host(number=True) if name == "index" else NOTHING
        case Instance():
            detail = dict(owner.details).get(name)
            return detail if detail is not None else library_objects.field(interp, owner, name, node)
        case Container(items=(), type="tuple", rest=Tensor() as part):
            # The fields of a named tuple: ``x.topk(k).indices``.
            return part
        case Container():
            return NOTHING
        case ClassValue():
            return static_attribute(owner, name) or NOTHING
        case Host():
            return owner if name in ("T", "real", "imag", "flat") else Host()
        case _:
            return NOTHING


def static_attribute(owner: Value, name: str) -> Value | None:
    """The attribute of a name outside the project, or of a class; None for other owners."""
    if isinstance(owner, Reference):
        return reference(owner, name)
    if isinstance(owner, ClassValue):
        method = owner.info.method(name)
        return of_class(owner, method) if method is not None else None
    return None


def of_class(owner: ClassValue, method: FunctionInfo) -> Function:
    """A method that is read from its class: a class method has the class for its first argument."""
    return Function(method, f"{owner.key}.{method.name}", owner if method.is_classmethod else None)


_NUMBERS = frozenset({"torch.pi", "torch.inf", "torch.nan", "torch.e", "math.pi", "torch.newaxis"})


def reference(owner: Reference, name: str) -> Value:
    qualified = canonical(f"{owner.name}.{name}")
    if qualified in _NUMBERS or library_models.is_number(qualified):
        return Host(number=True)
    return Reference(qualified)


def _of_tensor(owner: Tensor, name: str, node: cst.Attribute) -> Value:
    if name == "device":
        certain = owner.evidence is Evidence.CERTAIN
        assumed = owner.provenance is not None and bool(owner.provenance.step.note)
        return DeviceName(
            owner.device,
            node,
            code_of(node),
            of_tensor=certain,
            by_convention=not certain and assumed,
            provenance=owner.provenance,
        )
    if name in ("is_cuda", "is_cpu", "is_meta", "is_xpu", "is_mps"):
        return Truth(about_device=True)
    if name in ("data", "grad") and owner.kind is Kind.PARAMETER:
        return replace(owner, kind=Kind.PLAIN)
    match semantics.is_tensor_attribute(name):
        case "tensor":
            return owner
        case "host":
            return Host(number=True)
        case _:
            # Not an attribute of Tensor: the value is of a subclass, or is not a tensor.
            return NOTHING


_PLAIN_NAMES = ("num_", "n_", "len_", "is_", "has_", "use_", "max_", "min_")
_PLAIN_ENDINGS = ("_size", "_dim", "_len", "_length", "_name", "_type", "_id", "_fn", "_path", "_dims", "_count")
_PLAIN = frozenset(
    """
    shape size dtype ndim config training name names keys num_nodes num_edges num_graphs layout itemsize
    nbytes batch_size requires_grad cfg args hparams opt options settings
    """.split()
)


def _of_opaque(interp: Interpreter, owner: Opaque, name: str, node: cst.Attribute) -> Value:
    if "cpu" in name.split("_") and name != "is_cpu":
        # Its name says where it was put: ``meta.lengths_cpu``.
        placed = interp.step(StepKind.MOVED, node, CPU, f".{name}", owner.provenance)
        return Opaque(CPU, placed, owner.tensorlike)
    if name in owner.fields:
        return Tensor(owner.device, evidence=Evidence.LIKELY, provenance=owner.provenance)
    if name == "device":
        return DeviceName(owner.device, node, code_of(node), of_tensor=owner.tensorlike)
    if name in ("is_cuda", "is_cpu"):
        return Truth(about_device=True)
    if name in _PLAIN or name.startswith(_PLAIN_NAMES) or name.endswith(_PLAIN_ENDINGS):
        return Host()
    if name in TENSOR_ONLY:
        return NOTHING
    if name in ("weight", "bias") and not owner.tensorlike and isinstance(node.value, cst.Call):
        # Of a submodule that an accessor gives: ``net.get_input_embeddings().weight``.
        return _state_of_library(interp, owner.device, name, node)
    if name in library_models.anywhere().tensor_attributes:
        return Opaque(owner.device, owner.provenance, tensorlike=True)
    return Opaque(owner.device, owner.provenance, owner.tensorlike and name in ("T", "data", "grad", "mT"))


def _of_module(interp: Interpreter, owner: Module, name: str, node: cst.Attribute) -> Value:
    if owner.assumed:
        return NOTHING
    if name in _STATE:
        return _state_of_library(interp, owner.device, name, node)
    if name == "device":
        return DeviceName(owner.device, node, code_of(node))
    if name in ("training", "config", "in_features", "out_features", "num_embeddings", "embedding_dim"):
        return Host()
    if owner.info is None:
        return NOTHING
    found = _of_instance_of(interp, owner, owner.info, name)
    came_in = owner.provenance is not None and owner.provenance.step.kind is StepKind.GIVEN
    method = owner.info.method(name)
    if found != NOTHING or not came_in or (method is not None and not method.is_property):
        return found
    # What its methods store or compute is taken to be where a caller's object is, as of an object of unknown class.
    return _of_opaque(interp, Opaque(owner.device, owner.provenance), name, node)


_STATE = frozenset({"weight", "bias", "running_mean", "running_var", "in_proj_weight", "out_proj_weight"})
"""Parameters and buffers of the modules of ``torch.nn``."""


def _state_of_library(interp: Interpreter, device: Device, name: str, node: cst.Attribute) -> Tensor:
    provenance = interp.step(StepKind.GIVEN, node, device, code_of(node))
    kind = Kind.BUFFER if name.startswith("running") else Kind.PARAMETER
    return Tensor(device, kind=kind, evidence=Evidence.LIKELY, provenance=provenance)


def _inherited(interp: Interpreter, info: ClassInfo, name: str, node: cst.Attribute) -> Value:
    """``self.weight`` of a class that derives from a module of ``torch.nn`` with parameters: ``Norm(nn.LayerNorm)``."""
    if name not in _STATE or interp.program.in_progress(info) or interp.program.facts(info).attributes.get(name):
        return NOTHING
    bases = (base for one in info.order for base in one.resolved_bases if isinstance(base, str))
    if not any((known := semantics.module(base)) is not None and known.holds_state is True for base in bases):
        return NOTHING
    at_construction = interp.scope.setting is Setting.CONSTRUCTION
    return _state_of_library(interp, UNKNOWN if at_construction else SameAs(module_symbol(info)), name, node)


def _of_instance_of(interp: Interpreter, owner: Module, info: ClassInfo, name: str) -> Value:
    """An attribute of a Module of the project, with the module's device substituted for that of ``self``."""
    fact = interp.program.facts(info).attributes.get(name)
    if fact is None:
        return NOTHING
    value = fact.value
    if isinstance(value, Module) or (isinstance(value, Tensor) and value.kind in (Kind.PARAMETER, Kind.BUFFER)):
        # The class facts have the device in the constructor; the value has moved with its owner since.
        return replace(value, device=owner.device) if value.device == CPU else value
    return substitute(value, {module_symbol(info).key: owner}, interp, None)


def of_self(interp: Interpreter, owner: Self, name: str) -> Value:
    """``self.name``, by the class facts."""
    info = owner.info
    if name == "training":
        return Host()
    method = info.method(name)
    if method is not None:
        if method.is_property:
            return _property_value(interp, owner, method)
        return Function(method, f"{interp.scope.path}:{method.qualname}", owner)
    fact = interp.program.facts(info).attributes.get(name) if not interp.program.in_progress(info) else None
    if fact is not None:
        return _seen_from_method(interp, owner, fact)
    if not interp.program.in_progress(info) and any(name in one.assigned_outside_init for one in info.order):
        return _stored_later(interp, info, name) or NOTHING
    if name == "device" and info.is_module:
        return DeviceName(SameAs(module_symbol(info)), None, "self.device")
    return _of_class_body(interp, info, name)


def _of_class_body(interp: Interpreter, info: ClassInfo, name: str) -> Value:
    """``self.net_class`` and ``self.table``, which a class body sets to another class, or to what a call gives."""
    for one in info.order:
        value = set_value(one.node, name)
        program = interp.program.holder(one) or interp.program
        if isinstance(value, cst.Name):
            found = program.global_value(value.value)
            return found if isinstance(found, (ClassValue, Reference)) else NOTHING
        if isinstance(value, cst.Call):
            return program.global_value(f"{one.qualname}.{name}")
    return NOTHING


def _property_value(interp: Interpreter, owner: Self, method: FunctionInfo) -> Value:
    """The value of a property for this object."""
    summary = interp.program.summary(method)
    if summary is None or method.owner is None:
        return NOTHING
    return substitute(summary, {module_symbol(method.owner).key: owner}, interp, None)


def _seen_from_method(interp: Interpreter, owner: Self, fact: AttributeFact) -> Value:
    """An attribute as a method reads it: parameters, buffers and submodules are on the module's device."""
    value = fact.value
    if interp.scope.setting is Setting.CONSTRUCTION and isinstance(value, (Tensor, Module)):
        return replace(value, device=UNKNOWN)
    info = owner.info
    if isinstance(value, Module):
        return _following(value, info, fact) if info.is_module else where_methods_put_it(info, fact.name, value)
    if isinstance(value, Container) and isinstance(value.rest, Tensor) and value.rest.kind is Kind.BUFFER:
        # A metric's list state, which its `_apply` moves.
        return value
    if isinstance(value, Container) and info.is_module:
        # Only the class itself can move the items of a container, together or one by one.
        if names_registered(value, interp.program.facts(info)):
            return NOTHING
        stored_anew = fact.stores > 1 and not is_only_updated(info, fact.name)
        return NOTHING if stored_anew or moves_itself(info, fact.name) else value
    if isinstance(value, Tensor):
        if value.kind in (Kind.PARAMETER, Kind.BUFFER) and info.is_module:
            return _following(value, info, fact)
        return _plain_tensor(interp, info, value, fact)
    if isinstance(value, (Constant, DeviceName)) and is_stored_by_others(interp, info, fact.name):
        # `self.device = None` until some `setup` stores another.
        return NOTHING
    return value


T = TypeVar("T", Tensor, Module)


def _following(value: T, info: ClassInfo, fact: AttributeFact) -> T:
    """A registered value, which moves with the module unless it was put on an accelerator of its own."""
    if isinstance(value.device, Known) and value.device != CPU:
        return value
    device = SameAs(module_symbol(info))
    note = value.provenance.step.note if isinstance(value, Module) and value.provenance is not None else ""
    # What is called, and nothing more is known of, may be a function as well.
    note = note if note == CONVENTIONS[CALLED_BY_MODULE] else ""
    step = Step(StepKind.REGISTERED, fact.node, fact.scope, device, f"self.{fact.name}", note=note)
    return replace(value, device=device, provenance=Provenance(step))


def _stored_later(interp: Interpreter, info: ClassInfo, name: str) -> Value | None:
    """An attribute that only other methods than the constructor store, where each of them puts it on the CPU."""
    if info.kind in (ClassKind.UNKNOWN, ClassKind.OPTIMIZER) or moves_itself(info, name):
        return None
    return first_on_cpu(interp, info, name)


def _plain_tensor(interp: Interpreter, info: ClassInfo, value: Tensor, fact: AttributeFact) -> Value:
    """A plain tensor on self stays where it was put, unless the class moves it itself."""
    if info.kind in (ClassKind.UNKNOWN, ClassKind.OPTIMIZER):
        # A base that is not known may move it, and leaves it a tensor.
        return replace(value, device=UNKNOWN) if fact.stores == 1 else NOTHING
    if fact.stores > 1 and not (is_bare_on_cpu(value) and is_only_updated(info, fact.name)):
        later = first_on_cpu(interp, info, fact.name) if is_bare_on_cpu(value) else None
        if not isinstance(later, Tensor) or moves_itself(info, fact.name):
            return NOTHING
        # Kept as a buffer it would still be overwritten: what is to mend is how it is made.
        return replace(later, dim=later.dim if later.dim is value.dim else Dim.UNKNOWN)
    return replace(value, device=UNKNOWN) if moves_itself(info, fact.name) else value
