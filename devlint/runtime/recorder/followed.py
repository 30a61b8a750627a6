"""Values that are made where another value is: `torch.zeros(3, device=x.device)`.

What was asked for its device is remembered by the object that it answered with, a new one each time. A value that is
made with that object is on its device because the other is, and comes from where the other comes from.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from devlint.runtime.recorder.traces import Trace, trace_of

_MOST = 512
"""Answers that are remembered. What is kept for longer is a device that the program has chosen."""


class Followed:
    """Whom the CPU tensors made now follow."""

    def __init__(self) -> None:
        self._answers: OrderedDict[int, tuple[torch.device, Trace]] = OrderedDict()

    def answered(self, trace: Trace, device: torch.device) -> None:
        """A tensor of that trace was asked for its device. The answer is held, so that its number is not used again."""
        self._answers[id(device)] = device, trace
        if len(self._answers) > _MOST:
            self._answers.popitem(last=False)

    def made(self, device: Any, tensor: torch.Tensor) -> None:
        """A tensor was made on a device that is given so."""
        _, whom = self._answers.get(id(device), (None, None))
        trace = trace_of(tensor)
        if whom is not None and trace is not None and trace is not whom and whom.births:
            trace.births = whom.births
