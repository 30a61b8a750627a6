"""Objects of libraries around PyTorch that place tensors: accelerators, tokenizers, tensordicts.

Source: accelerate 1.8 (``Accelerator.prepare``: models and batches go to ``accelerator.device``), transformers
(``return_tensors="pt"`` gives CPU tensors) and tensordict 0.15.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import (
    NOTHING,
    Constant,
    Container,
    DeviceName,
    Instance,
    Module,
    Opaque,
    UnknownValue,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, SameAs, Symbol
from devlint.placement.domain.provenance import StepKind
from devlint.placement.syntax.nodes import code_of

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Walk

ACCELERATOR = "accelerate.Accelerator"


def accelerator(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """``Accelerator()``: its ``device`` is wherever the process runs, the CPU only where there is nothing else."""
    kept_on_cpu = site.keyword("cpu")
    if site.unpacks or (kept_on_cpu is not None and kept_on_cpu.value != Constant(False)):
        return NOTHING
    return made_accelerator(walk, node, "accelerator")


def made_accelerator(walk: Walk, node: cst.CSTNode, name: str) -> Instance:
    """An Accelerator by its place in the source; two of them may be anywhere."""
    text = f"{name}.device"
    device = SameAs(Symbol(Anchor.EXPRESSION, text, f"{walk.scope.qualname}:{text}@{id(node)}"))
    return Instance(ACCELERATOR, device=device, node=node, details=(("device", DeviceName(device, None, text)),))


def of_accelerator(walk: Walk, node: cst.Call, receiver: Instance, name: str, site: CallSite) -> Value:
    """``prepare`` gives back what it is given, placed; what a prepared loader yields is placed too."""
    if name == "prepare":
        if site.unpacks or site.keyword("device_placement") is not None:
            return NOTHING
        placed = [_prepared(walk, node, receiver, a.value) for a in site.positional]
        return placed[0] if len(placed) == 1 else Container(tuple(placed), None, None, "tuple")
    if name in ("prepare_model", "prepare_data_loader") and site.positional:
        return _prepared(walk, node, receiver, site.positional[0].value)
    if name == "unwrap_model" and site.positional:
        return site.positional[0].value
    return NOTHING


def _prepared(walk: Walk, node: cst.Call, receiver: Instance, value: Value) -> Value:
    if not isinstance(value, (Module, Opaque, UnknownValue)):
        return value
    origin = walk.step(StepKind.MOVED, node, receiver.device, f"{code_of(node.func)}()", getattr(value, "origin", None))
    if isinstance(value, Module):
        return replace(value, device=receiver.device, origin=origin)
    return Opaque(receiver.device, origin)


def tensordict(walk: Walk, node: cst.Call, site: CallSite) -> Value:
    """``TensorDict({...})``: a transfer gives another one."""
    return Instance("tensordict.TensorDict", node=node)


def pretrained(walk: Walk, node: cst.Call, name: str, site: CallSite) -> Value | None:
    """``AutoModel.from_pretrained(...)``: a Module on the CPU, unless a device map spreads it; None for another call.

    Only ``BertModel`` and ``BertForMaskedLM`` are taken for one: tokenizers and processors are loaded the same way.
    """
    owner, _, method = name.rpartition(".")
    if method != "from_pretrained" or not owner.startswith("transformers."):
        return None
    last = owner.rsplit(".", 1)[-1]
    if not (last.startswith("AutoModel") or last.endswith("Model") or re.search("[a-z]For[A-Z]", last)):
        return None
    spread = site.unpacks or site.keyword("device_map") is not None or site.keyword("quantization_config") is not None
    device = UNKNOWN if spread else walk.state.factory_device
    return Module(device, owner, None, walk.step(StepKind.MADE, node, device, name), holds_state=True)


def encoding(walk: Walk, node: cst.Call, site: CallSite) -> Value | None:
    """``tokenizer(text, return_tensors="pt")``: a dict of tensors on the CPU; None for another call."""
    wanted = site.keyword("return_tensors")
    if wanted is None or not isinstance(wanted.value, Constant) or wanted.value.value != "pt":
        return None
    if site.keyword("device") is not None or site.unpacks:
        return None
    return Opaque(CPU, walk.step(StepKind.MADE, node, CPU, code_of(node.func)))
