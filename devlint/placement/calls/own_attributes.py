"""Attributes of ``self``: what the class facts say of them, as a method reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from devlint.placement.calls.stored_methods import stored_method
from devlint.placement.calls.summaries import Substitution, substitute
from devlint.placement.declarations.constructor_parts import registered_attributes
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_conventions import CALLED_BY_MODULE, CONVENTIONS, KEPT_BY_METHODS
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.declarations.own_transfers import moves_itself
from devlint.placement.domain.abstract_values import (
    NONE,
    NOTHING,
    ClassValue,
    Constant,
    Container,
    DeviceName,
    Evidence,
    Function,
    Host,
    Kind,
    Module,
    Opaque,
    Reference,
    Self,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.class_facts import AttributeFact, is_registered, kind_of, names_registered
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Known,
    SameAs,
    is_given,
    is_set_as_device,
)
from devlint.placement.domain.provenance import Provenance, Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.state.held_modules import is_an_object_here, is_called_here, put_by_another, where_methods_put_it
from devlint.placement.state.later_stores import (
    as_first_met,
    brought_to_cpu,
    first_on_cpu,
    is_bare_on_cpu,
    is_only_updated,
    is_stored_by_others,
    stays_at,
)
from devlint.placement.state.put_by_methods import as_filled, begins_empty_again, registered_by_methods, stored_by_all
from devlint.records import replace
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def of_self(interp: Interpreter, owner: Self, name: str) -> Value:
    """``self.name``, by the class facts."""
    info = owner.info
    if name == "training":
        return Host()
    method = info.method(name)
    if method is not None:
        if method.is_property:
            return property_value(interp, owner, method)
        return Function(method, f"{interp.scope.path}:{method.qualname}", owner)
    fact = interp.program.facts(info).attributes.get(name) if not interp.program.in_progress(info) else None
    if fact is not None:
        return _seen_from_method(interp, owner, fact)
    if (
        interp.scope.setting is Setting.CONSTRUCTION
        and (first := _device_of_class_body(interp, info, name)) is not None
    ):
        return first
    if not interp.program.in_progress(info) and any(name in one.assigned_outside_init for one in info.order):
        later = _stored_later(interp, info, name) or put_by_another(interp, info, name)
        later = later or _registered_later(interp, info, name)
        later = later or stored_method(interp, owner, name) or _told_by_methods(interp, info, name)
        return later or _kept_by_methods(interp, info, name)
    if name == "device" and info.is_module:
        return DeviceName(SameAs(module_symbol(info)), None, "self.device")
    return _of_class_body(interp, info, name)


def _device_of_class_body(interp: Interpreter, info: ClassInfo, name: str) -> DeviceName | None:
    """The device that the class body sets, for a constructor: methods that store another run on a finished object.

    None where a constructor stores one, or names such a method (fixture `told_by_the_class_body`).
    """
    holder = next((one for one in info.order if name in one.set_in_body), None)
    if holder is None:
        return None
    methods = [method for one in info.order for method in one.methods.values()]
    storing = {method.name for method in methods if name in method.own.stored}
    constructors = [method for method in methods if method.name == "__init__"]
    if constructors and ("__init__" in storing or any(method.mentions(*storing) for method in constructors)):
        return None
    found = (interp.program.holder(holder) or interp.program).global_value(f"{holder.qualname}.{name}")
    return found if isinstance(found, DeviceName) else None


def _of_class_body(interp: Interpreter, info: ClassInfo, name: str) -> Value:
    """``self.net_class`` and ``self.table``, which a class body sets to another class, or to what a call gives."""
    for one in info.order:
        value = one.set_in_body.get(name)
        program = interp.program.holder(one) or interp.program
        if isinstance(value, cst.Name):
            found = program.global_value(value.value)
            return found if isinstance(found, (ClassValue, Reference)) else NOTHING
        if isinstance(value, cst.Call):
            found = program.global_value(f"{one.qualname}.{name}")
            return NOTHING if isinstance(found, DeviceName) else found
    return NOTHING


def property_value(interp: Interpreter, owner: Self, method: FunctionInfo, given: Substitution | None = None) -> Value:
    """The value of a property for this object, that was built with the ``given`` arguments."""
    summary = interp.program.summary(method)
    if summary is None or method.owner is None:
        return NOTHING
    return substitute(summary, {module_symbol(method.owner).key: owner, **(given or {})}, interp, None)


def iteration(interp: Interpreter, owner: Value) -> Value:
    """What ``for item in owner`` goes through, for a Module of the project whose class has an ``__iter__``."""
    info = owner.info if isinstance(owner, (Self, Module)) else None
    method = info.method("__iter__") if info is not None else None
    if method is None or method.owner is None or method.is_static or method.is_property:
        return NOTHING
    summary = interp.program.summary(method)
    if summary is None or (isinstance(summary, (Self, Module)) and summary.info is not None):
        return NOTHING  # an object that has an `__iter__` of its own, it may be this one again
    return substitute(summary, {module_symbol(method.owner).key: owner}, interp, None)


def _seen_from_method(interp: Interpreter, owner: Self, fact: AttributeFact) -> Value:
    """An attribute as a method reads it: parameters, buffers and submodules are on the module's device."""
    value = fact.value
    if isinstance(value, UnknownValue) and is_called_here(interp, fact.name):
        return _beside_parameters(interp, owner.info, fact.name, CALLED_BY_MODULE)
    if interp.scope.setting is Setting.CONSTRUCTION and isinstance(value, (Tensor, Module)):
        return replace(value, device=UNKNOWN)
    info = owner.info
    if isinstance(value, Module):
        return _following(value, info, fact) if info.is_module else where_methods_put_it(interp, info, fact.name, value)
    if isinstance(value, Container) and isinstance(value.rest, Tensor) and value.rest.kind is Kind.BUFFER:
        # A metric's list state, which its `_apply` moves.
        return value
    if isinstance(value, Container) and info.is_module:
        # Only the class itself can move the items of a container, together or one by one.
        if names_registered(value, interp.program.facts(info)):
            return NOTHING
        if moves_itself(info, fact.name) or _are_registered_by_hand(info, fact.name, value):
            return NOTHING
        emptied = not value.values and begins_empty_again(info, fact.name)
        if _changes(info, fact) and not emptied and not is_only_updated(info, fact.name):
            begins = is_bare_on_cpu(value) or not value.values
            return (first_on_cpu(interp, info, fact.name) if begins else None) or NOTHING
    if isinstance(value, Container):
        return as_filled(interp, info, fact.name, value)
    if isinstance(value, Tensor):
        if value.kind in (Kind.PARAMETER, Kind.BUFFER) and info.is_module:
            return _following(value, info, fact)
        return plain_tensor(interp, info, value, fact)
    stored = isinstance(value, (Constant, DeviceName)) and is_stored_by_others(interp, info, fact.name)
    if stored or (isinstance(value, Constant) and value.value is None and is_an_object_here(interp, fact.name)):
        # `self.device = None` until some `setup` stores another; what has methods a subclass stores at least.
        if value != NONE:
            return NOTHING
        later: Value | None = put_by_another(interp, info, fact.name) or stored_method(interp, owner, fact.name)
        later = later or brought_to_cpu(interp, info, fact.name) or _registered_later(interp, info, fact.name)
        later = later or _told_by_methods(interp, info, fact.name) or _stored_later(interp, info, fact.name)
        return later or NOTHING
    return value


