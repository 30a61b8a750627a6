"""Methods of lists, sets and dicts: what is filled in, what is taken out, what stands in for what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.bindings import item_of, with_item
from devlint.placement.declarations.self_attributes import FILLING
from devlint.placement.domain.abstract_values import NOTHING, Argument, Constant, Container, Host, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import Guard
from devlint.placement.domain.value_join import join_values
from devlint.placement.state.put_by_methods import note_filled
from devlint.placement.syntax.nodes import code_of, path_of
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def of_container(interp: Interpreter, receiver: Container, function: cst.Attribute, site: CallSite) -> Value:
    name = function.attr.value
    path = path_of(function.value)
    given = site.positional[-1].value if site.positional else NOTHING
    if name in FILLING:
        item = item_of(interp, given, None) if name == "extend" else given
        note_filled(interp, function.value, item, site.node)
        if path is None:
            _fill_an_item(interp, function.value, item)
            return NOTHING
        rest = item if receiver.rest is None else join_values(None, receiver.rest, item)
        interp.state.values[path] = Container(receiver.items, receiver.keys, rest, receiver.type, receiver.node)
        return NOTHING
    if name == "setdefault" and isinstance(given, Container) and not given.values and not receiver.items:
        return receiver.rest if isinstance(receiver.rest, Container) else given
    if name in ("update", "setdefault", "clear", "sort", "reverse", "remove") and path is not None:
        if name == "update":
            interp.state.forget_parts(path)
            interp.state.values[path] = _updated(receiver, site)
        return NOTHING
    if name == "items":
        return Container((), None, Container((Host(), item_of(interp, receiver, None)), None, None, "tuple"))
    if name == "values":
        return Container(receiver.items, None, receiver.rest)
    if name in ("get", "pop"):
        key = site.positional[0].value if site.positional else NOTHING
        item = item_of(interp, receiver, key.value if isinstance(key, Constant) else None)
        written_out = isinstance(key, Constant) and receiver.keys is not None and key.value in receiver.keys
        return item if written_out else item_or_default(interp, function, item, site)
    if name == "copy":
        return receiver
    return Host() if name in ("keys", "index", "count") else NOTHING


def _fill_an_item(interp: Interpreter, container: cst.BaseExpression, item: Value) -> None:
    """``rows[-1].append(item)``: each item of ``rows`` is a list, in which this one may be.

    So it is of ``kept.setdefault(key, []).append(item)``.
    """
    path: str | None = None
    match container:
        case cst.Call(func=cst.Attribute(value=whole, attr=cst.Name(value="setdefault")), args=[_, _]):
            path = path_of(whole)
        case cst.Subscript(value=whole):
            path = path_of(whole)
        case _:
            pass
    kept = interp.state.values.get(path) if path is not None else None
    if path is None or not isinstance(kept, Container) or kept.items:
        return
    is_filled = isinstance(kept.rest, Container) and not kept.rest.items
    before = kept.rest.rest if isinstance(kept.rest, Container) else None
    if kept.rest is None or is_filled:
        rest = item if before is None else join_values(None, before, item)
        interp.state.values[path] = replace(kept, rest=Container((), None, rest, "list"))


def _updated(receiver: Container, site: CallSite) -> Container:
    """``scores.update({"loss": loss})``, ``scores.update(loss=loss)``: the keys that are written, beside the others."""
    written: list[tuple[object, Value]] = []
    for argument in site.arguments:
        match argument:
            case Argument(keyword=str() as key):
                written.append((key, argument.value))
            case Argument(star="", value=Container(keys=tuple() as keys, rest=None, items=items)):
                written.extend(zip(keys, items, strict=True))
            case _:
                written.append((None, NOTHING))
    if any(not isinstance(key, str) for key, _ in written):
        return replace(receiver, rest=NOTHING, items=(), keys=() if receiver.keys is not None else None)
    for written_key, value in written:
        receiver = with_item(receiver, written_key, value)
    return receiver


def item_or_default(interp: Interpreter, node: cst.CSTNode, item: Value, site: CallSite) -> Value:
    """``kept.get(key, default)``: the item, or a tensor that is made where there is none."""
    if len(site.positional) < 2 or not isinstance(site.positional[1].value, Tensor):
        return item
    key, default = site.positional[:2]
    name = f"{interp.scope.qualname}:missing@{id(node)}"
    return join_values(Guard(name, f"{code_of(key.node)} is missing"), default.value, item)
