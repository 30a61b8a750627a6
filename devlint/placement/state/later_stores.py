"""Attributes that other methods than the constructor store: what they hold after any of them has run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.own_transfers import moves_itself
from devlint.placement.declarations.self_attributes import updates
from devlint.placement.domain.abstract_values import NONE, Container, Instance, Kind, Opaque, Tensor, Value
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, Guard, GuardKind, choose
from devlint.placement.domain.provenance import was_moved
from devlint.placement.syntax.nodes import descend, unpacked
from devlint.records import replace
from devlint.source.outline import PLACING

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


def later_stores(interp: Interpreter, info: ClassInfo, name: str) -> tuple[Value, ...] | None:
    """What other methods store under an attribute of ``self``; None where one of it is surely no tensor made there.

    What the methods assign is looked at first: to evaluate the methods of a large class costs more than all the rest.
    A sum that goes on (``self.total += x``) stays where it is and is left out.
    """
    methods = info.storing_later(name)
    if not all(_may_be_made_here(info, method, name) for _, method in methods):
        return None
    found: list[Value] = []
    for one, method in methods:
        expressions = method.stored_expressions.get(name, ())
        goes_on = [updates(expression, name) for expression in expressions]
        if all(goes_on):
            continue
        program = interp.program.holder(one) or interp.program
        stores = interp.object_stores if method is interp.info else program.stores_of(method)
        if stores is None:
            return None
        stored = list(stores.later.get((method.qualname, name), {}).values())
        if len(stored) == len(expressions):
            found += (value for value, again in zip(stored, goes_on, strict=True) if not again)
            continue
        ahead = _stored_ahead(interp, expressions, goes_on) if method is interp.info else None
        if ahead is None:
            return None
        found += ahead
    return tuple(found)


def _stored_ahead(
    interp: Interpreter, expressions: tuple[cst.BaseExpression | None, ...], goes_on: list[bool]
) -> list[Value] | None:
    """What the running method stores further down, where each is a call of torch: ``self.cost = torch.zeros(n)``.

    The next call of the method finds it there. None where one is another expression.
    """
    anew = [expression for expression, again in zip(expressions, goes_on, strict=True) if not again]
    calls = [one for one in anew if isinstance(one, cst.Call) and _calls_torch(one, interp.index.imports)]
    if len(calls) != len(anew) or interp.looks_ahead:
        return None
    interp.looks_ahead = True
    try:
        return [interp.evaluate_quietly(call) for call in calls]
    finally:
        interp.looks_ahead = False


def _may_be_made_here(info: ClassInfo, method: FunctionInfo, name: str) -> bool:
    """Whether each value that a method stores may be a tensor that it makes, with torch or a function, or None."""
    imports = method.linkage.imports if method.linkage is not None else {}
    return all(
        value is not None and (updates(value, name) or _makes_a_value(value, imports, info))
        for value in method.stored_expressions.get(name, ())
    )


def _makes_a_value(node: cst.BaseExpression, imports: Mapping[str, str], info: ClassInfo) -> bool:
    match node:
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return bool(elements) and all(_makes_a_value(element.value, imports, info) for element in elements)
        case cst.ListComp(elt=made) | cst.DictComp(value=made):
            return _makes_a_value(made, imports, info)
        case cst.Dict(elements=elements):
            return bool(elements) and all(_makes_a_value(element.value, imports, info) for element in elements)
        case cst.Call(func=cst.Attribute(value=cst.Name("self"), attr=cst.Name(made))):
            return info.method(made) is not None
        case cst.Subscript(value=cst.Call() as call):
            return _makes_a_value(call, imports, info)
        case cst.Name():
            return True  # a local name, or None
        case cst.Call(func=cst.Name()):
            return True
        case cst.IfExp():
            return _makes_a_value(node.body, imports, info) and _makes_a_value(node.orelse, imports, info)
        case cst.BinaryOperation():
            return _makes_a_value(node.left, imports, info) or _makes_a_value(node.right, imports, info)
        case cst.UnaryOperation():
            return _makes_a_value(node.expression, imports, info)
    return _calls_torch(node, imports)


def _calls_torch(node: cst.BaseExpression, imports: Mapping[str, str]) -> bool:
    """``torch.zeros(n)``, and what is made of it in turn: ``torch.zeros(n).float()[0]``."""
    root, called = node, False
    while isinstance(root, (cst.Call, cst.Attribute, cst.Subscript)):
        called = called or isinstance(root, cst.Call)
        root = root.func if isinstance(root, cst.Call) else root.value
    return called and isinstance(root, cst.Name) and imports.get(root.value, root.value).split(".")[0] == "torch"


def first_on_cpu(interp: Interpreter, info: ClassInfo, name: str) -> Value | None:
    """The first of the later stores where every one is of the CPU's, or of None; else None."""
    values = [value for value in later_stores(interp, info, name) or () if value != NONE]
    if not values or not all(is_bare_on_cpu(_without_keys(value)) for value in values):
        return None
    if any(isinstance(value, Container) for value in values) and _is_filled_in(info, name):
        return None
    return values[0]


