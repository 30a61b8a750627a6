"""Transfers: their results that nobody reads, parameters they lose, and the same copy made again and again."""

from __future__ import annotations

import dis
from functools import cache
from types import CodeType, FrameType

import torch

from devlint.runtime.frames import RawSpot, caller, is_user_code, past_modes, user_frames
from devlint.runtime.labels import CPU
from devlint.runtime.observation import Seen
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import Trace, seen, set_trace, trace_of

Tensor = torch.Tensor

_CALLS = ("CALL", "PRECALL", "CALL_FUNCTION_EX", "CALL_KW", "CALL_FUNCTION", "CALL_METHOD")
_KEPT_IN_A_NAME = ("STORE_FAST", "STORE_NAME", "STORE_DEREF", "STORE_GLOBAL")


@cache
def _instructions(code: CodeType) -> tuple[dict[int, int], list[dis.Instruction]]:
    """Offset -> position, and a code object's instructions without caches."""
    found = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "NOP")]
    return {i.offset: n for n, i in enumerate(found)}, found


def what_follows(frame: FrameType) -> list[dis.Instruction]:
    """The next instructions after the call a frame is in."""
    positions, found = _instructions(frame.f_code)
    at = positions.get(frame.f_lasti)
    if at is None or not found[at].opname.startswith(_CALLS):
        return []
    return found[at + 1 : at + 4]


@cache
def is_never_read(code: CodeType, store: dis.Instruction) -> bool:
    """Whether nothing reads the name an instruction stores into. In a loop an earlier line reads it, too."""
    if store.opname == "STORE_DEREF":
        return False
    instructions = _instructions(code)[1]
    loops = [i for i in instructions if "JUMP_BACKWARD" in i.opname and i.argval < store.offset < i.offset]
    start = min((i.argval for i in loops), default=store.offset)
    line = _line_of(instructions, store)
    for i in instructions:
        loads = i.opname.startswith("LOAD") and store.argval in (
            i.argval if isinstance(i.argval, tuple) else (i.argval,)
        )
        before = i.offset < store.offset
        if loads and i.offset >= start and not (before and _line_of(instructions, i) == line):
            return False
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return store.opname == "STORE_FAST" or not any(_mentions(c, str(store.argval)) for c in inner)


def _line_of(instructions: list[dis.Instruction], wanted: dis.Instruction) -> int | None:
    return wanted.positions.lineno if wanted.positions is not None else None


def _mentions(code: CodeType, name: str) -> bool:
    return name in code.co_names or any(_mentions(c, name) for c in code.co_consts if isinstance(c, CodeType))


def moved(recorder: Recorder, operation: str, source: Tensor, result: Tensor) -> None:
    """A transfer made a new tensor: trace it, and look at what the program does with it."""
    before, after = recorder.machine.device_of(source), recorder.machine.device_of(result)
    if before == after and operation != "Tensor.pin_memory":
        return
    trace = trace_of(source) or Trace()
    asking = past_modes(caller(2))
    frame = next(user_frames(asking), None)
    raw: RawSpot | None = None if frame is None else (frame.f_code, frame.f_lasti)
    set_trace(result, Trace(trace.births, raw, raw, trace.repaired, trace.hosted or before != CPU))
    if frame is None or recorder.local.quiet:
        return
    if before != after:
        recorder.counts.copied(frame, before, after, trace)
    if before != CPU and after == CPU:
        recorder.local.has_read = True
        recorder.counts.synchronised(frame, operation)
    if frame is not asking:
        return  # torch's own code moves it, as `Module.to` does its parameters: what is thrown away is another result
    if died := _how_it_dies(frame):
        tell_discarded(recorder, operation, frame, seen(source, before, "self"), died)
    following = what_follows(frame)
    if isinstance(source, torch.nn.Parameter) and not result.is_leaf and _is_lost(frame, following, source):
        message = "the result of moving a parameter is no parameter: it is in no module and an optimizer refuses it"
        recorder.say("lost-parameter", frame, (seen(source, before, "self"),), operation, message)


def _how_it_dies(frame: FrameType) -> str:
    """How nobody reads the result of the call that the frame is in; empty if somebody may."""
    following = what_follows(frame)
    if following and following[0].opname == "POP_TOP":
        return "statement"
    if following and following[0].opname in _KEPT_IN_A_NAME and is_never_read(frame.f_code, following[0]):
        return "unread"
    return ""


def stayed(recorder: Recorder, operation: str, tensor: Tensor) -> None:
    """A transfer had nothing to do: that nobody reads its result shows nowhere, and may on another device.

    Where it is read, the transfer says where the tensor belongs, as one that moves does: ``x.to(other.device)``.
    """
    frame = past_modes(caller(2))
    if recorder.local.quiet or frame is None or not is_user_code(frame.f_code.co_filename):
        return
    if died := _how_it_dies(frame):
        device = recorder.machine.device_of(tensor)
        message = f"the tensor was on {device} already"
        recorder.say("stayed", frame, (seen(tensor, device, "self"),), operation, message, detail=died)
        return
    trace = trace_of(tensor)
    if trace is not None and trace.moved is None:
        trace.moved = (frame.f_code, frame.f_lasti)


def tell_discarded(recorder: Recorder, operation: str, frame: FrameType, operand: Seen, detail: str) -> None:
    message = f"{operation} returns a new tensor, which nobody reads; its receiver stays as it is on {operand.device}"
    recorder.say("discarded-transfer", frame, (operand,), operation, message, detail=detail)


def _is_lost(frame: FrameType, following: list[dis.Instruction], source: Tensor) -> bool:
    """The result is stored, and nothing but the graph holds the parameter."""
    stored = any(i.opname.startswith("STORE_") for i in following)
    if not stored:
        return False
    for user in user_frames(frame):
        for value in user.f_locals.values():
            if value is source:
                return False
            if isinstance(value, torch.nn.Module) and any(p is source for p in value.parameters()):
                return False
    return True
