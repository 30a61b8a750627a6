"""The recorder at the program's own calls: transfers, errors with their repair, code that runs in backward."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from devlint.runtime.bodies import body_of
from devlint.runtime.frames import caller
from devlint.runtime.labels import CPU
from devlint.runtime.recorder import streams, workers
from devlint.runtime.recorder.clashes import (
    Seized,
    asked_again,
    kind_of,
    mark_repaired,
    put_back,
    record_meeting,
    repaired,
)
from devlint.runtime.recorder.gradients import STARTS_BACKWARD, brought_beside
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.responsible import put_elsewhere
from devlint.runtime.recorder.results import names_a_place, told_to_be, written_by_host
from devlint.runtime.recorder.strays import tell_strays
from devlint.runtime.recorder.traces import trace_of
from devlint.runtime.recorder.transfers import moved, stayed

Tensor = torch.Tensor
Generator = torch._C.Generator
_TRANSFERS = frozenset((Tensor.to, Tensor.cuda, Tensor.cpu, Tensor.type_as, Tensor.type, Tensor.pin_memory, Tensor.xpu))
_MOST_REPAIRS = 16
_REPAIRED = frozenset(("clash", "index", "host-only", "generator"))


class RecordingFunctions(TorchFunctionMode):
    """Sees each torch call of the program before the machine below does."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        local = self.recorder.local
        if func is local.dispatched:
            return func(*args, **kwargs)  # No call of the program's: the dispatcher knows how to go on.
        if func in STARTS_BACKWARD:
            args, kwargs = brought_beside(self.recorder, func, args, kwargs)
            before, local.in_call = local.in_call, False
            given, local.given = local.given, None
            try:
                with self:
                    return (body_of(func) or func)(*args, **kwargs)
            finally:
                local.in_call, local.given = before, given
        if self.recorder.ordering.in_flight and func in streams.READS_MEMORY:
            streams.read_by_host(self.recorder, name_of_function(func), args[:1])
        before, local.in_call = local.in_call, True
        given, local.given = local.given, (func, args, kwargs)
        own = True
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            local.in_call = before
            out, own = self._failed(func, args, kwargs, error), False
        finally:
            local.in_call, local.given = before, given
        if local.strays and not before:
            tell_strays(self.recorder)
        if not own:
            return out
        if func in _TRANSFERS and out is args[0]:
            if names_a_place(func, args, kwargs):
                told_to_be(self.recorder, out)
            stayed(self.recorder, f"Tensor.{func.__name__}", out)
        elif func in _TRANSFERS and isinstance(out, Tensor):
            operation = f"Tensor.{func.__name__}"
            moved(self.recorder, operation, args[0], out)
            streams.moved(self.recorder, operation, args[0], out, not streams.asks_not_to_wait(args, kwargs))
            self._named(func, out)
        elif func is Tensor.copy_:
            self._copied(args)
        elif func is Tensor.__setitem__:
            written_by_host(self.recorder, args[0], args[2])
        elif "device" in kwargs and isinstance(out, Tensor):
            told_to_be(self.recorder, out)
            put_elsewhere(self.recorder, args, out)
            self.recorder.followed.made(kwargs["device"], out)
            self._named(func, out)
        return out

    def _copied(self, args: Any) -> None:
        """A copy into memory of the host is a way to bring a value there."""
        tensors, device_of = args[:2], self.recorder.machine.device_of
        if len(tensors) == 2 and all(isinstance(t, Tensor) for t in tensors):
            trace = trace_of(tensors[0])
            if trace is not None and device_of(tensors[0]) == CPU != device_of(tensors[1]):
                trace.hosted = True

    def _named(self, func: Any, result: Tensor) -> None:
        """A call that says where its result goes: to the device under test, to the CPU, or to another accelerator."""
        recorder = self.recorder
        device = recorder.machine.device_of(result)
        if device == recorder.device:
            if recorder.in_worker and not recorder.reached:
                workers.tell_used(recorder, caller(2))
            recorder.reached = True
        elif device.type == recorder.device.type:
            message = f"it is put on {device} while the run is on {recorder.device}"
            recorder.emit("elsewhere", [("", result)], name_of_function(func), message)

    def _failed(self, func: Any, args: Any, kwargs: Any, error: Exception) -> Any:
        recorder = self.recorder
        for _ in range(_MOST_REPAIRS):
            kind = kind_of(str(error))
            seized: Seized | None = getattr(error, "_devlint_seized", None)
            if seized is None and kind in _REPAIRED:
                seized = asked_again(recorder, func, args, kwargs)
            workers.tell_refused(recorder, error, caller(2))
            if (kind is None and seized is None) or getattr(error, "_devlint_told", False):
                raise error
            kind = kind or "clash"
            error._devlint_told = True  # type: ignore[attr-defined]
            if seized is not None:
                record_meeting(recorder, seized, str(error))
            else:
                self._record_text(kind, func, args, kwargs, str(error))
            brought = repaired(recorder, seized, kind, args, kwargs) if recorder.repair and kind in _REPAIRED else None
            if brought is None:
                raise error
            whole = kind == "host-only" and seized is None
            before, (args, kwargs) = args, brought
            recorder.local.in_call = True
            try:
                out = func(*args, **kwargs)
            except Exception as again:
                error = again
            else:
                out = put_back(recorder, out, before) if whole else out
                mark_repaired(out)
                return out
            finally:
                recorder.local.in_call = False
        raise error

    def _record_text(self, kind: str, func: Any, args: Any, kwargs: Any, message: str) -> None:
        """An error raised before the dispatcher: every operand away from the others is shown."""
        recorder = self.recorder
        leaves = torch.utils._pytree.tree_leaves((args, kwargs))
        generators = [leaf for leaf in leaves if isinstance(leaf, Generator) and kind == "generator"]
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        stray = [t for t in tensors if (recorder.machine.device_of(t) == recorder.device) == (kind == "host-only")]
        others = [] if kind == "host-only" else [t for t in tensors if not any(t is s for s in stray)]
        operands = [*(("generator", g) for g in generators), *(("", t) for t in (*stray, *others))]
        judged = "judge" if recorder.machine.simulated else "device"
        recorder.emit(kind, operands, name_of_function(func), message, judged=judged)  # type: ignore[arg-type]


def name_of_function(func: Any) -> str:
    """ "torch.cat", "Tensor.numpy"."""
    name = str(getattr(func, "__qualname__", None) or getattr(func, "__name__", func))
    module = str(getattr(func, "__module__", None) or "")
    bare = name.rpartition(".")[2]
    if name.startswith(("Tensor.", "TensorBase.", "_TensorBase.")):
        return f"Tensor.{bare}"
    known = module.startswith("torch") and "." not in name
    return f"{module}.{bare}" if known else f"torch.{bare}"
