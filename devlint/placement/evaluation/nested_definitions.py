"""Definitions met by a walk: what they are called by, and the statements that run where a class stands."""

from __future__ import annotations

import libcst as cst

from devlint.placement.domain.abstract_values import NOTHING, ClassValue, Constant, DeviceName, Function, Value
from devlint.placement.domain.events import Defaulted, Sink
from devlint.placement.interpreter.interpreter import Walk
from devlint.placement.state.devices import resolve_device
from devlint.placement.syntax.nodes import body_of, descend, parameters_of


def function_definition(walk: Walk, node: cst.FunctionDef) -> None:
    for decorator in node.decorators:
        if isinstance(decorator.decorator, cst.Call):
            # A plain name says nothing about devices; it may lead through half of the project.
            walk.evaluate(decorator.decorator)
    _check_defaults(walk, node)
    _default_devices(walk, node)
    info = walk.index.functions[id(node)]
    if walk.info is not None and walk.depth == 0:
        info.closure = {**walk.closure, **walk.state.values}
        walk.program.defer(info)
    value: Value = Function(info, f"{walk.scope.path}:{info.qualname}")
    value = value if info.keeps_signature else NOTHING
    walk.state.store(node.name.value, value)
    if walk.info is None and not walk.in_class_body:
        # Called at module level, it finds the functions before it.
        walk.program.bind_global(node.name.value, value)
    for child in descend(node.body) if walk.info is not None else ():
        if isinstance(child, cst.Nonlocal):
            # From here on a call may rebind it.
            for item in child.names:
                walk.state.store(item.name.value, NOTHING)


def _check_defaults(walk: Walk, node: cst.FunctionDef) -> None:
    """Evaluates default arguments; a device spelled in one is a choice made for every caller."""
    for parameter in parameters_of(node):
        if parameter.default is None:
            continue
        value = walk.evaluate(parameter.default)
        if "device" in parameter.name.value and isinstance(value, Constant) and isinstance(value.value, str):
            resolve_device(walk, value, parameter.default, Sink.DEFAULT)


def _default_devices(walk: Walk, node: cst.FunctionDef) -> None:
    """Reports the devices that default arguments choose."""
    for parameter in parameters_of(node):
        if parameter.default is not None and "device" in parameter.name.value:
            value = walk.evaluate_quietly(parameter.default)
            if isinstance(value, DeviceName):
                walk.emit(Defaulted(parameter.default, walk.scope, parameter.name.value, value))


def class_definition(walk: Walk, node: cst.ClassDef) -> None:
    info = walk.index.classes[id(node)]
    for method in info.methods.values():
        if isinstance(method.header, cst.FunctionDef):
            _check_defaults(walk, method.header)
            _default_devices(walk, method.header)
    if walk.info is not None and walk.depth == 0:
        closure = {**walk.closure, **walk.state.values}
        for method in info.methods.values():
            method.closure = closure
            walk.program.defer(method)
    _class_body(walk, node)
    value = ClassValue(info, f"{walk.scope.path}:{info.qualname}")
    walk.state.store(node.name.value, value)
    if walk.info is None and not walk.in_class_body:
        walk.program.bind_global(node.name.value, value)


def _class_body(walk: Walk, node: cst.ClassDef) -> None:
    """The statements of a class run where it stands; the names they bind are its own."""
    before, outer = walk.state, walk.in_class_body
    walk.env, walk.in_class_body = before.copy(), True
    walk.run(s for s in body_of(node.body) if not isinstance(s, (cst.FunctionDef, cst.ClassDef)))
    walk.env, walk.in_class_body = before, outer
