"""Clashes as they are recorded: what the judge saw, what the error text says, and how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from devlint.runtime.judging import Meeting, judge_named
from devlint.runtime.labels import CPU, address_of
from devlint.runtime.observation import Judged
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import Trace, set_trace, trace_of
from devlint.runtime.simulated.checks import checked_functions, named_operands
from devlint.semantics import classify

Tensor = torch.Tensor

_KIND = {
    "index_device": "index",
    "index_put_value": "index",
    "index_family": "index",
    "generator": "generator",
    "deserialize": "load",
    "device_string": "invalid-device",
    "negative_index": "invalid-device",
    "legacy_ctor": "invalid-device",
    "invalid_ordinal": "invalid-device",
    "invalid_device_id": "invalid-device",
}
_BY_CATEGORY = {"device_mismatch": "clash", "needs_cpu": "host-only", "needs_gpu": "clash"}


@dataclass(frozen=True, slots=True)
class Seized:
    """What the recorder hangs on the exception of a judged clash, for the torch call around it."""

    func: Any
    meeting: Meeting
    judged: Judged


def kind_of(message: str) -> str | None:
    """The kind of observation an error text is about; None when it is no device error."""
    found = classify(message)
    if found is None:
        return None
    return _KIND.get(found.kind) or _BY_CATEGORY.get(found.category)


def asked_again(recorder: Recorder, func: Any, args: Any, kwargs: Any) -> Seized | None:
    """What the judge says of a call that failed before anything was dispatched; None where it sees no clash."""
    operation = checked_functions().get(func)
    if operation is None:
        return None
    meeting = judge_named(operation, list(named_operands(operation, args, kwargs)), recorder.machine.device_of)
    return None if meeting.clash is None else Seized(func, meeting, recorder.machine.verdict(meeting, refused=True))


def record_meeting(recorder: Recorder, seized: Seized, message: str) -> None:
    """Report a clash between operands the judge has seen."""
    meeting, clash = seized.meeting, seized.meeting.clash
    kind = "disagreement" if seized.judged == "disagree" else kind_of(message) or "clash"
    pairs = list(zip(meeting.roles, meeting.values, strict=True))
    chosen = list(range(len(pairs))) if clash is None else [i for i in (clash.operand, clash.other) if i is not None]
    chosen += [i for i in range(len(pairs)) if i not in chosen and _clashes_alone(recorder, meeting, i)]
    operands = [pairs[i] for i in chosen if isinstance(pairs[i][1], Tensor)]
    recorder.emit(kind, operands, meeting.operation.name, message, judged=seized.judged)


def _clashes_alone(recorder: Recorder, meeting: Meeting, number: int) -> bool:
    """Whether an operand is away from the device, and would clash if it alone were."""
    device, value = meeting.devices[number], meeting.values[number]
    if device == recorder.device:
        return False
    named = list(zip(meeting.roles, meeting.values, strict=True))
    alone = judge_named(meeting.operation, named, lambda other: device if other is value else recorder.device)
    return alone.clash is not None


def repaired(
    recorder: Recorder, seized: Seized | None, kind: str, args: Any, kwargs: Any, *, backward: bool = False
) -> tuple[Any, Any] | None:
    """The call's arguments with the stray operand brought over; None when nothing can be moved.

    ``backward``: autograd makes the call, and wants what it reads by an index to stay where the gradient is.
    """
    if kind == "generator" and "generator" in kwargs:
        return args, {**kwargs, "generator": None}
    leaves, spec = tree_flatten((args, kwargs))
    target, addresses = _plan(recorder, seized, kind, leaves, backward)
    with recorder.quiet():
        moved = [
            recorder.machine.move(leaf, target) if _is_stray(recorder, leaf, target, addresses) else leaf
            for leaf in leaves
        ]
    if all(a is b for a, b in zip(moved, leaves, strict=True)):
        return None
    new_args, new_kwargs = tree_unflatten(moved, spec)
    return new_args, new_kwargs


def mark_repaired(result: Any) -> None:
    """What comes out of a repaired call tells nothing for certain about devices any more."""
    for leaf in tree_flatten(result)[0]:
        if isinstance(leaf, Tensor):
            trace = trace_of(leaf)
            if trace is None:
                set_trace(leaf, Trace(repaired=True))
            else:
                trace.repaired = True


def put_back(recorder: Recorder, result: Any, args: Any) -> Any:
    """The result of a call that was run on the host instead: where its operand is, as a repair puts nothing there."""
    devices = [recorder.machine.device_of(leaf) for leaf in tree_flatten(args)[0] if isinstance(leaf, Tensor)]
    if recorder.device not in devices:
        return result
    with recorder.quiet():
        return tree_map_only(Tensor, lambda tensor: recorder.machine.move(tensor, recorder.device), result)


def _plan(
    recorder: Recorder, seized: Seized | None, kind: str, leaves: Sequence[Any], backward: bool
) -> tuple[torch.device, set[int] | None]:
    """Where everything should be, and the storages to bring there (None: whatever is elsewhere)."""
    clash = None if seized is None else seized.meeting.clash
    if kind == "host-only":
        wanted = None if seized is None or clash is None else {_address(seized.meeting.values[clash.operand])}
        return CPU, wanted
    if backward and kind == "index" and seized is not None:
        return seized.meeting.devices[0], None
    if seized is None or clash is None or clash.other is None:
        return recorder.device, None
    devices, values = seized.meeting.devices, seized.meeting.values
    stray, other = clash.operand, clash.other
    written = _written(seized)
    if written is not None:
        target, away = devices[written], [i for i in (stray, other) if devices[i] != devices[written]]
    else:
        target = recorder.device if recorder.device in (devices[stray], devices[other]) else devices[other]
        away = [i for i in (stray, other) if devices[i] != target]
    addresses = {_address(values[i]) for i in away if isinstance(values[i], Tensor)}
    if not any(_address(leaf) in addresses for leaf in leaves if isinstance(leaf, Tensor)):
        return target, None
    return target, addresses


def _written(seized: Seized) -> int | None:
    """The operand that is written into and so cannot be replaced by a copy."""
    meeting = seized.meeting
    for i, role in enumerate(meeting.roles):
        if role == "out" or (meeting.operation.in_place and i == 0):
            return i
    return None


def _is_stray(recorder: Recorder, leaf: Any, target: torch.device, addresses: set[int] | None) -> bool:
    if not isinstance(leaf, Tensor) or recorder.machine.device_of(leaf) == target:
        return False
    return addresses is None or _address(leaf) in addresses


def _address(tensor: Tensor) -> int:
    try:
        return int(address_of(tensor))
    except RuntimeError:
        return id(tensor)
