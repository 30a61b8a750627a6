"""Reads by numpy, or by what torch does on the host, of what a definition was handed: its callers can judge them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.evidence_conventions import CALLABLE_RESULT, CONVENTIONS
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import Constant, Host, Opaque, Tensor, Value
from devlint.placement.domain.events import HostRead
from devlint.placement.domain.lattice import Anchor, Decided, Device, GuardKind, SameAs
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.syntax.nodes import code_of, parameters_of

if TYPE_CHECKING:
    from devlint.placement.domain.events import DeviceMismatch
    from devlint.placement.interpreter.interpreter import Interpreter


def note_read(interp: Interpreter, event: HostRead) -> None:
    """Record a read of what the definition was handed, if it runs in each call, or in those that ask for it.

    What a callable of unknown type makes of it may be a list of numbers: ``np.array(metrics[name](truth, guesses))``.
    """
    if is_of_a_callable(event.value):
        return
    key = key_of_parameter(interp, event.value.device)
    if key is not None and event.wants_cpu and is_in_each_call(interp, allowed=switches(interp, event.arms)):
        interp.host_reads.setdefault(key, event)


def note_cpu_argument(interp: Interpreter, event: DeviceMismatch) -> None:
    """Record an argument that a function of torch wants on the CPU, where it is what the definition was handed.

    Where it is asked for, ``if lengths is not None:``, a call that hands one over comes by.
    """
    offending = event.offending
    value = offending.value
    if not isinstance(value, (Tensor, Opaque)) or event.clash.other is not None:
        return
    key = key_as_it_came(interp, value)
    asked = tuple(arm for arm in event.arms if arm.guard.kind is not GuardKind.IS_NONE)
    allowed = len(event.arms) - len(asked) + switches(interp, asked)
    if key is None or not isinstance(event.node, cst.Call) or not is_in_each_call(interp, allowed):
        return
    reader, node = code_of(event.node.func), offending.node
    expression = node if isinstance(node, cst.BaseExpression) else None
    read = HostRead(event.node, interp.scope, reader, value, True, False, expression, asked, argument=offending.role)
    interp.host_reads.setdefault(key, read)


def key_as_it_came(interp: Interpreter, value: Tensor | Opaque) -> str | None:
    """The key of the symbol of the parameter that a value came in by: not of one in whose place it was made."""
    info, provenance = interp.info, value.provenance
    if info is None or provenance is None or provenance.first.kind is not StepKind.GIVEN or was_moved(provenance):
        return None
    came_in = provenance.first
    if not isinstance(came_in.node, cst.Param) or came_in.scope != interp.scope:
        return None
    return symbol_key(info, came_in.node.name.value)


def note_read_of_array(interp: Interpreter, event: HostRead, expression: cst.Name) -> None:
    """The same of an argument that is an array by its annotation, or by the docstring: callers may have tensors."""
    key = key_of_array(interp, expression)
    if key is not None and is_in_each_call(interp, allowed=switches(interp, event.arms)):
        interp.host_reads.setdefault(key, event)


def key_of_array(interp: Interpreter, expression: cst.BaseExpression) -> str | None:
    """The key of the symbol of a parameter that is stated to be an array, where the name still holds what came in."""
    info = interp.info
    if info is None or not isinstance(expression, cst.Name) or interp.state.versions.get(expression.value, 0):
        return None
    if not isinstance(interp.state.values.get(expression.value), Host):
        return None
    named = any(parameter.name.value == expression.value for parameter in parameters_of(info.header))
    return symbol_key(info, expression.value) if named else None


def is_of_a_callable(value: Value) -> bool:
    """Whether a value is what a callable of unknown type gives, by convention."""
    made = value.provenance if isinstance(value, Opaque) else None
    return made is not None and made.step.note == CONVENTIONS[CALLABLE_RESULT]


def key_of_parameter(interp: Interpreter, device: Device) -> str | None:
    """The key of the symbol of a parameter of the definition, if a value is where the caller has that, or its items."""
    info = interp.info
    if info is None or not isinstance(device, SameAs):
        return None
    own, symbol = symbol_key(info, ""), device.symbol
    if symbol.anchor is Anchor.BATCH:
        named = any(parameter.name.value == symbol.source for parameter in parameters_of(info.header))
        return own + symbol.source if named else None
    return symbol.key if symbol.anchor is Anchor.PARAMETER and symbol.key.startswith(own) else None


def is_in_each_call(interp: Interpreter, allowed: int = 0) -> bool:
    """Whether each call comes by, and an error there is one of the call; so many conditions are ``allowed``."""
    if interp.muted or interp.tries or len(interp.decided) > allowed or interp.in_cpu_world or interp.is_dead:
        return False
    return all(decided.guard.kind is not GuardKind.ON_ACCELERATOR for decided in interp.state.left)


def switches(interp: Interpreter, arms: tuple[Decided, ...]) -> int:
    """How many conditions there are, if each asks the arguments of the definition alone.

    ``if plot and folder:``, ``elif method == "kd_tree":``.
    """
    if not arms or interp.info is None:
        return 0
    own = {parameter.name.value for parameter in parameters_of(interp.info.header)}
    return len(arms) if all(_is_switch(arm, own) for arm in arms) else 0


def _is_switch(arm: Decided, own: set[str]) -> bool:
    """Whether it wants arguments to be true, or one to be, or not to be, what is written there."""
    if arm.guard.kind is not GuardKind.PLAIN:
        return False
    compared = _comparison(arm.guard.text)
    if compared is not None:
        # The marks at the end of a key tell of names that were bound anew.
        return compared[0] in own and arm.guard.key.endswith("@")
    return arm.holds and own.issuperset(_names(arm))


def _names(arm: Decided) -> list[str]:
    """The names of which a condition wants each to be true."""
    return arm.guard.text.split(" and ")


def _comparison(text: str) -> tuple[str, bool, str | float] | None:
    """The name, whether it is to be equal, and the text or number that is written there: ``method == "kd_tree"``."""
    for operator in (" == ", " != "):
        name, _, written = text.partition(operator)
        if written and name.isidentifier():
            try:
                value = ast.literal_eval(written)
            except (ValueError, SyntaxError):
                return None
            return (name, operator == " == ", value) if isinstance(value, (str, int, float)) else None
    return None


def is_left_out(arm: Decided, given: Callable[[str], Value | None]) -> bool:
    """Whether a call with these arguments does not come by: what asks for a certain one, for all that is known."""
    compared = _comparison(arm.guard.text)
    if compared is None:
        values = map(given, _names(arm))
        return any(isinstance(value, Constant) and not value.value for value in values)
    name, equal, written = compared
    value = given(name)
    return not isinstance(value, Constant) or ((value.value == written) is equal) is not arm.holds
