"""Attributes that are read under a name that the program computes: ``getattr(self, f"{kind}_loss")``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.attributes import names_a_plain_value
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.domain.abstract_values import (
    NONE,
    NOTHING,
    Argument,
    Constant,
    Function,
    Host,
    Instance,
    Module,
    OneOf,
    Opaque,
    Reference,
    Self,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import SameAs
from devlint.placement.domain.scope import Setting
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.syntax.nodes import descend, is_name, path_of, string_value

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

ONE_OF_TORCH = "torch.<any>"
"""What ``getattr(torch, name)`` gives where the name is not known."""

_MOST = 4
"""Methods that are told apart; each call is judged for each of them."""
_LEAST_TOLD = 3
"""Letters of the name that have to be written out: fewer fit what is not meant."""


def get_attribute(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``getattr(torch, window)``: one of torch's functions; ``getattr(self, f"layer{i}")``: a part of the module."""
    owner = site.positional[0].value if site.positional else NOTHING
    if owner == Reference("torch") and len(site.positional) == 2:
        return Reference(ONE_OF_TORCH)
    name = site.positional[1].value if len(site.positional) > 1 else NOTHING
    if isinstance(name, Constant) and isinstance(name.value, str):
        base = path_of(site.positional[0].node)
        kept = interp.state.values.get(f"{base}.{name.value}") if base is not None else None
        if kept is not None:
            return kept
        return Host() if names_a_plain_value(name.value) else NOTHING
    if isinstance(owner, (Self, Instance)) and len(site.positional) > 1:
        chosen = _methods_named(interp, owner, site.positional[1].node)
        if chosen is not None:
            return chosen
    return _part_of(interp, owner)


def set_attribute(interp: Interpreter, node: cst.Call, site: CallSite) -> Value:
    """``setattr(self, "mean", zeros)``, under a name that is written out, or under each one that a loop goes over."""
    if len(site.positional) == 3 and (base := path_of(site.positional[0].node)) is not None:
        for name in _names_written(interp, site.positional[1]):
            interp.state.store(f"{base}.{name}", site.positional[2].value)
    return NONE


def _names_written(interp: Interpreter, name: Argument) -> list[str]:
    """The names that an expression stands for, if all of them are written out."""
    if isinstance(name.value, Constant) and isinstance(name.value.value, str):
        return [name.value.value]
    if interp.info is None or not isinstance(name.node, cst.Name):
        return []
    written = name.node.value
    loops = [
        node
        for node in descend(interp.info.node.body)
        if isinstance(node, cst.For) and is_name(node.target, written) and isinstance(node.iter, (cst.List, cst.Tuple))
    ]
    if len(loops) != 1 or _only_binding(interp, written) is not None:
        return []
    texts = [_text_of(element.value) for element in loops[0].iter.elements]  # type: ignore[attr-defined]
    return texts if all(texts) else []


def _part_of(interp: Interpreter, owner: Value) -> Value:
    """What an object keeps under a computed name is where the object is."""
    if isinstance(owner, Self) and owner.info.is_module and interp.scope.setting is not Setting.CONSTRUCTION:
        if any(_sets_by_name(method) for one in owner.info.order for method in one.methods.values()):
            return NOTHING
        return Opaque(SameAs(module_symbol(owner.info)))
    if isinstance(owner, (Module, Opaque)) and isinstance(owner.device, SameAs):
        return Opaque(owner.device, owner.provenance)
    return NOTHING


def _sets_by_name(method: FunctionInfo) -> bool:
    """``setattr(self, "_" + stage, outputs)`` of a method: under a computed name there may be anything."""
    if method.name == "__init__" or "setattr" not in method.names:
        return False
    calls = (node.func for node in descend(method.node.body) if isinstance(node, cst.Call))
    return any(isinstance(function, cst.Name) and function.value == "setattr" for function in calls)


def _methods_named(interp: Interpreter, owner: Self | Instance, written: cst.BaseExpression) -> Function | OneOf | None:
    """The methods of the object's class whose names fit what is written out of the computed one.

    None where there are none, or many, or an attribute fits as well.
    """
    info = owner.info
    ends = _ends_of(interp, written)
    if info is None or ends is None or sum(map(len, ends)) < _LEAST_TOLD:
        return None
    found: dict[str, FunctionInfo] = {}
    for one in reversed(info.order):
        found |= {name: method for name, method in one.methods.items() if _fits(name, ends)}
    if not 0 < len(found) <= _MOST or any(method.is_property or method.is_static for method in found.values()):
        return None
    if _keeps_such(info, ends):
        return None
    callees = tuple(Function(one, f"{interp.scope.path}:{one.qualname}", owner) for one in found.values())
    return callees[0] if len(callees) == 1 else OneOf(callees)


def _keeps_such(info: ClassInfo, ends: tuple[str, str]) -> bool:
    """Whether a method stores an attribute whose name fits, or one under a computed name."""
    methods = [method for one in info.order for method in one.methods.values()]
    stored = (name for method in methods for name in method.stores)
    return any(_fits(name, ends) for name in stored) or any("setattr" in method.names for method in methods)


def _fits(name: str, ends: tuple[str, str]) -> bool:
    beginning, end = ends
    longer = len(name) > len(beginning) + len(end)
    return longer and name.startswith(beginning) and name.endswith(end) and not name.startswith("__")


def _ends_of(interp: Interpreter, written: cst.BaseExpression) -> tuple[str, str] | None:
    """What is written out of a string at its beginning and at its end: ``f"{kind}_loss"`` has ``_loss`` at its end."""
    match written:
        case cst.FormattedString(parts=[first, *_] as parts):
            return _text_of(first), _text_of(parts[-1]) if len(parts) > 1 else ""
        case cst.BinaryOperation(left=left, operator=cst.Add(), right=right):
            return _text_of(left), _text_of(right)
        case cst.BinaryOperation(left=cst.SimpleString(value=text), operator=cst.Modulo()):
            return _around(string_value(text), "%s")
        case cst.Call(func=cst.Attribute(value=cst.SimpleString(value=text), attr=cst.Name(value="format"))):
            return _around(string_value(text), "{}")
        case cst.Name(value=name):
            bound = _only_binding(interp, name)
            return None if bound is None or isinstance(bound, cst.Name) else _ends_of(interp, bound)
        case _:
            return None


def _text_of(part: cst.CSTNode) -> str:
    """The text of a piece that is written out; empty for what is computed."""
    if isinstance(part, cst.FormattedStringText):
        return part.value
    return str(string_value(part.value)) if isinstance(part, cst.SimpleString) else ""


def _around(text: object, gap: str) -> tuple[str, str] | None:
    """What stands before and behind the one gap in a template."""
    pieces = text.split(gap) if isinstance(text, str) else []
    return (pieces[0], pieces[1]) if len(pieces) == 2 and not {"%", "{"} & set("".join(pieces)) else None


def _only_binding(interp: Interpreter, name: str) -> cst.BaseExpression | None:
    """What a definition assigns to a local name, if it does so once."""
    if interp.info is None:
        return None
    nodes = (node for node in descend(interp.info.node.body) if isinstance(node, cst.Assign))
    bound = [node.value for node in nodes for one in node.targets if is_name(one.target, name)]
    return bound[0] if len(bound) == 1 else None
