"""A small network under the name of a large one."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn


class _Small(nn.Module):
    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, stride=2, padding=1, bias=False)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(64, num_classes)

    def forward(self, pictures: Tensor) -> Tensor:
        out: Tensor = self.fc(self.avgpool(self.conv1(pictures).relu()).flatten(1))
        return out


def resnet18(weights: Any = None, **named: Any) -> nn.Module:
    return _Small(**named)


def __getattr__(name: str) -> Any:
    """Every other network is the same small one."""
    if name.startswith("_"):
        raise AttributeError(name)
    return resnet18
