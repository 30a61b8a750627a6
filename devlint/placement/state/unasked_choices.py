"""Choices between two accelerators of which only one is asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.events import ArmsAlike, LeftToAnother
from devlint.placement.domain.lattice import GuardKind
from devlint.placement.syntax.nodes import body_of, code_of, inner_nodes, literal
from devlint.semantics import NamedDevice, parse_device

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter
    from devlint.placement.state.conditions import Condition

_PROBE = "torch.cuda.is_available()"
_IN_TORCH = frozenset({"mps", "xpu"})
"""Other accelerators of torch itself. One of a plugin is on every machine that the plugin is installed on."""
_WHETHER = re.compile(
    r"(?:^|[. ])(?:(?:use|no|with|on|is|want|enable)_?)?(?:cuda|gpu|cpu)(?:\.is_available\(\))?$", re.IGNORECASE
)
"""Switches for an accelerator: ``use_cuda``, ``args.no_gpu``, ``not self.cuda``."""


def note_unasked_choice(interp: Interpreter, node: cst.If | cst.IfExp) -> None:
    """Emit an event where machines without CUDA are sent to another accelerator, and nothing asks for that one."""
    without: cst.CSTNode | None
    if isinstance(node.test, cst.UnaryOperation) and isinstance(node.test.operator, cst.Not):
        probe, without = node.test.expression, node.body
    else:
        probe, without = node.test, node.orelse
    if without is None or not isinstance(probe, cst.Call) or code_of(probe) != _PROBE:
        return
    name = _only_name(without)
    text = literal(name) if name is not None else None
    named = parse_device(text) if isinstance(text, str) else None
    if name is not None and isinstance(named, NamedDevice) and named.type in _IN_TORCH:
        interp.emit(LeftToAnother(name, interp.scope, named.type, interp.arms))


def note_arms_alike(interp: Interpreter, node: cst.If | cst.IfExp, condition: Condition) -> None:
    """Emit an event where both arms of a question about devices are one and the same way to the accelerator."""
    if condition.cpu_when is None and (condition.guard is None or condition.guard.kind is not GuardKind.ON_ACCELERATOR):
        return
    if not _WHETHER.search(code_of(node.test)):
        return  # `if args.multi_gpu:` asks how many
    without_in_body = condition.negated if condition.cpu_when is None else condition.cpu_when
    other = node.orelse.body if isinstance(node.orelse, cst.Else) else node.orelse
    if other is None or isinstance(other, cst.If):
        return
    without = node.body if without_in_body else other
    named = next((part for part in inner_nodes(without) if _goes_to_cuda(part)), None)
    if named is not None and _in_words(node.body) == _in_words(other):
        interp.emit(ArmsAlike(named, interp.scope, node.test))


def _in_words(arm: cst.CSTNode) -> list[str]:
    """The statements of an arm, or its expression, without comments."""
    return [code_of(part) for part in body_of(arm)] if isinstance(arm, cst.BaseSuite) else [code_of(arm)]


def _goes_to_cuda(node: cst.CSTNode) -> bool:
    """``x.cuda()``, ``x.to("cuda")``, ``torch.device("cuda")``."""
    if not isinstance(node, cst.Call):
        return False
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "cuda":
        return True
    strings = (one.value.evaluated_value for one in node.args if isinstance(one.value, cst.SimpleString))
    return any(isinstance(text, str) and text.partition(":")[0] == "cuda" for text in strings)


def _only_name(arm: cst.CSTNode) -> cst.SimpleString | None:
    """The literal of an arm that does nothing else than to name a device: ``device = torch.device("mps")``."""
    match arm:
        case cst.Else(body=body) | cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[body])]):
            return _only_name(body)
        case cst.SimpleStatementLine(body=[statement]):
            return _only_name(statement)
        case cst.Assign(value=value) | cst.AnnAssign(value=value) | cst.Return(value=value) if value is not None:
            return _only_name(value)
        case cst.Call(func=function, args=[cst.Arg(value=value)]) if code_of(function) in ("torch.device", "device"):
            return _only_name(value)
        case cst.SimpleString():
            return arm
    return None
