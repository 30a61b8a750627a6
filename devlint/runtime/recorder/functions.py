"""The recorder at the program's own calls: transfers, errors with their repair, code that runs in backward."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from devlint.runtime.bodies import body_of
from devlint.runtime.frames import here
from devlint.runtime.recorder.clashes import Seized, kind_of, mark_repaired, record_meeting, repaired
from devlint.runtime.recorder.recorder import Recorder
from devlint.runtime.recorder.traces import Trace, set_trace, trace_of

Tensor = torch.Tensor
_TRANSFERS = frozenset((Tensor.to, Tensor.cuda, Tensor.cpu, Tensor.type_as, Tensor.type, Tensor.pin_memory, Tensor.xpu))
_RUNS_USER_CODE = frozenset((Tensor.backward, torch.autograd.grad))
_MOST_REPAIRS = 16


class RecordingFunctions(TorchFunctionMode):
    """Sees each torch call of the program before the machine below does."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        local = self.recorder.local
        if func in _RUNS_USER_CODE:
            before, local.in_call = local.in_call, False
            try:
                with self:
                    return (body_of(func) or func)(*args, **kwargs)
            finally:
                local.in_call = before
        before, local.in_call = local.in_call, True
        try:
            out = func(*args, **kwargs)
        except Exception as error:
            local.in_call = before
            out = self._failed(func, args, kwargs, error)
        finally:
            local.in_call = before
        if func in _TRANSFERS and isinstance(out, Tensor) and out is not args[0]:
            self._moved(args[0], out)
        return out

    def _moved(self, source: Tensor, result: Tensor) -> None:
        recorder = self.recorder
        if recorder.machine.device_of(source) == recorder.machine.device_of(result):
            return
        before = trace_of(source) or Trace()
        raw = here(3)
        set_trace(result, Trace(before.births, raw, raw, before.repaired))

    def _failed(self, func: Any, args: Any, kwargs: Any, error: Exception) -> Any:
        recorder = self.recorder
        for _ in range(_MOST_REPAIRS):
            seized: Seized | None = getattr(error, "_devlint_seized", None)
            kind = kind_of(str(error))
            if (kind is None and seized is None) or getattr(error, "_devlint_told", False):
                raise error
            kind = kind or "clash"
            error._devlint_told = True  # type: ignore[attr-defined]
            if seized is not None:
                record_meeting(recorder, seized, str(error))
            else:
                self._record_text(kind, func, args, kwargs, str(error))
            moved = repaired(recorder, seized, kind, args, kwargs) if recorder.repair else None
            if moved is None:
                raise error
            args, kwargs = moved
            recorder.local.in_call = True
            try:
                out = func(*args, **kwargs)
            except Exception as again:
                error = again
            else:
                mark_repaired(out)
                return out
            finally:
                recorder.local.in_call = False
        raise error

    def _record_text(self, kind: str, func: Any, args: Any, kwargs: Any, message: str) -> None:
        """An error raised before the dispatcher: every operand away from the others is shown."""
        recorder = self.recorder
        leaves = [t for t in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(t, Tensor)]
        stray = [t for t in leaves if (recorder.machine.device_of(t) == recorder.device) == (kind == "host-only")]
        others = [t for t in leaves if not any(t is s for s in stray)]
        operands = [("", t) for t in (*stray, *others)]
        judged = "judge" if recorder.machine.simulated else "device"
        recorder.emit(kind, operands, name_of_function(func), message, judged=judged)  # type: ignore[arg-type]


def name_of_function(func: Any) -> str:
    """ "torch.cat", "Tensor.numpy"."""
    name = str(getattr(func, "__qualname__", None) or getattr(func, "__name__", func))
    module = str(getattr(func, "__module__", None) or "")
    if hasattr(Tensor, name.rpartition(".")[2]) and name.startswith(("Tensor.", "TensorBase.", "_TensorBase.")):
        return "Tensor." + name.rpartition(".")[2]
    return f"{module}.{name}" if module.startswith("torch") else f"torch.{name.rpartition('.')[2]}"
