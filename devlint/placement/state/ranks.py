"""The rank of this process among those of all machines: where it is read, and where it becomes a device's index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Constant, Container, DeviceName, Host, Instance, Reference, Value
from devlint.placement.domain.events import RankAsIndex
from devlint.placement.domain.lattice import UNKNOWN
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.syntax.nodes import code_of
from devlint.records import replace
from devlint.semantics.ranks import is_rank_attribute, is_rank_variable, rank_call

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.interpreter.interpreter import Interpreter

_READS_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv"})


def of_call(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> Host | None:
    """``dist.get_rank()``, ``os.environ.get("RANK", 0)``; None for other calls.

    A fallback other than a literal, ``os.environ.get("RANK", local_rank)``, may be the index that is wanted.
    """
    if name in _READS_ENVIRONMENT:
        variable, fallback = site.argument("key", 0), site.argument("default", 1)
        told = fallback is None or isinstance(fallback.value, Constant)
        return _of_variable(interp, node, variable.value) if variable is not None and told else None
    known = rank_call(name)
    if known is None or site.unpacks:
        return None
    group = site.argument(known.group, 0) if known.group else None
    everyone = group is None or (isinstance(group.value, Constant) and group.value.value is None)
    return _read(interp, node, number=True) if everyone else None


def of_item(interp: Interpreter, node: cst.Subscript, owner: Value, key: object) -> Host | None:
    """``os.environ["RANK"]``."""
    if not isinstance(owner, Reference) or owner.name != "os.environ":
        return None
    return _of_variable(interp, node, Constant(key))


def of_attribute(interp: Interpreter, node: cst.Attribute, owner: Value) -> Host | None:
    """``accelerator.process_index``."""
    name = owner.name if isinstance(owner, Reference) else owner.type_name if isinstance(owner, Instance) else ""
    return _read(interp, node, number=True) if name and is_rank_attribute(f"{name}.{node.attr.value}") else None


def _of_variable(interp: Interpreter, node: cst.CSTNode, name: Value) -> Host | None:
    known = isinstance(name, Constant) and isinstance(name.value, str) and is_rank_variable(name.value)
    return _read(interp, node, number=False) if known else None


def _read(interp: Interpreter, node: cst.CSTNode, *, number: bool) -> Host:
    return Host(number=number, rank=Step(StepKind.GIVEN, node, interp.scope, UNKNOWN, code_of(node)))


def as_number(value: Value) -> Host | None:
    """``int(os.environ["RANK"])``."""
    return replace(value, number=True) if isinstance(value, Host) and value.rank is not None else None


def note_index(interp: Interpreter, value: Value, node: cst.CSTNode, sink: str) -> None:
    """Emit an event where the rank names an accelerator, as a number, in a list of numbers or inside of a string."""
    if isinstance(value, Container):
        for item in value.items:
            note_index(interp, item, node, sink)
    elif isinstance(value, (Host, DeviceName)) and value.rank is not None:
        interp.emit(RankAsIndex(node, interp.scope, value.rank, sink, isinstance(value, DeviceName), interp.arms))