def _told_by_methods(interp: Interpreter, info: ClassInfo, name: str) -> Value | None:
    """What other methods compute and keep, in a place that all calls of them share."""
    if info.kind in (ClassKind.UNKNOWN, ClassKind.OPTIMIZER) or moves_itself(info, name):
        return None
    return stored_by_all(interp, info, name)


def _are_registered_by_hand(info: ClassInfo, name: str, kept: Container) -> bool:
    """``for i, w in enumerate(self.weights): setattr(self, f"w{i}", w)``: a move changes these in place."""
    return name in registered_attributes(info) and all(map(is_registered, kept.innermost))


def _kept_by_methods(interp: Interpreter, info: ClassInfo, name: str) -> Value:
    """What methods of a Module store and this one uses as a tensor: by convention it is where the module works."""
    if f"self.{name}" not in interp.uses.tensors:
        return NOTHING
    return _beside_parameters(interp, info, name, KEPT_BY_METHODS)


def _beside_parameters(interp: Interpreter, info: ClassInfo, name: str, convention: str) -> Value:
    if not info.is_module or interp.scope.setting in (Setting.CONSTRUCTION, Setting.HOST) or moves_itself(info, name):
        return NOTHING
    device = SameAs(module_symbol(info))
    node = info.node.name
    step = interp.step(StepKind.GIVEN, node, device, f"self.{name}", note=CONVENTIONS[convention])
    return Opaque(device, step, tensorlike=convention == KEPT_BY_METHODS)


