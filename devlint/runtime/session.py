"""One observed run: a machine, the recorder on top of it, and what the caller may ask of both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

import torch
from torch.utils._pytree import tree_map

from devlint.runtime import graph_hooks, threads
from devlint.runtime.judging import Meeting
from devlint.runtime.observation import Judged, Observation
from devlint.runtime.patching import Patches
from devlint.runtime.recorder import loading, modules, optimizers, streams, workers
from devlint.runtime.recorder.dispatch import RecordingDispatch
from devlint.runtime.recorder.failures import observation_of
from devlint.runtime.recorder.functions import RecordingFunctions
from devlint.runtime.recorder.recorder import Asker, Recorder, Sink
from devlint.runtime.recorder.results import look_at_returned

T = TypeVar("T")
M = TypeVar("M")
A = TypeVar("A")
K = TypeVar("K")

_SEVERAL = 2


class Machine(Protocol):
    """Where a program runs: `SimulatedMachine` or `RealMachine`."""

    simulated: bool

    def running(self) -> AbstractContextManager[Any]:
        """The body runs on this machine; everything is put back on leaving."""

    def resolve(self, device: Any) -> torch.device:
        """The device a string, index or `torch.device` means here, with its index."""

    def device_of(self, value: Any) -> torch.device:
        """Where a tensor or generator is, or claims to be."""

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        """Whether a CPU tensor is in page-locked memory, or claims to be."""

    def move(self, tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        """A copy on that device (the tensor itself when it is there); differentiable."""

    def verdict(self, meeting: Meeting, refused: bool) -> Judged:
        """Who says that a meeting is a clash, when the machine refused it or took it."""


class Session:
    """What runs inside `observe`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    @property
    def device(self) -> torch.device:
        """The accelerator under test, with its index."""
        return self._recorder.device

    @property
    def reached_device(self) -> bool:
        """Whether any operation has had an operand on `device` so far."""
        return self._recorder.reached

    def lift(self, tree: T) -> T:
        """A module (moved in place) or any pytree of tensors and modules, put on `device`.

        Only what a module leaves behind is observed, since that is the program's doing.
        """

        def put(leaf: Any) -> Any:
            if isinstance(leaf, torch.nn.Module):
                leaf.to(self.device)
                return leaf
            return self._recorder.machine.move(leaf, self.device) if isinstance(leaf, torch.Tensor) else leaf

        with self._recorder.quiet():
            lifted: T = tree_map(put, tree)
        return lifted

    def lift_call(self, model: M, args: A, kwargs: K) -> tuple[M, A, K]:
        """A model with its inputs. One that was built on several accelerators, of which `device` is the first, stays as
        it is: what is on the CPU of its inputs goes there."""
        device_of = self._recorder.machine.device_of
        own = [*model.parameters(), *model.buffers()] if isinstance(model, torch.nn.Module) else []
        places = list(dict.fromkeys(map(device_of, own)))
        accelerators = {place for place in places if place.type == self.device.type}
        if len(accelerators) < _SEVERAL or places[0] != self.device:
            return self.lift(model), self.lift(args), self.lift(kwargs)

        def put(leaf: Any) -> Any:
            is_here = isinstance(leaf, torch.Tensor) and device_of(leaf).type == "cpu"
            return self.move(leaf, self.device) if is_here else leaf

        given: tuple[A, K] = tree_map(put, (args, kwargs))
        return model, *given

    def move(self, tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
        """A differentiable copy there, which is not the program's doing and so not observed."""
        with self._recorder.quiet():
            moved: torch.Tensor = self._recorder.machine.move(tensor, device)
        return moved

    def returned(self, name: str, result: Any, strict: bool = False) -> None:
        """What a function that was given tensors on `device` hands back. ``strict``: all of it belongs there too."""
        look_at_returned(self._recorder, name, result, strict)

    def failed(self, error: BaseException) -> Observation | None:
        """Tell the sink of an exception that left the program; None for one that was told when it was raised."""
        observation = observation_of(error)
        if observation is not None:
            self._recorder.sink(observation)
        return observation

    def finish(self) -> None:
        """Tell what is known only at the end of the run: how often things were copied and waited for."""
        self._recorder.tell_counts()


@contextmanager
def observe(
    machine: Machine, sink: Sink, *, device: torch.device | str, repair: bool = True, asker: Asker | None = None
) -> Iterator[Session]:
    """Run the body on `machine` and hand what happens to `sink`, each distinct observation once, as it happens.

    With `repair` an operand that clashes is brought over and the run goes on; what derives from it is marked.
    Without, the device's own error is raised after it was recorded. The caller puts its model and inputs on `device`
    (`Session.lift`, or `.to(device)` in the program itself).
    """
    with machine.running():
        recorder = Recorder(machine, sink, machine.resolve(device), repair, asker)
        session = Session(recorder)
        patches = Patches()

        @contextmanager
        def recording() -> Iterator[None]:
            with RecordingFunctions(recorder), RecordingDispatch(recorder):
                yield

        if machine.simulated:
            machine.mends = recorder.mends  # type: ignore[attr-defined]
            machine.answered = recorder.followed.answered  # type: ignore[attr-defined]
        try:
            modules.install(recorder, patches)
            loading.install(recorder, patches)
            optimizers.install(recorder, patches)
            streams.install(recorder, patches)
            workers.install(recorder, patches)
            threads.follow(patches, recording)
            graph_hooks.follow(patches, RecordingFunctions, lambda: RecordingFunctions(recorder))
            with recording():
                yield session
        finally:
            patches.restore()
            session.finish()
