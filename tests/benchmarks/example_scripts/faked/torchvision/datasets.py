"""Data sets of random pictures; of each, as few as a loop needs to be run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.data import Dataset

ROWS = 96


class _Pictures(Dataset[Any]):
    size: tuple[int, ...] = (28, 28)
    classes = tuple("0123456789")

    def __init__(
        self,
        root: str = "",
        train: bool = True,
        transform: Callable[..., Any] | None = None,
        target_transform: Callable[..., Any] | None = None,
        download: bool = False,
    ) -> None:
        drawn = torch.Generator().manual_seed(int(train))
        self.data = torch.randint(0, 256, (ROWS, *self.size), generator=drawn, dtype=torch.uint8)
        self.targets = torch.arange(ROWS) % len(self.classes)
        self.transform = transform
        self.target_transform = target_transform

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        picture, target = self.data[index].numpy(), int(self.targets[index])
        made = picture if self.transform is None else self.transform(picture)
        return made, target if self.target_transform is None else self.target_transform(target)


class MNIST(_Pictures):
    pass


class FashionMNIST(_Pictures):
    pass


class CIFAR10(_Pictures):
    size = (32, 32, 3)


class CIFAR100(CIFAR10):
    pass


class FakeData(Dataset[Any]):
    def __init__(
        self,
        size: int = ROWS,
        image_size: tuple[int, int, int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        self.image_size, self.num_classes, self.transform = image_size, num_classes, transform

    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, index: int) -> tuple[Any, int]:
        channels, *size = self.image_size
        picture = torch.randint(0, 256, (*size, channels), dtype=torch.uint8).numpy()
        return picture if self.transform is None else self.transform(picture), index % self.num_classes
