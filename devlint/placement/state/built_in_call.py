"""Modules that a definition constructs, itself or by a function, and calls: only its own transfers move them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import Function, Module
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.state.captured_losses import is_captured_for_good
from devlint.placement.state.handed_on_modules import hands_on, is_used_by_definitions, leaves_module
from devlint.placement.syntax.nodes import path_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

_MAKING = (StepKind.MADE, StepKind.RETURNED)
"""How a definition comes to a module: it builds it, or it gets it of a helper."""

SETTINGS = frozenset({Setting.FORWARD, Setting.METHOD, Setting.FUNCTION})


def built_here(
    interp: Interpreter,
    module: Module,
    node: cst.BaseExpression,
    handed_to: cst.Call | None = None,
    *,
    by_helper: bool = False,
) -> bool:
    """Whether the module certainly has state, was created on the CPU by this definition, and has not been moved.

    One that the caller made for this very call counts as made here. ``handed_to`` is a call that may have it: for that
    one counts as well that a function of the project makes, moves nowhere and gives back, ``model = load_model(path)``.
    ``by_helper``: so does one that any function gives which the definition calls.
    """
    if module.holds_state is not True or module.assumed or module.device != CPU:
        return False
    step = module.provenance.step if module.provenance is not None else None
    if step is None or interp.in_cpu_world:
        return False
    by_helper = by_helper or (handed_to is not None and _is_of_makers(interp, module))
    handed = any(step is given for given in interp.handed_modules)
    of_own = step.scope == interp.scope and step.kind in _MAKING[: 1 + by_helper]
    if not (handed or of_own or is_captured_for_good(interp, module, node)):
        return False
    settings = SETTINGS if handed_to is None else SETTINGS | {Setting.MODULE_LEVEL}
    if interp.scope.setting not in settings or not all(_stays(child) for child in module.children):
        return False
    forward = module.info.method("forward") if module.info is not None else None
    if module.info is not None and (forward is None or forward.places_itself):
        # It moves its inputs itself, or its ``forward`` is not known.
        return False
    path = path_of(node)
    return path is None or not (_has_parts_elsewhere(interp, path) or _is_handed_on(interp, path, handed_to))


def _is_handed_on(interp: Interpreter, path: str, handed_to: cst.Call | None) -> bool:
    """Whether other code gets the module as well, which may move it, and is no function that does not."""
    leaves = partial(leaves_module, interp)
    if interp.info is not None:
        return hands_on(interp.info.node, path, handed_to, leaves)
    statements = interp.program.tree.body
    outside = (one for one in statements if not isinstance(one, (cst.FunctionDef, cst.ClassDef)))
    used = is_used_by_definitions(interp, path.partition(".")[0])
    return used or any(hands_on(one, path, handed_to, leaves) for one in outside)


def _is_of_makers(interp: Interpreter, module: Module) -> bool:
    """Whether functions alone have given it back since it was made, and the one that is called here moves nothing."""
    steps = list(module.provenance or ())
    returned = [step for step in steps if step.kind is StepKind.RETURNED]
    made = steps[len(returned)] if len(steps) > len(returned) else None
    if not returned or made is None or made.kind is not StepKind.MADE or steps[: len(returned)] != returned:
        return False
    call = returned[0].node
    if made.scope.class_name is not None or any(step.scope.class_name is not None for step in returned[1:]):
        return False
    maker = interp.evaluate_quietly(call.func) if isinstance(call, cst.Call) else None
    return isinstance(maker, Function) and maker.receiver is None and not maker.info.places_itself


def _stays(child: object) -> bool:
    return isinstance(child, Module) and (child.stateless or child.device == CPU)


def _has_parts_elsewhere(interp: Interpreter, path: str) -> bool:
    """`conv.weight.data = kernel`: the state was replaced by a value that may be on any device."""
    parts = (value for key, value in interp.state.values.items() if key.startswith((f"{path}.", f"{path}[")))
    return any(getattr(value, "device", None) != CPU for value in parts)
