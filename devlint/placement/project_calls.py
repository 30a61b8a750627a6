"""Calls of this file's own functions and classes: what comes back, as a function of the arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain import CPU, UNKNOWN
from devlint.placement.events import CallSite
from devlint.placement.index import ClassKind, FunctionInfo
from devlint.placement.origin import StepKind
from devlint.placement.summaries import bind_arguments, returned
from devlint.placement.syntax import code_of
from devlint.placement.values import (
    NOTHING,
    ClassValue,
    Function,
    Instance,
    Module,
    Self,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from devlint.placement.walk import Walk


def call_function(walk: Walk, node: cst.Call, function: Function, site: CallSite) -> Value:
    """The summary of the function with the arguments' places put for its parameters'."""
    info = function.info
    if not info.keeps_signature or _is_generator(info):
        return NOTHING
    summary = walk.analysis.summary(info)
    if summary is None:
        return NOTHING
    substitution = bind_arguments(walk, info, site, function.receiver)
    return returned(walk, node, info, summary, substitution)


def _is_generator(info: FunctionInfo) -> bool:
    from devlint.placement.syntax import descend

    if isinstance(info.node, cst.Lambda):
        return False
    return any(isinstance(child, cst.Yield) for child in descend(info.node.body, into_definitions=False))


def call_self(walk: Walk, node: cst.Call, receiver: Self, name: str, site: CallSite) -> Value:
    """``self.name(...)``, by the class and its bases in this file."""
    method = receiver.info.method(name)
    if method is None or method.is_property:
        return NOTHING
    bound = None if method.is_static else receiver
    return call_function(walk, node, Function(method, method.qualname, bound), site)


def construct(walk: Walk, node: cst.Call, callee: ClassValue, site: CallSite) -> Value:
    """An object of a class of this file; a Module is made where a bare factory would make it."""
    info = callee.info
    if info.is_module:
        device = walk.state.factory_device
        if site.keyword("device") is not None or site.unpacks:
            device = UNKNOWN
        if device == CPU and _places_itself(walk, info.method("__init__")):
            device = UNKNOWN
        stateless = not _holds_state(walk, callee)
        origin = walk.step(StepKind.MADE, node, device, code_of(node.func))
        return Module(device, "", info, origin, stateless=stateless)
    if info.kind in (ClassKind.AUTOGRAD, ClassKind.OPTIMIZER):
        return NOTHING
    return Instance(info.qualname, info, node=node)


def _places_itself(walk: Walk, init: FunctionInfo | None) -> bool:
    """A constructor that names devices may leave its parameters anywhere."""
    if init is None:
        return False
    from devlint.placement.syntax import descend

    return any(
        isinstance(child, cst.Attribute) and child.attr.value in ("to", "cuda") for child in descend(init.node.body)
    )


def _holds_state(walk: Walk, callee: ClassValue) -> bool:
    """Whether the class keeps a parameter, buffer or submodule with state; unknown parents do."""
    info = callee.info
    if info.parents or not info.complete:
        return True
    facts = walk.analysis.facts(info)
    return any(
        (isinstance(fact.value, Module) and not fact.value.stateless)
        or (isinstance(fact.value, Tensor) and fact.kind in ("parameter", "buffer"))
        or fact.kind == "other"
        for fact in facts.attributes.values()
    )
