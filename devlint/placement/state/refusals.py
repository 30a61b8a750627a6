"""Expressions that raise on every device: a definition that always comes to one fails before a device matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.events import CallRefused

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.interpreter.interpreter import Interpreter


def note_refused(interp: Interpreter, node: cst.CSTNode) -> None:
    """Emit that an expression raises whatever the device, if each call of the definition evaluates it."""
    left_before = interp.class_body or interp.seconds or interp.looks_ahead or interp.exits.count() != (0, 0)
    if not left_before and not may_not_happen(interp):
        interp.emit(CallRefused(node, interp.scope))


def may_not_happen(interp: Interpreter) -> bool:
    """Whether a condition decides that the current point is reached, or a handler expects that it fails."""
    return interp.muted or interp.depth > 0 or interp.tries > 0 or bool(interp.decided) or interp.is_dead