T = TypeVar("T", bound="Tensor | Module")


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


def _registered_later(interp: Interpreter, info: ClassInfo, name: str) -> Value | None:
    """A parameter or a submodule that methods make: it moves with the module from then on."""
    made = None if interp.scope.setting is Setting.CONSTRUCTION else registered_by_methods(interp, info, name)
    if made is None or made.provenance is None:
        return None
    step = made.provenance.step
    fact = AttributeFact(name, made, step.node, step.scope, kind_of(made))
    return _following(made, info, fact)


def _stored_later(interp: Interpreter, info: ClassInfo, name: str) -> Value | None:
    """An attribute that only other methods than the constructor store, where each of them puts it on the CPU."""
    if info.kind in (ClassKind.UNKNOWN, ClassKind.OPTIMIZER) or moves_itself(info, name):
        return None
    return first_on_cpu(interp, info, name)


def plain_tensor(interp: Interpreter, info: ClassInfo, value: Tensor, fact: AttributeFact) -> Value:
    """A plain tensor on self stays where it was put, unless the class moves it itself."""
    if info.kind in (ClassKind.UNKNOWN, ClassKind.OPTIMIZER):
        # A base that is not known may move it, and leaves it a tensor. What the constructor was handed stays, as a
        # rule, where the caller had it.
        if fact.stores > 1:
            return NOTHING
        kept = info.kind is ClassKind.UNKNOWN and is_given(value.device)
        return replace(value, evidence=Evidence.LIKELY) if kept else replace(value, device=UNKNOWN)
    if _changes(info, fact) and not (is_bare_on_cpu(value) and is_only_updated(info, fact.name)):
        if is_set_as_device(value.device) and stays_at(interp, info, fact.name, value.device):
            return value
        later = first_on_cpu(interp, info, fact.name) if is_bare_on_cpu(value) else None
        if moves_itself(info, fact.name):
            return NOTHING
        if not isinstance(later, Tensor):
            first_met = is_bare_on_cpu(value) or is_given(value.device)
            return (as_first_met(interp, info, fact.name, value) if first_met else None) or NOTHING
        # Kept as a buffer it would still be overwritten: what is to mend is how it is made.
        first = later if info.is_module else value
        return replace(first, dim=value.dim if later.dim is value.dim else Dim.UNKNOWN)
    if not info.is_module and is_given(value.device):
        # What an object that moves itself was handed is where its caller has it, before and after.
        return value
    return replace(value, device=UNKNOWN) if moves_itself(info, fact.name) else value


def _changes(info: ClassInfo, fact: AttributeFact) -> bool:
    """Whether objects of the class, or of the base that the fact is of, get another value after construction."""
    return fact.stores > 1 and bool(info.storing_later(fact.name))
