"""Loaders that are made with a device, ``MpDeviceLoader(loader, device)``: what they hand out is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.evidence_conventions import draws_from_a_loader
from devlint.placement.domain.abstract_values import Self
from devlint.placement.syntax.nodes import FunctionNode, code_of, descend, dotted

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


def source_of(interp: Interpreter, node: cst.BaseExpression) -> str:
    """What a batch is drawn from, in the words of the source: of a name that holds such a loader, what made it."""
    text = code_of(node)
    name = _gone_through(node)
    if isinstance(name, cst.Attribute) and (kept := _kept_by_object(interp, name)):
        if any(map(_brings_over, kept)):
            return ""
        return text if draws_from_a_loader(text) else _made_by(kept) or text
    if not isinstance(name, cst.Name) or interp.info is None:
        return text
    if draws_from_a_loader(text):
        made = interp.info.find(_calls_bound).get(name.value, ())
        return next((code_of(call) for call in made if _is_told_a_device(call)), text)
    return _made_in_sight(interp.info, name.value, frozenset()) or text


def _kept_by_object(interp: Interpreter, node: cst.Attribute) -> list[cst.BaseExpression | None]:
    """All that the class of an object stores as an attribute: ``self.dl = DataLoader(rows)``."""
    owner = interp.lookup(node.value.value) if isinstance(node.value, cst.Name) else None
    if not isinstance(owner, Self) or interp.program.in_progress(owner.info):
        return []
    methods = (method for one in owner.info.order for method in one.methods.values())
    return [value for method in methods for value in method.stored_expressions.get(node.attr.value, ())]


def _brings_over(node: cst.BaseExpression | None) -> bool:
    """Whether an expression speaks of a transfer: ``accelerator.prepare(loader)``, ``(x.cuda() for x in rows)``."""
    parts = descend(node) if node is not None else ()
    names = (part.attr.value for part in parts if isinstance(part, cst.Attribute))
    return any(name in _BRINGING for name in names)


_BRINGING = frozenset({"to", "cuda", "prepare", "prepare_data_loader", "setup_dataloaders", "to_device"})


def _made_by(kept: list[cst.BaseExpression | None]) -> str:
    """What makes the loader, if nothing else is stored."""
    loaders = [one for one in kept if isinstance(one, cst.Call) and _is_a_loader(one)]
    return code_of(loaders[0]) if loaders and len(loaders) == len(kept) else ""


def _is_a_loader(node: cst.Call) -> bool:
    called = (dotted(node.func) or "").rpartition(".")[2]
    return draws_from_a_loader(called) and not _is_told_a_device(node)


def _gone_through(node: cst.BaseExpression) -> cst.BaseExpression:
    """What ``enumerate`` and the like go through."""
    while isinstance(node, cst.Call) and node.args and (dotted(node.func) or "").rpartition(".")[2] in _GOING_THROUGH:
        node = node.args[0].value
    return node


_GOING_THROUGH = frozenset({"enumerate", "tqdm", "trange", "iter", "next", "track", "cycle"})


def _calls_bound(definition: FunctionNode) -> dict[str, list[cst.Call]]:
    """The calls whose results names are bound to in a definition, by these names."""
    found: dict[str, list[cst.Call]] = {}
    for statement in descend(definition):
        if type(statement) is cst.Assign and type(statement.value) is cst.Call:
            for name in {one.target.value for one in statement.targets if type(one.target) is cst.Name}:
                found.setdefault(name, []).append(statement.value)
    return found


def _made_in_sight(definition: FunctionInfo, name: str, before: frozenset[str]) -> str:
    """``dl = DataLoader(rows)``, ``ds = get_data_loader(rows)``, ``going = iter(dl)``: the call that makes the loader.

    Of names that are bound once.
    """
    made = definition.find(_calls_bound).get(name, [])
    once = len(made) == 1 and name not in definition.find(_bound_with_others)
    inner = _gone_through(made[0]) if once else None
    if isinstance(inner, cst.Name):
        return _made_in_sight(definition, inner.value, before | {name}) if inner.value not in before else ""
    is_loader = isinstance(inner, cst.Call) and draws_from_a_loader((dotted(inner.func) or "").rpartition(".")[2])
    return code_of(inner) if inner is not None and is_loader and not _is_told_a_device(inner) else ""


def _bound_with_others(definition: FunctionNode) -> frozenset[str]:
    """``model, dl = accelerator.prepare(model, dl)``: what these hold then may bring its batches over."""
    targets = (part.target for part in descend(definition) if type(part) is cst.AssignTarget)
    several = (target for target in targets if isinstance(target, (cst.Tuple, cst.List)))
    return frozenset(one.value for target in several for one in descend(target) if type(one) is cst.Name)


def _is_told_a_device(node: cst.BaseExpression) -> bool:
    """Whether a device is an argument of a call, an item of one, or an argument of the call that gives its receiver."""
    while isinstance(node, cst.Call):
        for argument in node.args:
            value = argument.value
            items = value.elements if isinstance(value, (cst.List, cst.Tuple)) else ()
            if any(map(_is_a_device, (value, *(item.value for item in items)))):
                return True
        if not isinstance(node.func, cst.Attribute):
            return False
        node = node.func.value
    return False


def _is_a_device(node: cst.BaseExpression) -> bool:
    last = node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""
    return last.lower() == "device" or last.lower().endswith("_device")
