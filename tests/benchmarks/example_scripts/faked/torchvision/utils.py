"""Pictures that are written and read by nobody: what would be written is taken to the host, as it is by torchvision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def make_grid(tensor: Tensor | Sequence[Tensor], nrow: int = 8, **named: Any) -> Tensor:
    pictures = tensor if isinstance(tensor, Tensor) else torch.stack(list(tensor))
    return torch.cat(list(pictures[:nrow]), dim=-1)


def save_image(tensor: Tensor | Sequence[Tensor], fp: Any, **named: Any) -> None:
    make_grid(tensor).mul(255).clamp_(0, 255).to("cpu", torch.uint8).numpy()
