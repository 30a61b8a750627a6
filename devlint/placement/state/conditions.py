"""Conditions: which arm the analysed configuration takes, and under which guard both arms are kept.

The analysed configuration has an available accelerator: ``torch.cuda.is_available()`` holds. Of several probes in a
chain the first that holds in source order is taken. Of several frameworks it is PyTorch that the program works with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_state import AbstractState, Narrowing
from devlint.placement.domain.abstract_values import (
    DEVICE_COUNT,
    NONE,
    Constant,
    Container,
    DeviceName,
    Host,
    Module,
    Opaque,
    Self,
    Tensor,
    Truth,
    UnknownValue,
    Value,
    counted,
)
from devlint.placement.domain.events import Tested
from devlint.placement.domain.lattice import CPU, Anchor, Device, Guard, GuardKind, SameAs, Symbol, is_of_parameter
from devlint.placement.domain.provenance import StepKind
from devlint.placement.state import first_rounds, type_tests
from devlint.placement.state.chosen_framework import is_of_torch
from devlint.placement.state.chosen_places import narrowed_by_name
from devlint.placement.state.cpu_outcomes import (
    names_accelerator_flag,
    number_of,
    of_beginning,
    of_comparison,
    of_number,
)
from devlint.placement.state.switches import switch_of
from devlint.placement.syntax.device_words import speaks_of_devices
from devlint.placement.syntax.nodes import code_of, names_in, path_of
from devlint.records import dataclass, replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class Condition:
    """``known``: its value in the analysed configuration.

    ``cpu_when``: the outcome for which everything is on the CPU.
    """

    known: bool | None = None
    guard: Guard | None = None
    negated: bool = False
    cpu_when: bool | None = None
    narrowings: tuple[Narrowing, ...] = ()
    settled: bool = False
    """``known`` rests on a name that the definition itself bound to a literal: the other arm never runs anywhere."""

    def flipped(self) -> Condition:
        return Condition(
            None if self.known is None else not self.known,
            self.guard,
            not self.negated,
            None if self.cpu_when is None else not self.cpu_when,
            tuple(replace(narrowing, when=not narrowing.when) for narrowing in self.narrowings),
            self.settled,
        )

    def narrow(self, state: AbstractState, outcome: bool) -> None:
        """Apply what the outcome shows about the types of names."""
        for narrowing in self.narrowings:
            if narrowing.when is outcome:
                state.values[narrowing.path] = narrowing.value


def test(interp: Interpreter, node: cst.BaseExpression) -> Condition:
    """Evaluate a condition, including its walrus bindings and calls."""
    if type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
        return test(interp, node.expression).flipped()
    if type(node) is cst.BooleanOperation:
        return _connective(interp, node)
    if type(node) is cst.Comparison and len(node.comparisons) == 1:
        return _comparison(interp, node)
    value = interp.evaluate(node)
    interp.emit(Tested(node, interp.scope, value))
    if isinstance(node, cst.Call):
        known = type_tests.known_of_tensor(interp, node)
        if known is not None:
            return Condition(known, narrowings=type_tests.of_another_type(node, known))
        narrowings = type_tests.narrowings(interp, node)
        if narrowings:
            condition = _guarded(interp, node)
            guard = type_tests.guard_of_type(interp, node, condition.guard)
            return replace(condition, guard=guard, narrowings=narrowings)
    if isinstance(value, Truth):
        if value.known is not None:
            if value.about_device and not value.known:
                # The arm of a tensor that is not on the CPU is still one under a test for its device.
                return replace(_guarded(interp, node, about_device=True), known=False, narrowings=())
            return Condition(value.known, cpu_when=False if value.known and value.about_device else None)
        return _guarded(interp, node, about_device=value.about_device)
    if kind := counted(value):
        # `if torch.cuda.device_count():`, `if gpus:` of a list of their indices, `if params:` of a list of parameters.
        return Condition(True, cpu_when=False if kind == DEVICE_COUNT else None)
    if isinstance(value, Constant) and not _is_set_by_a_method(interp, node):
        return Condition(bool(value.value), settled=_is_bound_here(interp, node))
    return _of_argument(_guarded(interp, node), node, value)


def _of_argument(condition: Condition, node: cst.BaseExpression, value: Value) -> Condition:
    """``if norm:`` of a parameter as a guard that a call decides which leaves it out, or gives a number or None."""
    device = getattr(value, "device", None)
    if condition.guard is None or not isinstance(node, cst.Name) or not isinstance(device, SameAs):
        return condition
    if device.symbol.anchor is not Anchor.PARAMETER or device.symbol.name != node.value:
        return condition
    return replace(condition, guard=replace(condition.guard, subject=device.symbol))


def _connective(interp: Interpreter, node: cst.BooleanOperation) -> Condition:
    left = test(interp, node.left)
    is_and = isinstance(node.operator, cst.And)
    if left.known is (not is_and):
        # The right operand is not evaluated in the analysed configuration.
        return left
    interp.seconds += 1
    right = test(interp, node.right)
    interp.seconds -= 1
    if left.known is is_and:
        return replace(right, cpu_when=right.cpu_when if right.cpu_when is not None else left.cpu_when)
    if right.known is is_and:
        return replace(left, cpu_when=left.cpu_when if left.cpu_when is not None else right.cpu_when)
    about = any(c.guard is not None and c.guard.kind is GuardKind.ON_ACCELERATOR for c in (left, right))
    # Where "and" holds, both operands hold; where "or" fails, both fail.
    narrowings = tuple(n for c in (left, right) for n in c.narrowings if n.when is is_and)
    narrowings += () if is_and else type_tests.of_either(left.narrowings, right.narrowings)
    # It is enough that one operand of an "and" holds only on the CPU, or that one operand of an "or" fails only there.
    sides = [c.cpu_when for c in (left, right) if c.cpu_when is is_and]
    guarded = _guarded(interp, node, about_device=about)
    if is_and and guarded.guard is not None:
        # What is on the CPU fails one of them, and so all.
        asked = (c.guard.subject for c in (left, right) if c.guard is not None and c.cpu_when is False)
        guarded = replace(guarded, guard=replace(guarded.guard, subject=next(filter(None, asked), None)))
    return replace(guarded, cpu_when=sides[0] if sides else guarded.cpu_when, narrowings=narrowings)


def _comparison(interp: Interpreter, node: cst.Comparison) -> Condition:
    target = node.comparisons[0]
    operator = target.operator
    value = interp.evaluate(node)
    if isinstance(operator, _SAME + _OTHER) and _is_none(target.comparator):
        # No tensor and no module equals None: ``out == None`` asks what ``out is None`` does.
        condition = _none_test(interp, node.left, interp.evaluate_quietly(node.left))
        return condition if isinstance(operator, _SAME) else condition.flipped()
    framework = is_of_torch(node)
    if framework is not None:
        return Condition(framework, settled=True)
    if isinstance(value, Truth):
        if value.known is not None:
            outcome = of_comparison(node, operator) if value.about_device else None
            guard = Condition() if outcome is None else _guarded(interp, node, about_device=True)
            return replace(guard, known=value.known, cpu_when=outcome)
        if value.about_device:
            guard = _guarded(interp, node, about_device=True)
            outcome = of_comparison(node, operator)
            if outcome is False and guard.guard is not None:
                told = _symbol_of_type(interp, node.left)
                guard = replace(guard, guard=replace(guard.guard, subject=told))
            asked = _on_the_cpu(interp, _asked(node.left), outcome)
            chosen = narrowed_by_name(interp, interp.evaluate_quietly(node.left), target)
            return replace(guard, cpu_when=outcome, narrowings=(*asked, *chosen))
    return _guarded(interp, node)


_SAME = (cst.Is, cst.Equal)
_OTHER = (cst.IsNot, cst.NotEqual)


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def _none_test(interp: Interpreter, node: cst.BaseExpression, value: Value) -> Condition:
    if isinstance(value, Constant) and not _set_by_somebody_later(node, value):
        return Condition(value.value is None, settled=_is_bound_here(interp, node))
    if isinstance(value, Container) and not _may_be_left_out(value):
        return Condition(known=False)
    subject = None
    device: Device | None = getattr(value, "device", None)
    of_argument = isinstance(value, Module) and is_of_parameter(device)
    if isinstance(device, SameAs) and (of_argument or isinstance(value, (Tensor, Opaque, DeviceName))):
        subject = device.symbol
    key = f"{subject.key} is None" if subject is not None and subject.anchor is Anchor.PARAMETER else None
    if key is not None and not isinstance(node, cst.Name):
        key = None
    text = f"{code_of(node)} is None"
    guard = Guard(key or _versioned(interp, node, text), text, GuardKind.IS_NONE, subject)
    # ``if out is not None: out = (out, info)``: where it is not bound anew it is None.
    absent = isinstance(value, (Tensor, Opaque, UnknownValue, Host, Module)) and path_of(node) in interp.state.values
    return Condition(guard=guard, narrowings=(Narrowing(code_of(node), NONE, True),) if absent else ())


def _may_be_left_out(value: Container) -> bool:
    """``def forward(self, x, states=None)``: several tensors by what is done with them, or None if left out."""
    rest = value.rest
    provenance = rest.provenance if isinstance(rest, (Tensor, Opaque)) else None
    came_in = provenance is not None and provenance.previous is None and provenance.step.kind is StepKind.GIVEN
    return came_in and not value.items and value.keys is None and value.node is None


def _is_bound_here(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """A local name of a function. A constant of a script or a module is there to be changed."""
    return isinstance(node, cst.Name) and bool(interp.scope.qualname) and node.value in interp.state.values


def _is_set_by_a_method(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """``self.is_built``, which the constructor sets to False and a method to True: each call decides."""
    if not isinstance(node, cst.Attribute) or path_of(node) in interp.state.values:
        return False
    owner = interp.evaluate_quietly(node.value)
    name = node.attr.value
    return isinstance(owner, Self) and any(one.assigned_outside_init.get(name) for one in owner.info.order)


def _set_by_somebody_later(node: cst.BaseExpression, value: Constant) -> bool:
    """``self.steps`` that the constructor sets to None: another method or the caller may have set it since."""
    return value.value is None and isinstance(node, cst.Attribute)


def _guarded(interp: Interpreter, node: cst.BaseExpression, *, about_device: bool = False) -> Condition:
    text = code_of(node)
    if len(text) > 200:
        return Condition()
    first = first_rounds.asked(interp, node)
    if first is not None:
        return Condition(guard=first[0], negated=first[1])
    subject = _accelerator_subject(interp, node)
    kind = GuardKind.ON_ACCELERATOR if about_device or speaks_of_devices(text) else GuardKind.PLAIN
    cpu_when = False if subject is not None or names_accelerator_flag(node) else _of_form(node)
    told = node.value if isinstance(node, cst.Attribute) and node.attr.value == "is_cuda" else None
    narrowings = _on_the_cpu(interp, told, False)
    number = number_of(node)
    asked = node if number is None else number
    switch = switch_of(interp, asked)
    # However it asks whether a number is one of a device: ``device_id >= 0``, ``device_id == -1``.
    negated = number is not None and cpu_when is True
    text = text if not negated else f"{code_of(asked)} is that of a device"
    key = _versioned(interp, asked, text if number is None else f"{code_of(asked)} is that of a device")
    guard = Guard(key if switch is None else f"{switch}@", text, kind, subject, lasting=switch is not None)
    return Condition(guard=guard, negated=negated, cpu_when=cpu_when, narrowings=narrowings)


def _of_form(node: cst.BaseExpression) -> bool | None:
    of_text = of_number(node)
    return of_beginning(node) if of_text is None else of_text


def _asked(left: cst.BaseExpression) -> cst.BaseExpression | None:
    """``x`` of ``x.device`` and of ``x.device.type``."""
    if isinstance(left, cst.Attribute) and left.attr.value != "device":
        left = left.value
    return left.value if isinstance(left, cst.Attribute) else None


def _on_the_cpu(interp: Interpreter, asked: cst.BaseExpression | None, outcome: bool | None) -> tuple[Narrowing, ...]:
    """``x.device == torch.device("cpu")``, ``x.is_cuda``: where the outcome means the CPU, x is there."""
    path = path_of(asked) if asked is not None and outcome is not None else None
    value = interp.evaluate_quietly(asked) if asked is not None and path is not None else None
    if path is None or outcome is None or not isinstance(value, (Tensor, Opaque)):
        return ()
    return (Narrowing(path, replace(value, device=CPU), outcome),)


def _symbol_of_type(interp: Interpreter, node: cst.BaseExpression) -> Symbol | None:
    """Whose device is asked for its type: ``device`` of ``device.type``, ``x`` of ``x.device.type``."""
    return _symbol_of(interp, node.value if isinstance(node, cst.Attribute) and node.attr.value == "type" else node)


def _accelerator_subject(interp: Interpreter, node: cst.BaseExpression) -> Symbol | None:
    """The symbol ``x`` of ``x.is_cuda``."""
    return _symbol_of(interp, node.value) if isinstance(node, cst.Attribute) and node.attr.value == "is_cuda" else None


def _symbol_of(interp: Interpreter, node: cst.BaseExpression) -> Symbol | None:
    """What the device of an expression follows."""
    device = getattr(interp.evaluate_quietly(node), "device", None)
    return device.symbol if isinstance(device, SameAs) else None


def _versioned(interp: Interpreter, node: cst.BaseExpression, text: str) -> str:
    """The text with the versions of its names, so that rebinding a name gives another condition."""
    versions = interp.state.versions
    rebound = sorted(versions.keys() & names_in(node)) if versions else ()
    marks = ",".join(f"{name}{versions[name]}" for name in rebound)
    return f"{interp.scope.qualname}:{text}@{marks}"
