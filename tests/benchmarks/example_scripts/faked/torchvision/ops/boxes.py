"""Areas and overlaps of boxes."""

from __future__ import annotations

import torch
from torch import Tensor


def box_area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def _box_inter_union(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    first = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    last = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    size = (last - first).clamp(min=0)
    inter = size[:, :, 0] * size[:, :, 1]
    return inter, box_area(boxes1)[:, None] + box_area(boxes2) - inter


def box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    inter, union = _box_inter_union(boxes1, boxes2)
    return inter / union
