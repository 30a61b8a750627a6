"""What scripts use around a model, on CUDA: right programs are silent, and wrong ones clash where they are marked."""

from __future__ import annotations

import torch

from tests.gpu.around import SIMULATED_ALONE, TWO_CARDS, outcomes


def test_programs_are_told_of_as_on_the_simulated_machine() -> None:
    rows = outcomes("cuda")
    assert len(rows) > 50
    left_out = set(SIMULATED_ALONE) | (TWO_CARDS if torch.cuda.device_count() < 2 else set())
    assert [row for name, row in rows.items() if name not in left_out and _says_something(row)] == []


def _says_something(row: dict[str, object]) -> bool:
    return bool(row["unseen"] or row["told"] or row["error"])
