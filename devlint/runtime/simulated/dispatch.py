"""Below autograd: every aten call, forward and backward, is judged by what its tensors claim, run, and labelled.

The hot path is the first half of `__torch_dispatch__`: one dictionary look-up a tensor, and nothing is asked of the
judge as long as all claims agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.runtime.judging import Meeting, judge, reads_on_host
from devlint.runtime.labels import CPU, address_of, claim_of, claims, of_this_machine, set_device
from devlint.runtime.simulated.errors import NotSimulated, clash_error
from devlint.runtime.simulated.kinds import check_dtype
from devlint.runtime.simulated.lacking import run_wider
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import gradient_to
from devlint.semantics import Meets, Result, Rule

Tensor = torch.Tensor

_MIXED: Any = object()
_Device = torch._C.device
_aten = torch.ops.aten
_STAYS_ON_HOST: dict[Any, tuple[int, ...]] = {_aten._pack_padded_sequence.default: (1,)}
"""Outputs that are CPU tensors wherever the operands are."""


class JudgingMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Judges and labels what the dispatcher runs on this thread."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.machine = machine

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No wrapper around every call: under this mode `torch.compile` runs its function eagerly anyway."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        common: Any = None
        for value in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(value, Tensor):
                common = _join(common, value)
            elif isinstance(value, list | tuple):
                for item in value:
                    if isinstance(item, Tensor):
                        common = _join(common, item)
            elif isinstance(value, _Device) and value.type == self.machine.type:
                return self._asked_for(value, func, args, kwargs)
        if common is _MIXED or reads_on_host(func):
            return self._meet(func, args, kwargs)
        try:
            out = func(*args, **kwargs) if func.namespace != "prims" else self._bare(func, args, kwargs)
        except NotImplementedError as error:
            if common is None or common is CPU:
                raise
            out = run_wider(func, args, kwargs, error)
        if common is None:
            common = self._inside()
        if common is not CPU:
            _label(func, out, common)
        return out

    def _asked_for(self, asked: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """An operator that makes its result on the device it is told, and that no function of torch stands for."""
        here = [CPU if isinstance(value, _Device) else value for value in args]
        out = func(*here, **{name: CPU if isinstance(value, _Device) else value for name, value in kwargs.items()})
        place = self.machine.resolve(asked)
        for item in out if isinstance(out, list | tuple) else (out,):
            if isinstance(item, Tensor):
                set_device(item, place)
        return out

    def _bare(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """An operation that PyTorch has written in Python: it makes its result where its operands say they are."""
        local = self.machine.local
        local.bare = True
        try:
            return func(*args, **kwargs)
        finally:
            local.bare = False

    def _inside(self) -> torch.device:
        """Where a tensor belongs that a composite kernel makes for itself: with its first operand."""
        call = self.machine.local.call
        for value in call or ():
            if isinstance(value, Tensor):
                return self.machine.device_of(value)
            if isinstance(value, list | tuple) and value and isinstance(value[0], Tensor):
                return self.machine.device_of(value[0])
        return CPU

    def _meet(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if func is _aten._nested_view_from_jagged.default:
            raise NotSimulated("a nested tensor of the jagged layout")  # what it does itself runs below every mode
        meeting = judge(func, args, kwargs, self.machine.device_of)
        clash = meeting.clash
        if clash is not None:
            raise clash_error(func, meeting, clash)
        device = where_it_lands(meeting)
        _bring_gradients_back(meeting, device)
        out = func(*args, **kwargs)
        if meeting.operation.rule is Rule.PAIRWISE:
            _label_pairs(func, out, meeting)
        elif device.type == self.machine.type:
            _label(func, out, device)
        return out


def where_it_lands(meeting: Meeting) -> torch.device:
    """The device of the result of a call whose operands may meet."""
    if meeting.operation.result is Result.SELF and meeting.devices:
        return meeting.devices[0]
    if isinstance(meeting.verdict, Meets):
        return meeting.verdict.device or CPU
    # Unclear: a lone 0-dim tensor beside a list, or an operator with a check of its own.
    return next((d for d in meeting.devices if d != CPU), CPU)


def _join(common: Any, tensor: Tensor) -> Any:
    try:
        claim = claims.get(address_of(tensor))
    except RuntimeError:
        claim = claim_of(tensor)
    device = CPU if claim is None or claim.device is None else claim.device
    if common is None or common is device:
        return device
    return _MIXED


def _label(func: Any, out: Any, device: torch.device) -> None:
    if isinstance(out, Tensor):
        _label_one(out, device)
    elif isinstance(out, list | tuple):
        host = _STAYS_ON_HOST.get(func, ())
        for position, item in enumerate(out):
            if isinstance(item, Tensor):
                if position not in host:
                    _label_one(item, device)
            elif isinstance(item, list | tuple):
                _label(func, item, device)


def _label_pairs(func: Any, out: Any, meeting: Meeting) -> None:
    """`torch._foreach_*`: each result is where the tensors it was made of meet."""
    lists = [[meeting.devices[i] for i, r in enumerate(meeting.roles) if r == role] for role in set(meeting.roles)]
    for position, item in enumerate(out or ()):
        places = [devices[position] if len(devices) > 1 else devices[0] for devices in lists]
        device = next((place for place in places if place != CPU), CPU)
        if device != CPU:
            _label(func, item, device)


def _label_one(tensor: Tensor, device: torch.device) -> None:
    """Views and results written in place share a storage that claims its device already."""
    try:
        claim = claims.get(address_of(tensor))
    except RuntimeError:
        claim = None
    if claim is None or claim.device is None:
        check_dtype(tensor.dtype, device)
        set_device(tensor, device)


def _bring_gradients_back(meeting: Meeting, device: torch.device) -> None:
    """A legal mix (a 0-dim CPU operand): autograd's engine moves the 0-dim gradient to where its input is."""
    for value, place in zip(meeting.values, meeting.devices, strict=True):
        away = place != device and isinstance(value, Tensor) and value.requires_grad and value.dim() == 0
        hooked = getattr(value, "_devlint_hooked", None)
        if away and not (hooked and hooked()):
            value._devlint_hooked = is_there = of_this_machine()
            value.register_hook(partial(_gradient_back, place, is_there))


def _gradient_back(place: torch.device, is_there: Callable[[], bool], grad: Tensor) -> Tensor:
    return gradient_to(grad, place) if is_there() else grad
