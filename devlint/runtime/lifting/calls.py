"""Every outermost call of a module, lifted."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils.weak import WeakIdKeyDictionary

from devlint.runtime.failure import is_about_devices, words_of
from devlint.runtime.frames import RawSpot
from devlint.runtime.labels import device_of, set_device
from devlint.runtime.lifting.arrangement import TOGETHER, Arrangement, is_initialised
from devlint.runtime.lifting.callbacks import IsTest, asked_by_test
from devlint.runtime.lifting.copies import Copies
from devlint.runtime.lifting.devices import brought_back, devices_back, devices_of_holders, devices_of_movers, home_of
from devlint.runtime.lifting.handed_in import HandedIn
from devlint.runtime.lifting.reachable import is_given_tensors, kept_plainly, tensors_in
from devlint.runtime.lifting.snapshot import Snapshot
from devlint.runtime.lifting.split import SplitModels
from devlint.runtime.lifting.targets import is_building, replaced
from devlint.runtime.lifting.told import LeftBehind
from devlint.runtime.observation import Observation
from devlint.runtime.recorder.failures import observation_of
from devlint.runtime.recorder.traces import Trace, set_trace
from devlint.runtime.session import Machine, Session, observe
from devlint.runtime.simulated import NotSimulated
from devlint.runtime.simulated.kinds import refusal

CPU = torch.device("cpu")


class NotLifted(Exception):
    """Why a call runs as it always did."""


class _Local(threading.local):
    lifting = False


class Lifter:
    """Lifts while it is ``active``; ``sink`` is told what is observed, the counters what was done.

    ``arrangement``: where the parts of a call are, if not all on the device. On a simulated machine the tensors of a
    call claim its device while it runs, on a real one there are copies of them.
    """

    def __init__(
        self,
        sink: Callable[[Observation], None],
        machine: Machine,
        device: torch.device,
        is_test: IsTest = lambda path: False,
        arrangement: Arrangement = TOGETHER,
    ) -> None:
        self.lifted = 0
        self.not_lifted = Counter[str]()
        self._sink = sink
        self._local = _Local()
        self._machine = machine
        self._device = device
        self._is_test = is_test
        self.arrangement = arrangement
        self._one_at_a_time = threading.Lock()
        self._call_of_modules: Any = None
        self._split: SplitModels | None = None
        self._born_lifted = WeakIdKeyDictionary()
        self._handed_in = HandedIn()
        self._left_behind = LeftBehind(machine.simulated)

    @contextlib.contextmanager
    def active(self, more: tuple[tuple[Any, str], ...] = ()) -> Iterator[None]:
        """Lift every module's outermost call, and calls of ``more``: functions by owner and name."""
        unmoved = self.arrangement.constructors() if self._machine.simulated else ()
        targets: list[tuple[Any, str]] = list(dict.fromkeys([(nn.Module, "__call__"), *more, *unmoved]))
        before = [vars(owner)[name] for owner, name in targets]
        self._split = SplitModels(more) if self.arrangement.split else None
        self._call_of_modules = before[0]
        for (owner, name), function in zip(targets, before, strict=True):
            is_lifted = not is_building((owner, name)) or self.arrangement.builds_unmoved((owner, name))
            wrap = self._lifting if is_lifted else self._building
            setattr(owner, name, replaced(function, wrap))
        try:
            with self._handed_in.followed():
                yield
        finally:
            for (owner, name), function in zip(targets, before, strict=True):
                setattr(owner, name, function)

    def _lifting(self, function: Any) -> Any:
        lifter = self
        split = self._split if function is self._call_of_modules else None

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if lifter._local.lifting:
                return split.call(function, args, kwargs) if split is not None else function(*args, **kwargs)
            with split.inside(args[0]) if split is not None else contextlib.nullcontext():
                return lifter._call(function, args, kwargs)

        return call

    def _building(self, function: Any) -> Any:
        """What builds a Module calls methods of it as well; none of them is lifted before it is built and moved."""
        local = self._local

        @functools.wraps(function)
        def build(*args: Any, **kwargs: Any) -> Any:
            before, local.lifting = local.lifting, True
            try:
                return function(*args, **kwargs)
            finally:
                local.lifting = before

        return build

    def _call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._one_at_a_time.acquire(blocking=False):
            self.not_lifted["another thread was in a lifted call"] += 1
            return function(*args, **kwargs)
        self._local.lifting = True
        try:
            modules = [v for v in (*args, *kwargs.values()) if isinstance(v, nn.Module) and is_initialised(v)]
            holders: list[dict[str, Any]] = []
            data, is_unmoved = self.arrangement.data, self.arrangement.is_unmoved
            found = tensors_in(*args, *kwargs.values(), holders=holders, data=data, is_unmoved=is_unmoved)
            left = {id(tensor): tensor for tensor in tensors_in(*self.arrangement.left(function, args, kwargs))}
            tensors = [tensor for tensor in found if tensor not in self._left_behind and id(tensor) not in left]
            _check(modules, tensors, self._device)
            snapshot = Snapshot(modules, tensors)
            modules = [module for module in modules if not is_unmoved(module)]
            for tensor in left.values():
                set_trace(tensor, Trace(births=((_code_of(function), 0),)))
        except NotLifted as reason:
            self.not_lifted[str(reason)] += 1
            return function(*args, **kwargs)
        else:
            return self._lifted_call(function, args, kwargs, modules, tensors, holders, snapshot)
        finally:
            self._local.lifting = False
            self._one_at_a_time.release()

    def _lifted_call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        modules: list[nn.Module],
        tensors: list[torch.Tensor],
        holders: list[dict[str, Any]],
        snapshot: Snapshot,
    ) -> Any:
        seen: list[Observation] = []
        is_left = bool(args) and self.arrangement.is_unmoved(args[0])
        try:
            with (
                self.arrangement.around(self._device),
                observe(self._machine, seen.append, device=self._device, asker=self._asker) as session,
                devices_of_movers(modules, CPU, self._device),
                devices_of_holders(holders, CPU, self._device),
            ):
                self._mark_kept(modules, tensors)
                run = self._with_claims if self._machine.simulated else self._with_copies
                place = None if is_left else self._device
                with self._left_behind.built(function, args, kwargs, tensors, place) as (given, named):
                    result = run(session, function, given, named, modules, tensors)
        except Exception as error:
            snapshot.restore()
            result = function(*args, **kwargs)  # raises what the program itself raises
            told = observation_of(error)
            if told is not None and is_about_devices(error) and not isinstance(error, NotSimulated):
                seen.append(told)
            self.not_lifted[words_of(error)] += 1
        else:
            self.lifted += 1
        for observation in seen:
            # What is made or computed on the CPU in passing is told where it is met, or handed back.
            if observation.kind != "strayed" or observation.detail == "output":
                self._sink(observation)
        back = home_of(self._device, self._machine.simulated)
        devices_back(modules, back)
        return brought_back(result, back)

    def _asker(self, frame: FrameType | None) -> RawSpot | None:
        is_unmoved = self.arrangement.is_unmoved
        return asked_by_test(frame, Lifter._lifted_call.__code__, self._is_test, is_unmoved)

    def _with_claims(
        self,
        session: Session,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        modules: list[nn.Module],
        tensors: list[torch.Tensor],
    ) -> Any:
        """On a simulated machine: the same tensors, which say that they are there."""
        for tensor in (*tensors, *self._left_there(modules)):
            set_device(tensor, session.device)
        result = self._seen_by_session(function)(*args, **kwargs)
        self._look_at(session, function, (args, kwargs), result)
        for tensor in _kept_by(modules):
            if device_of(tensor) == self._device:
                self._born_lifted[tensor] = True
        for value in (*args, *kwargs.values()):
            if self.arrangement.is_unmoved(value):
                self._left_behind.look_at(value)
        return result

    def _with_copies(
        self,
        session: Session,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        modules: list[nn.Module],
        tensors: list[torch.Tensor],
    ) -> Any:
        """On a real machine."""
        buffers = [buffer for module in modules for buffer in module.buffers()]
        copies = Copies((*tensors, *self._left_there(modules)), buffers, self._device, session.move)
        before = {id(tensor) for tensor in _kept_by(modules)}
        try:
            result = self._seen_by_session(function)(*copies.sent(args), **copies.sent(kwargs))
            self._look_at(session, function, (args, kwargs), result)
            copies.write_back()
        finally:
            copies.back((args, kwargs))
        for tensor in _kept_by(modules):
            if id(tensor) not in before:
                self._born_lifted[tensor] = True
        return copies.back(result)

    def _seen_by_session(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The call of a module goes by way of the session, which looks at what the outermost one hands back."""
        return nn.Module.__call__ if function is self._call_of_modules else function

    def _look_at(self, session: Session, function: Any, given: Any, result: Any) -> None:
        """What a function hands back. Of a module's call the session sees what is a defect with any user."""
        strict, name = self.arrangement.results, getattr(function, "__qualname__", "it")
        if function is self._call_of_modules:
            if not strict:
                return
            name = f"{type(given[0][0]).__qualname__}.__call__"
        if is_given_tensors(*given):
            session.returned(name, result, strict)

    def _left_there(self, modules: list[nn.Module]) -> list[torch.Tensor]:
        """What an earlier call left on its modules lies where that call put it."""
        return [tensor for tensor in _kept_by(modules) if tensor in self._born_lifted]

    def _mark_kept(self, modules: list[nn.Module], tensors: list[torch.Tensor]) -> None:
        """Mark what stays behind with the class that holds it: where it was made is not known any more."""
        moved = {id(tensor) for tensor in (*tensors, *self._left_there(modules))}
        for part in (part for module in modules for part in module.modules()):
            for _, tensor in kept_plainly(part):
                if id(tensor) not in moved and tensor not in self._handed_in:
                    set_trace(tensor, Trace(births=((_code_of(type(part).__init__), 0),)))


def _code_of(function: Any) -> CodeType:
    """Of the function itself, where what is lifted stands for it."""
    code: CodeType = inspect.unwrap(function).__code__
    return code


def _kept_by(modules: list[nn.Module]) -> list[torch.Tensor]:
    parts = (part for module in modules for part in module.modules())
    return [tensor for part in parts for _, tensor in kept_plainly(part)]


def _check(modules: list[nn.Module], tensors: list[torch.Tensor], device: torch.device) -> None:
    """Raises NotLifted for calls that are not what they seem (traced, compiled, under other modes, elsewhere), and for
    those whose tensors cannot be on the device."""
    if any(isinstance(module, torch.jit.ScriptModule) for module in modules):
        raise NotLifted("scripted modules are not simulated")
    if torch._C._get_tracing_state() is not None or torch.compiler.is_compiling():
        raise NotLifted("the call is being traced or compiled")
    if _get_current_dispatch_mode() is not None or torch._C._len_torch_function_stack():
        raise NotLifted("the call runs under another mode or device context")
    if torch._C._functorch.peek_interpreter_stack() is not None:
        raise NotLifted("the call is being transformed (vmap, grad)")
    elsewhere = next((tensor.device.type for tensor in tensors if tensor.device.type != "cpu"), None)
    if elsewhere:
        raise NotLifted(f"the program itself uses {elsewhere}")
    lacking = next((tensor.dtype for tensor in tensors if refusal(tensor.dtype, device)), None)
    if lacking is not None:
        raise NotLifted(f"{device.type} has no tensors of {lacking}")
