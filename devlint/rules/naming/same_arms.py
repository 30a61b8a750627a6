"""Branches that come to the same for those that a wrong comparison of devices sends there: they move nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from devlint.drafts.wording import code_of
from devlint.placement.domain.abstract_values import Constant, DeviceName, Value
from devlint.placement.domain.lattice import Known
from devlint.repairs.bound_names import path_to

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Compared

_NOTHING = re.compile(r"(?P<name>[\w.\[\]]+) = (?P=name)")


def come_to_the_same(event: Compared, begun: Begun | None, own: cst.BaseExpression, other: Value, holds: bool) -> bool:
    """Whether the arm that is always taken does what the other does, but for moves to where the value already is.

    ``holds``: what the comparison gives on every device. ``if x.device != "cpu": x = x.cpu()`` moves nothing that is
    on the CPU, and only that is led there by mistake.
    """
    import libcst as cst

    device = _named(other)
    if device is None or begun is None or not isinstance(begun.node, cst.FunctionDef):
        return False
    for branch in path_to(begun.node, event.node):
        if isinstance(branch, (cst.If, cst.IfExp)) and branch.test is event.node:
            arms = (_statements(branch.body), _statements(branch.orelse))
            taken, left = arms if holds else (arms[1], arms[0])
            if taken is not None and is_a_number(other):
                # What is the current device already may be set again (fixture `numbers`).
                taken = [line for line in taken if f"cuda.set_device({code_of(own)})" not in line]
            return taken is not None and left is not None and _without_moves(taken, device, code_of(own)) == left
    return False


def is_a_number(value: Value) -> bool:
    """Whether it is the index of the current accelerator, as ``torch.cuda.current_device()`` gives it."""
    return isinstance(value, DeviceName) and value.text == "torch.cuda.current_device()"


def _named(value: Value) -> str | None:
    """The one device that is compared with, as it is spelled."""
    if isinstance(value, Constant) and isinstance(value.value, str):
        return value.value
    device = value.device if isinstance(value, DeviceName) else None
    return str(device) if isinstance(device, Known) else None


def _statements(arm: cst.CSTNode | None) -> list[str] | None:
    """An arm in the source's words, one statement a line; None for another test."""
    import libcst as cst

    if isinstance(arm, cst.If):
        return None
    if isinstance(arm, cst.Else):
        arm = arm.body
    if arm is None or isinstance(arm, cst.BaseExpression):
        return [] if arm is None else [code_of(arm)]
    nodes = arm.body if isinstance(arm, (cst.IndentedBlock, cst.SimpleStatementSuite)) else [arm]
    return [line for line in (code_of(node).strip() for node in nodes) if line != "pass"]


def _without_moves(arm: list[str], device: str, own: str) -> list[str]:
    """The statements without moves to the device; those that then assign a name to itself do nothing."""
    places = [own]
    # Without its index an accelerator is the current one, and the value may be on another.
    if device == "cpu" or ":" in device:
        places += [f'"{device}"', f"'{device}'", f'torch.device("{device}")', f"torch.device('{device}')"]
    moves = [f".to({given}{place})" for place in places for given in ("", "device=")]
    found = []
    for line in arm:
        for move in [*moves, *([".cpu()"] if device == "cpu" else [])]:
            line = line.replace(move, "")
        found.append(line)
    return [line for line in found if _NOTHING.fullmatch(line) is None]
