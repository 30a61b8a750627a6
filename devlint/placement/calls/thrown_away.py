"""Calls of a function that gives its argument back moved, where nothing keeps the result: a transfer that is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.handed_back_moved import given_back_moved
from devlint.placement.domain.abstract_values import Container, Opaque, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import Fate, Moved
from devlint.placement.domain.lattice import UNKNOWN
from devlint.placement.operations.transfers import mark_discarded
from devlint.placement.syntax.nodes import code_of, descend, parameters_of

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


def note_thrown_away(interp: Interpreter, node: cst.Call, info: FunctionInfo, site: CallSite, bound: bool) -> None:
    """``to_device(x, device)`` as a statement: ``x`` is where it was, as after ``x.to(device)``."""
    if interp.take_fate(node) != Fate.DISCARDED or site.unpacks:
        return
    name = given_back_moved(info)
    if name is None or _checks(info):
        return
    names = [parameter.name.value for parameter in parameters_of(info.header)[bound:]]
    given = site.argument(name, names.index(name))
    receiver = _tensor_in(given.value) if given is not None else None
    if given is None or receiver is None:
        return
    # Where it is brought is the callee's affair: that may depend on what is not in sight here.
    interp.emit(
        Moved(
            node, interp.scope, info.name, receiver, given.node, receiver, UNKNOWN, site,
            fate=Fate.DISCARDED, receiver_text=code_of(given.node), arms=interp.arms,
            guarded=interp.under_device_guard,
        )
    )  # fmt: skip
    if receiver is given.value:
        mark_discarded(interp, node, receiver, given.node, UNKNOWN)


def _checks(info: FunctionInfo) -> bool:
    """Whether a function also looks at what it is given, and raises: who calls it as a statement wants that."""
    return any(isinstance(node, (cst.Raise, cst.Assert)) for node in descend(info.node.body))


def _tensor_in(value: Value) -> Tensor | Opaque | None:
    if isinstance(value, Container):
        return next((item for item in value.innermost if isinstance(item, Tensor)), None)
    return value if isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike) else None
