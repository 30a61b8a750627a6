"""Modules whose methods bring the module's own state to their inputs: wherever it is, it meets nothing as it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import Module, Tensor
from devlint.placement.domain.class_facts import is_registered
from devlint.placement.syntax.nodes import descend

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter

_HARMLESS = frozenset({"to", "type_as", "device", "dtype", "shape", "size", "ndim", "dim", "numel"})
"""What is read of a tensor without any other tensor, or gives a copy that is where another one is."""


def brings_its_state(interp: Interpreter, module: Module) -> bool:
    """Whether a module holds parameters and buffers alone, and each use of one begins with a transfer.

    ``centers = self.centers.to(x.device)`` (fixture `state_brought_to_inputs`).
    """
    info = module.info
    if info is None or interp.program.in_progress(info):
        return False
    program = interp.program.holder(info)
    if program is None or info.method("forward") is None:
        return False
    held = {name: fact.value for name, fact in program.facts(info).attributes.items() if is_registered(fact.value)}
    if not held or not all(isinstance(value, Tensor) for value in held.values()) or not info.complete:
        return False
    return info.memoised("brings its state", partial(_is_always_brought, frozenset(held)), False)


def _is_always_brought(names: frozenset[str], info: ClassInfo) -> bool:
    building = info.constructors
    methods = [method for one in info.order for method in one.methods.values() if method not in building]
    # The body of a method that does not mention them is not read: nothing depends on it then.
    return all(_brings(method, names) for method in methods if method.mentions(*names))


def _brings(method: FunctionInfo, names: frozenset[str]) -> bool:
    reads: set[int] = set()
    harmless: set[int] = set()
    for node in descend(method.node.body):
        match node:
            case cst.Attribute(value=cst.Attribute() as held, attr=cst.Name(value=asked)) if asked in _HARMLESS:
                harmless.add(id(held))
        match node:
            case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)) if name in names:
                reads.add(id(node))
    return reads <= harmless
