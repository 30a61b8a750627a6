"""Objects that are told a device when they are built: ``Metric(device="cpu")``, as a user would write ``"cuda"`` there.

Such an object is built as if it had been told the accelerator. What its constructor makes there, or moves there, goes
where the object goes; what it makes without saying where stays behind, as the user's would.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch.utils.weak import WeakIdKeyDictionary

from devlint.runtime.labels import CPU, device_of
from devlint.runtime.lifting.devices import home_of
from devlint.runtime.lifting.reachable import all_in, objects_in, tensors_in
from devlint.runtime.recorder.traces import trace_of

_PARAMETER = "device"


class LeftBehind:
    """Remembers what constructors left on the CPU; `tensor in left_behind` asks.

    Only where tensors claim a device: copies are back on the CPU when a call is over, all alike.
    """

    def __init__(self, claims: bool) -> None:
        self._claims = claims
        self._tensors = WeakIdKeyDictionary()

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return tensor in self._tensors

    @contextlib.contextmanager
    def built(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tensors: list[torch.Tensor],
        device: torch.device | None,
    ) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Gives the arguments for a call. That of a constructor is told ``device``; ``tensors`` are what comes in."""
        told = _told_there(function, args, kwargs, device) if self._claims and device is not None else None
        if told is None or device is None:
            yield args, kwargs
            return
        try:
            yield told
            self._look_for_made(args[0], tensors)
        finally:
            _told_back(args[0], device)

    def look_at(self, unmoved: Any) -> None:
        """What a call has left on the CPU on an object that nobody moves."""
        for tensor in all_in(unmoved):
            if device_of(tensor) == CPU:
                self._tensors[tensor] = True

    def _look_for_made(self, built: Any, given: list[torch.Tensor]) -> None:
        known = {id(tensor) for tensor in given}
        for tensor in tensors_in(built):
            trace = trace_of(tensor)
            made = trace is not None and trace.made is not None and not (trace.hosted or trace.of_read)
            if id(tensor) not in known and made and device_of(tensor) == CPU:
                self._tensors[tensor] = True


def _told_there(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], device: torch.device
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of a constructor that is told the CPU, with the device instead; None for any other call."""
    if not _is_told(function):
        return None
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None  # it will say so itself
    before = bound.arguments.get(_PARAMETER, signature.parameters[_PARAMETER].default)
    if not isinstance(before, (str, torch.device)) or before not in (CPU, "cpu"):
        return None
    told = device if isinstance(before, torch.device) else str(device)
    if _PARAMETER not in bound.arguments:
        return args, {**kwargs, _PARAMETER: told}
    bound.arguments[_PARAMETER] = told
    return bound.args, bound.kwargs


@cache
def _is_told(function: Callable[..., Any]) -> bool:
    if getattr(function, "__name__", "") != "__init__":
        return False
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    told = parameters.get(_PARAMETER)
    return told is not None and told.kind in (told.POSITIONAL_OR_KEYWORD, told.KEYWORD_ONLY)


def _told_back(built: Any, device: torch.device) -> None:
    """What the object and its parts remember of the device is the CPU again, by which the program knows them."""
    home = home_of(device, simulated=True)
    for each in objects_in(built):
        attributes = each if isinstance(each, dict) else getattr(each, "__dict__", None)
        if not isinstance(attributes, dict) or isinstance(each, type | ModuleType):
            continue
        for name, value in list(attributes.items()):
            if isinstance(value, (torch.device, str)) and (named := home(value)) is not value:
                attributes[name] = named
