"""Nested definitions: the names they bind, their decorators and defaults, and the statements of class bodies."""

from __future__ import annotations

import libcst as cst

from devlint.placement.domain.abstract_values import NOTHING, ClassValue, Constant, DeviceName, Function, Value
from devlint.placement.domain.events import Defaulted, Sink
from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.state.devices import resolve_device
from devlint.placement.syntax.nodes import body_of, descend, parameters_of


def function_definition(interp: Interpreter, node: cst.FunctionDef) -> None:
    for decorator in node.decorators:
        if isinstance(decorator.decorator, cst.Call):
            # A plain name has no effect on devices, and resolving it may evaluate many other files.
            interp.evaluate(decorator.decorator)
    _check_defaults(interp, node)
    _default_devices(interp, node)
    info = interp.index.functions[id(node)]
    if interp.info is not None and interp.depth == 0:
        info.closure, info.parted = {**interp.closure, **interp.state.values}, dict(interp.state.moved_groups)
        interp.program.defer(info)
    # A walk for one call has values of its own for what the definition captures.
    captured = {**interp.closure, **interp.state.values} if interp.depth > 0 else None
    value: Value = Function(info, f"{interp.scope.path}:{info.qualname}", captured=captured)
    interp.state.store(node.name.value, value)
    if interp.info is None and not interp.class_body:
        # When called at module level, it sees the functions defined before it.
        interp.program.bind_global(node.name.value, value)
    for child in descend(node.body) if interp.info is not None else ():
        if isinstance(child, cst.Nonlocal):
            # From here on, a call may rebind the name.
            for item in child.names:
                interp.state.store(item.name.value, NOTHING)


def _check_defaults(interp: Interpreter, node: cst.FunctionDef) -> None:
    """Evaluate default arguments; a device named in one applies to every caller."""
    for parameter in parameters_of(node):
        if parameter.default is None:
            continue
        value = interp.evaluate(parameter.default)
        if "device" in parameter.name.value.lower() and isinstance(value, Constant) and isinstance(value.value, str):
            resolve_device(interp, value, parameter.default, Sink.DEFAULT)


def _default_devices(interp: Interpreter, node: cst.FunctionDef) -> None:
    """Emit an event for each device that a default argument names."""
    for parameter in parameters_of(node):
        if parameter.default is not None and "device" in parameter.name.value.lower():
            value = interp.evaluate_quietly(parameter.default)
            if isinstance(value, DeviceName):
                interp.emit(Defaulted(parameter.default, interp.scope, parameter.name.value, value))


def class_definition(interp: Interpreter, node: cst.ClassDef) -> None:
    info = interp.index.classes[id(node)]
    for method in info.methods.values():
        if isinstance(method.header, cst.FunctionDef):
            _check_defaults(interp, method.header)
            _default_devices(interp, method.header)
    if interp.info is not None and interp.depth == 0:
        closure = {**interp.closure, **interp.state.values}
        for method in info.methods.values():
            method.closure = closure
            interp.program.defer(method)
    _class_body(interp, node)
    value = ClassValue(info, f"{interp.scope.path}:{info.qualname}")
    interp.state.store(node.name.value, value)
    if interp.info is None and not interp.class_body:
        interp.program.bind_global(node.name.value, value)


def _class_body(interp: Interpreter, node: cst.ClassDef) -> None:
    """Evaluate the statements of a class body; the names they bind belong to the class."""
    before, outer = interp.state, interp.class_body
    interp.env, interp.class_body = before.copy(), interp.index.classes[id(node)].qualname
    interp.run(s for s in body_of(node.body) if not isinstance(s, (cst.FunctionDef, cst.ClassDef)))
    interp.env, interp.class_body = before, outer
