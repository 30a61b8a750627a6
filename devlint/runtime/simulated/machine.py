"""The simulated machine: N devices of one kind that are labels on CPU storages, with real values."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

import torch

from devlint.runtime.labels import CPU, claim_of, true_device
from devlint.runtime.simulated.errors import invalid_ordinal
from devlint.runtime.simulated.kinds import CUDA, Kind

Tensor = torch.Tensor
_Device = torch._C.device


class _Local(threading.local):
    """What CUDA keeps by thread: the current device and streams.

    ``call``: the operands of the torch call being run. ``inside``: the Python function of torch whose body runs.
    ``bare``: tensors say where they really are.
    """

    def __init__(self) -> None:
        self.current = 0
        self.streams: dict[int, Any] = {}
        self.call: Any = None
        self.inside: Any = None
        self.bare = False


class Machine:
    """The devices and what they remember. One simulation runs at a time (`devlint.runtime.simulated.simulate`)."""

    mends: Callable[[Tensor, torch.device, str], bool] | None
    """Told of a gradient that is not where it belongs, where that is, and what CUDA says; whether to bring it there."""
    answered: Callable[[Any, torch.device], None] | None
    """Told of each answer to what device a CPU tensor is on, with what is known of where the tensor comes from."""

    def __init__(self, count: int = 2, kind: Kind = CUDA) -> None:
        if not 1 <= count <= kind.most:
            raise ValueError(f"a simulated machine has 1 to {kind.most} {kind.type} devices, not {count}")
        self.count = count
        self.kind = kind
        self.type = kind.type
        self.devices = tuple(_Device(self.type, index) for index in range(count))
        self.reset()

    def reset(self) -> None:
        """Forget what a run left behind: current devices, streams, defaults."""
        self.local = _Local()
        self.default_type_device: torch.device = CPU
        self.mends: Callable[[Tensor, torch.device, str], bool] | None = None
        self.answered: Callable[[Any, torch.device], None] | None = None
        self.stream_class: Any = None
        self.event_class: Any = None
        self.generators: tuple[Any, ...] = ()
        self._pid: int | None = None
        self._visible: int | None = None

    @property
    def current(self) -> torch.device:
        return self.devices[self.local.current]

    @property
    def forked(self) -> bool:
        """Whether this process was forked after CUDA had been touched: CUDA does not survive that."""
        return self._pid is not None and self._pid != os.getpid()

    def initialise(self) -> None:
        """What the first use of CUDA does. Raises CUDA's error in a forked process."""
        if self._pid is None:
            self._pid = os.getpid()
        elif self._pid != os.getpid():
            raise RuntimeError(
                "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
                "'spawn' start method"
            )

    def visible(self) -> int:
        """How many devices the program sees; CUDA_VISIBLE_DEVICES counts until the first look."""
        if self._visible is None:
            self._visible = visible_devices(self.count) if self.kind is CUDA else self.count
        return self._visible

    def device(self, index: int) -> torch.device:
        """One device by index; raises CUDA's errors for an index that is not there and for a forked process."""
        self.initialise()
        if self.visible() == 0:
            raise RuntimeError(f"No {self.kind.title} GPUs are available")
        if not 0 <= index < self.visible():
            raise invalid_ordinal(self.kind, index, self.visible())
        return self.devices[index]

    def resolve(self, device: Any) -> torch.device:
        """The device a string, integer or `torch.device` means here; the same object for the same device.

        What is no device of this kind is left to PyTorch.
        """
        if isinstance(device, int) and not isinstance(device, bool):
            if device < 0:
                raise RuntimeError("Device index must not be negative")
            return self.device(device)
        made = device if isinstance(device, _Device) else _Device(device)
        if made.type == "cpu":
            return CPU
        if made.type != self.type:
            return made
        return self.device(self.local.current if made.index is None else made.index)

    def device_of(self, value: Any) -> torch.device:
        """Where a tensor or a generator claims to be."""
        if not isinstance(value, Tensor):
            claimed: torch.device = value.device
            return claimed
        claim = claim_of(value)
        if claim is not None and claim.device is not None:
            return claim.device
        return true_device(value)

    def is_pinned(self, tensor: Tensor) -> bool:
        """Whether a tensor claims page-locked memory."""
        claim = claim_of(tensor)
        return claim is not None and claim.pinned


def visible_devices(count: int) -> int:
    """How many of the machine's devices CUDA_VISIBLE_DEVICES leaves, read when CUDA is first touched.

    Indices are read up to the first that is not there, as the driver does.
    """
    text = os.environ.get("CUDA_VISIBLE_DEVICES")
    if text is None:
        return count
    shown = 0
    for part in text.split(","):
        try:
            index = int(part)
        except ValueError:
            if part.strip():
                warnings.warn(f"CUDA_VISIBLE_DEVICES={text}: only indices are simulated", stacklevel=2)
            break
        if not 0 <= index < count:
            break
        shown += 1
    return shown
