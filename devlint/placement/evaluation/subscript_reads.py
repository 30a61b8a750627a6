"""Subscripts that are read: an item of a container, of a tensor, of a value of unknown type, of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.bindings import item_of
from devlint.placement.calls.state_dicts import item_of_state
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Container,
    Evidence,
    Host,
    Module,
    Opaque,
    Reference,
    Tensor,
    Value,
)
from devlint.placement.domain.lattice import batch_of
from devlint.placement.domain.value_join import any_item, join_values
from devlint.placement.operations import frames
from devlint.placement.operations.encoded import is_encoded
from devlint.placement.operations.subscripts import read_item
from devlint.placement.state import first_rounds, ranks
from devlint.placement.state.field_types import ALL_ITEMS, ITEMS, is_generic
from devlint.placement.state.host_reads import read_indices
from devlint.placement.syntax.nodes import code_of, literal, path_of
from devlint.records import replace
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def subscript(interp: Interpreter, node: cst.Subscript) -> Value:
    value = interp.evaluate(node.value)
    path = path_of(node)
    if path is not None and path in interp.state.values:
        return interp.state.values[path]
    if isinstance(value, Opaque):
        return _item_of_opaque(interp, node, value)
    if isinstance(value, Tensor):
        return read_item(interp, node, value)
    if isinstance(value, Reference) and is_generic(value.name):
        return Reference(interp.index.imports.spelled_out(code_of(node)))
    for element in node.slice:
        _evaluate_slice(interp, element.slice)
    if isinstance(value, Host) and value.numpy:
        read_indices(interp, node)
    if isinstance(value, (Container, Module, Host)):
        if any(isinstance(element.slice, cst.Slice) for element in node.slice):
            return Container((), None, item_of(interp, value, None)) if isinstance(value, Container) else value
        if isinstance(value, Container) and value.keys is None and value.items and interp.counted:
            return _item_in_loop(interp, node, value)
        return item_of(interp, value, _constant_key(node))
    return ranks.of_item(interp, node, value, _constant_key(node)) or NOTHING


def _item_in_loop(interp: Interpreter, node: cst.Subscript, value: Container) -> Value:
    """An item of a list that a loop may append to: in the first iteration only what the list began with is there."""
    loop, rest = interp.counted[-1], value.rest
    if rest is None and loop.on_trial and interp.muted:
        interp.begun.add(id(node))
    begun = any_item(replace(value, rest=None))
    if rest is None or begun is None or id(node) not in interp.begun or loop.on_trial:
        return item_of(interp, value, _constant_key(node))
    first = first_rounds.outcome_here(interp, loop.first)
    return join_values(loop.first, begun, rest) if first is None else begun if first else rest


def _item_of_opaque(interp: Interpreter, node: cst.Subscript, value: Opaque) -> Value:
    """An item of a value of unknown type; other uses in the definition may show that it is a tensor."""
    key = _constant_key(node)
    if frames.frame_of(node.value):
        for element in node.slice:
            _evaluate_slice(interp, element.slice)
        return frames.read(value)
    item: Value = value if key is not None else read_item(interp, node, value)
    if ALL_ITEMS in value.fields:
        return item_of_state(value)
    if isinstance(key, str) and ITEMS in value.fields:
        # All rows of an encoding: a text each.
        dim = Dim.NONZERO if is_encoded(value) else Dim.UNKNOWN
        return Tensor(value.device, dim, evidence=Evidence.LIKELY, provenance=value.provenance)
    if not isinstance(item, Opaque):
        return item
    if isinstance(key, str):
        item = replace(item, moved=False)
    if not item.tensorlike and (interp.uses.tensor_items or interp.uses.placed):
        text = code_of(node)
        if text in interp.uses.tensor_items or (text in interp.uses.placed and batch_of(item.device) is not None):
            return replace(item, tensorlike=True)
    return item


def _constant_key(node: cst.Subscript) -> object | None:
    if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        try:
            return literal(node.slice[0].slice.value)
        except ValueError:
            return None
    return None


def _evaluate_slice(interp: Interpreter, part: cst.BaseSlice) -> None:
    if isinstance(part, cst.Index):
        interp.evaluate(part.value)
    elif isinstance(part, cst.Slice):
        for bound in (part.lower, part.upper, part.step):
            if bound is not None:
                interp.evaluate(bound)
