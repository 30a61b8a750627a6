"""A loader's worker processes that use the accelerator."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.check import Request
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import VerdictState
from devlint.runtime import entries
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Wish

DATA = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index].cuda()  # moves


def start(worker):
    torch.cuda.set_device(0)  # chooses


def moved():
    return lambda: [batch.sum() for batch in DataLoader(Images([torch.ones(3)] * 4), num_workers=2)]


def started():
    return lambda: [batch.cuda() for batch in DataLoader(torch.ones(4, 3), num_workers=1, worker_init_fn=start)]


def at_home():
    return lambda: [batch.sum() for batch in DataLoader(Images([torch.ones(3)] * 4))]
"""


@pytest.mark.parametrize(
    ("name", "mark", "state"),
    [
        ("moved", "# moves", VerdictState.CONFIRMED),
        ("started", "# chooses", VerdictState.CONFIRMED),
        ("at_home", "# moves", VerdictState.INCONCLUSIVE),
    ],
)
def test_use_in_a_worker(name: str, mark: str, state: VerdictState, tmp_path: Path, nursery: Nursery) -> None:
    (tmp_path / "data.py").write_text(DATA)
    overrides = Overrides({"select": ["DEV604"]}, None, isolated=True)
    request = ConfirmRequest(
        Request(("data.py",), tmp_path, overrides, jobs=1), (entries.built(f"data:{name}"),), Wish("sim"), timeout=60
    )
    result, _ = confirm(request, nursery=nursery)
    line = next(n for n, text in enumerate(DATA.splitlines(), 1) if text.endswith(mark))
    verdicts = {f.place.line: f.verdict for f in result.findings if f.verdict is not None}
    assert verdicts[line].state is state
    if state is VerdictState.CONFIRMED:
        assert "Cannot re-initialize CUDA in forked subprocess" in (verdicts[line].error or "")
    else:
        assert verdicts[line].reason == "the run started no worker process"