def _without_keys(value: Value) -> Value:
    """A dict as the list of its values: ``{name: torch.zeros(n) for name in names}``."""
    return replace(value, keys=None) if isinstance(value, Container) and value.type == "dict" else value


def _is_filled_in(info: ClassInfo, name: str) -> bool:
    """Whether some method puts items into the container that are not what the operation on one of its own gives.

    ``self.sums[key] = torch.add(self.sums[key], x)`` first meets the item that was there. What is put there by another
    way, ``self.sums[key] = x``, or brought over, is wherever that is.
    """
    return any(_fills_in(method, name) for method in info.mentioning(name))


def _fills_in(method: FunctionInfo, name: str) -> bool:
    calls = method.calls_of_attributes.get(name, ())
    if any(isinstance(call.func, cst.Attribute) and call.func.attr.value in _FILLING for call in calls):
        return True
    for node in descend(method.node.body):
        if isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
            targets = [one.target for one in node.targets] if isinstance(node, cst.Assign) else [node.target]
            if any(_is_item(place, name) for target in targets for place in unpacked(target)):
                parts = [part for part in (node.value, *descend(node.value)) if isinstance(part, cst.Attribute)]
                if not any(_is_own(part, name) for part in parts) or any(part.attr.value in PLACING for part in parts):
                    return True
    return False


_FILLING = frozenset({"append", "extend", "insert", "update", "setdefault"})


def _is_item(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Subscript) and _is_own(node.value, name)


def _is_own(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.attr.value == name


def stays_at(interp: Interpreter, info: ClassInfo, name: str, device: Device) -> bool:
    """Whether whatever another method stores is a tensor in the place of the constructor's: on ``self.device``.

    So it is where they all go on with what is there, ``self.pos = self.pos + step``.

    Only what says in its own words where it goes is asked for, as the rest is not known as a rule.
    """
    says = all(
        value is not None and (updates(value, name) or _names_a_device(value))
        for _, method in info.storing_later(name)
        for value in method.stored_expressions.get(name, ())
    )
    values = later_stores(interp, info, name) if says else None
    return values is not None and all(isinstance(value, Tensor) and value.device == device for value in values)


def _names_a_device(node: cst.BaseExpression) -> bool:
    """``torch.zeros(n, device=self.device)``, ``torch.from_numpy(x).to(self.device)``."""
    return any(isinstance(part, cst.Name) and part.value.endswith("device") for part in descend(node))


def brought_to_cpu(interp: Interpreter, info: ClassInfo, name: str) -> Value | None:
    """The first of the later stores where every one is a container of what was brought to the CPU, or of None."""
    if info.is_module or moves_itself(info, name):
        return None
    values = [value for value in later_stores(interp, info, name) or () if value != NONE]
    return values[0] if values and all(map(_holds_what_was_brought, values)) else None


def _holds_what_was_brought(value: Value) -> bool:
    """``dict(points=points.cpu(), distances=distances.cpu())``."""
    inside = value.innermost if isinstance(value, Container) else ()
    return bool(inside) and all(
        isinstance(one, (Tensor, Opaque)) and one.device == CPU and was_moved(one.provenance) for one in inside
    )


def is_stored_by_others(interp: Interpreter, info: ClassInfo, name: str) -> bool:
    """Whether a method that is neither the constructor nor the one that runs stores an attribute."""
    return any(method is not interp.info for _, method in info.storing_later(name))


def as_first_met(interp: Interpreter, info: ClassInfo, name: str, value: Tensor) -> Tensor | None:
    """What the constructor stored, as the only method meets it that stores another: in its first call; else None.

    ``change = x - self.previous; self.previous = x``. A method that looks what it has got replaces it before it is met.
    """
    running = interp.info
    methods = info.storing_later(name)
    if running is None or not methods or any(method is not running for _, method in methods):
        return None
    if any(decided.guard.kind is not GuardKind.IS_NONE or "self." in decided.guard.text for decided in interp.arms):
        return None
    guard = Guard(f"first call of {running.qualname}", "nothing else was stored yet", GuardKind.FIRST_CALL)
    return replace(value, device=choose(guard, value.device, UNKNOWN))


def is_only_updated(info: ClassInfo, name: str) -> bool:
    """Whether other methods than the constructor only go on with what an attribute holds: ``self.total += x``."""
    return all(
        updates(expression, name)
        for _, method in info.storing_later(name)
        for expression in method.stored_expressions.get(name, (None,))
    )


def is_bare_on_cpu(value: Value) -> bool:
    """A plain tensor, or a generator, that was made on the CPU because no device was named; or a list of such."""
    if isinstance(value, Container):
        return bool(value.values) and value.keys is None and all(map(is_bare_on_cpu, value.values))
    if isinstance(value, Instance):
        placed = dict(value.details).get("placed")
        return isinstance(placed, Tensor) and placed.device == CPU
    if not isinstance(value, Tensor) or value.device != CPU or value.kind not in (Kind.PLAIN, Kind.BUFFER):
        return False
    return value.provenance is not None and value.provenance.first.bare
