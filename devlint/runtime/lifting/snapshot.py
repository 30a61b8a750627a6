"""The state before a call, so that the call can be made again as if the first had not been."""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

MOST_ELEMENTS = 16_000_000
"""Above this, in all, tensors are not kept, and a call that failed cannot be taken back."""


class Snapshot:
    """Random state, tensors and the plain attributes of modules."""

    def __init__(self, modules: Iterable[nn.Module], tensors: Iterable[torch.Tensor]) -> None:
        self._random = random.getstate()
        self._torch = torch.get_rng_state()
        numpy = sys.modules.get("numpy")
        self._numpy = numpy.random.get_state() if numpy is not None else None
        self._tensors: list[tuple[torch.Tensor, int, torch.Tensor]] = []
        kept = 0
        with torch.no_grad():
            for tensor in tensors:
                kept += tensor.numel()
                if kept <= MOST_ELEMENTS and tensor.layout is torch.strided and not tensor.is_inference():
                    self._tensors.append((tensor, tensor._version, tensor.detach().clone()))
        self._attributes = [(part, _attributes(part)) for module in modules for part in module.modules()]

    def restore(self) -> None:
        """Put everything back."""
        random.setstate(self._random)
        torch.set_rng_state(self._torch)
        if self._numpy is not None:
            sys.modules["numpy"].random.set_state(self._numpy)
        with torch.no_grad():
            for tensor, version, value in self._tensors:
                # Normalisations write into their statistics unannounced.
                if tensor._version != version or not torch.equal(tensor, value):
                    tensor.data.copy_(value)
        for module, attributes in self._attributes:
            for name in [name for name in vars(module) if name not in attributes and not _is_torchs(name)]:
                del vars(module)[name]
            vars(module).update(attributes)


def _attributes(module: nn.Module) -> dict[str, Any]:
    return {
        name: copy.copy(value) if type(value) in (list, dict, set) else value
        for name, value in vars(module).items()
        if not _is_torchs(name)
    }


def _is_torchs(name: str) -> bool:
    """What ``nn.Module`` keeps for itself: hooks and the registered parts."""
    return name in ("_parameters", "_buffers", "_modules") or name.endswith(("_hooks", "_hooks_with_kwargs"))
