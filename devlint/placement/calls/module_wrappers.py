"""Functions that take a Module and return one: ``DataParallel``, ``compile``, ``weight_norm``; their device check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import (
    NOTHING,
    SCATTERS,
    Constant,
    Container,
    DeviceName,
    Module,
    Tensor,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.events import DeviceMismatch, DeviceNamed, MismatchOperand, Sink
from devlint.placement.domain.lattice import UNKNOWN, Device, Known, is_accelerator
from devlint.placement.domain.provenance import StepKind
from devlint.placement.state.devices import resolve_device
from devlint.placement.state.ranks import note_index
from devlint.records import replace
from devlint.semantics import Clash, Operation, Relation, Rule

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter

WRAPPERS = {
    "torch.nn.DataParallel": "scatters",
    "torch.nn.parallel.DataParallel": "scatters",
    "torch.nn.parallel.DistributedDataParallel": "scatters",
    "torch.nn.parallel.distributed.DistributedDataParallel": "scatters",
    "torch.distributed.fsdp.FullyShardedDataParallel": "scatters",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel": "scatters",
    "torch_geometric.nn.DataParallel": "scatters",
    "torch_geometric.nn.data_parallel.DataParallel": "scatters",
    "torch.distributed.fsdp.fully_shard": "",
    "torch.compile": "",
    "torch.jit.script": "",
    "torch.nn.utils.weight_norm": "",
    "torch.nn.utils.spectral_norm": "",
    "torch.nn.utils.parametrizations.weight_norm": "",
    "torch.nn.utils.parametrizations.spectral_norm": "",
}
"""Functions and classes that wrap a Module; ``scatters``: its inputs may be on any device."""


def wrap(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> Value:
    """The wrapped Module; emits a mismatch if it is not on the first of ``device_ids``."""
    inner = site.positional[0].value
    device_ids, placed = site.argument("device_ids", 1), site.keyword("device_id")
    for named in (device_ids, placed):
        if named is not None and WRAPPERS[name] == "scatters":
            note_index(interp, named.value, named.node, Sink.DEVICE_IDS)
    if not isinstance(inner, Module):
        if WRAPPERS[name] == "scatters":
            return Module(UNKNOWN, SCATTERS)
        return inner if name in ("torch.compile", "torch.jit.script") else NOTHING
    if WRAPPERS[name] != "scatters":
        return inner
    first = _first_device(interp, device_ids.value, device_ids.node, site) if device_ids is not None else None
    if placed is not None and name.endswith("FullyShardedDataParallel"):
        inner = replace(inner, device=resolve_device(interp, placed.value, placed.node, Sink.ARGUMENT, site))
    if first is not None and interp.relate(first, inner.device) is Relation.DIFFERENT and is_accelerator(inner.device):
        _report_wrapper(interp, node, site, inner, first)
    return Module(inner.device, SCATTERS, None, inner.provenance, (inner,))


def _first_device(interp: Interpreter, value: Value, node: cst.BaseExpression, site: CallSite) -> Device | None:
    if not isinstance(value, Container):
        return None
    count = _counted(node)
    if count:
        last = f"cuda:{count - 1}"
        interp.emit(
            DeviceNamed(node, interp.scope, last, Sink.DEVICE_IDS, None, site, interp.under_device_guard, interp.arms)
        )
        return Known("cuda", 0)
    devices = [
        resolve_device(interp, item, node, Sink.DEVICE_IDS, site)
        if isinstance(item, (Constant, DeviceName))
        else UNKNOWN
        for item in value.items
    ]
    return devices[0] if devices else None


def _counted(node: cst.BaseExpression) -> int:
    """The number in ``range(2)`` and ``list(range(2))``; 0 for anything else."""
    while isinstance(node, cst.Call) and len(node.args) == 1 and isinstance(node.func, cst.Name):
        if node.func.value == "range" and isinstance(node.args[0].value, cst.Integer):
            return int(node.args[0].value.value, 0)
        if node.func.value not in ("list", "tuple"):
            return 0
        node = node.args[0].value
    return 0


WRAPPER_OPERATION = Operation("torch.nn.DataParallel", Rule.OWN_CHECK, clash="data_parallel")


def _report_wrapper(interp: Interpreter, node: cst.Call, site: CallSite, inner: Module, first: Device) -> None:
    """Emit a mismatch: the module must be on ``device_ids[0]``."""
    module = MismatchOperand("module", Tensor(inner.device, provenance=inner.provenance), site.positional[0].node)
    ids = site.argument("device_ids", 1)
    assert ids is not None
    wanted = MismatchOperand(
        "device_ids", Tensor(first, provenance=interp.step(StepKind.GIVEN, ids.node, first)), ids.node
    )
    clash: Clash[Device] = Clash("data_parallel", 0, 1, "")
    interp.emit(
        DeviceMismatch(
            node,
            interp.scope,
            WRAPPER_OPERATION,
            (module, wanted),
            clash,
            module,
            wanted,
            "module",
            site.positional[0].node,
        )
    )
