"""The transforms that examples name, for pictures as arrays and as tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch
from torch import Tensor, nn


class Compose:
    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = transforms

    def __call__(self, picture: Any) -> Any:
        for transform in self.transforms:
            picture = transform(picture)
        return picture


class ToTensor:
    def __call__(self, picture: Any) -> Tensor:
        array = numpy.asarray(picture)
        array = array[..., None] if array.ndim == 2 else array
        return torch.from_numpy(array).permute(2, 0, 1).float() / 255


class Normalize(nn.Module):
    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean, self.std = mean, std

    def forward(self, picture: Tensor) -> Tensor:
        mean, std = picture.new_tensor(self.mean), picture.new_tensor(self.std)
        return (picture - mean.view(-1, 1, 1)) / std.view(-1, 1, 1)


class Lambda:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, picture: Any) -> Any:
        return self.function(picture)


class _AsItIs:
    """Arrays have the size that the network takes already."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def __call__(self, picture: Any) -> Any:
        return picture


class CenterCrop(_AsItIs):
    pass


class RandomCrop(_AsItIs):
    pass


class RandomHorizontalFlip(_AsItIs):
    pass


class Resize:
    def __init__(self, size: int | Sequence[int], *arguments: Any, **named: Any) -> None:
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def __call__(self, picture: Any) -> Any:
        if isinstance(picture, Tensor):
            return nn.functional.interpolate(picture[None], self.size)[0]
        rows = numpy.linspace(0, picture.shape[0] - 1, self.size[0]).astype(int)
        columns = numpy.linspace(0, picture.shape[1] - 1, self.size[1]).astype(int)
        return picture[rows][:, columns]
