"""Data sets and loaders whose tensors are known to lie on another device than the CPU.

All others hand out a batch that nobody has moved yet, as an iterable of unknown type does (``bindings.iterated``).
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.placement.calls.bindings import item_of
from devlint.placement.calls.library_call import LibraryCall
from devlint.placement.calls.records import BUILT_OF
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.domain.abstract_values import (
    NOTHING,
    Argument,
    Container,
    Function,
    Instance,
    Opaque,
    Tensor,
    Value,
)
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Device, Known, SameAs, leaves
from devlint.placement.domain.provenance import was_moved
from devlint.placement.syntax.nodes import code_of, parameters_of


def rows(call: LibraryCall) -> Value:
    """A data set that hands out tuples: a row of each of the tensors that it is given."""
    values = [argument.value for argument in call.site.positional]
    if call.site.unpacks or not any(map(_lies_elsewhere, values)):
        return NOTHING
    return Container((), None, Container(tuple(item_of(call.interp, v, None) for v in values), None, None, "tuple"))


def batches(call: LibraryCall) -> Value:
    """A loader: it collates what its data set hands out, and leaves it where it was."""
    argument = call.argument()
    if argument is None:
        return NOTHING
    if isinstance(argument.value, Container) and argument.value.rest is not None:
        return argument.value
    collate = call.site.keyword("collate_fn")
    moves = _item_moves(call, argument.value) or (collate is not None and _collation_moves(call, collate))
    return Container((), None, Opaque(UNKNOWN)) if moves else NOTHING


def _item_moves(call: LibraryCall, data_set: Value) -> bool:
    """Whether a data set of the project hands out what it was brought, or what its ``__getitem__`` brings over."""
    if not isinstance(data_set, Instance):
        return False
    built_of = dict(data_set.details).get(BUILT_OF)
    if isinstance(built_of, Container) and any(map(_was_moved, built_of.innermost)):
        return True
    info = data_set.info
    method = info.method("__getitem__") or info.method("__iter__") if info is not None else None
    return method is not None and _result_moves(call, method)


def _collation_moves(call: LibraryCall, collate: Argument) -> bool:
    """``collate_fn=lambda items: default_collate(items).to(device)``."""
    if isinstance(collate.value, Function):
        return _result_moves(call, collate.value.info)
    written = code_of(collate.node)
    return isinstance(collate.node, cst.Lambda) and any(word in written for word in (".to(", ".cuda("))


def _result_moves(call: LibraryCall, function: FunctionInfo) -> bool:
    """Whether it gives what lies neither on the CPU nor where its arguments, or those of its object, are."""
    given = call.interp.program.summary(function)
    parts: Sequence[Value | None] = [given, *given.items, given.rest] if isinstance(given, Container) else [given]
    constructor = function.owner.method("__init__") if function.owner is not None else None
    handed = (function,) if constructor is None else (function, constructor)
    own = {parameter.name.value for one in handed for parameter in parameters_of(one.node)}
    places = [leaf for part in parts if part is not None for leaf in _elsewhere(part)]
    return any(not isinstance(leaf, SameAs) or not _is_as_it_came(leaf, own) for leaf in places)


def _is_as_it_came(place: SameAs, own: set[str]) -> bool:
    """Whether it is where an argument is, or what was drawn from one: a key of ``for key in file.keys():``."""
    return place.symbol.anchor is Anchor.BATCH or place.symbol.name in own


def _was_moved(value: Value) -> bool:
    """Whether it was brought to a device on purpose; where a caller's tensor is, is the caller's affair."""
    if any(isinstance(leaf, Known) for leaf in _elsewhere(value)):
        return True
    provenance = value.provenance if isinstance(value, (Tensor, Opaque)) and value.device != CPU else None
    return was_moved(provenance)


def _lies_elsewhere(value: Value) -> bool:
    return bool(_elsewhere(value))


def _elsewhere(value: Value) -> list[Device]:
    device = value.device if isinstance(value, (Tensor, Opaque)) else UNKNOWN
    return [leaf for leaf in leaves(device) if leaf not in (CPU, UNKNOWN)]
