"""A trace says where the way of each value begins, in every way to a finding."""

from __future__ import annotations

from pathlib import Path

from devlint.check import Request, check
from devlint.configuration.config import Overrides

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.ones(4)
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x) + self.table
"""


def test_the_way_of_each_value_begins_once_cold_and_from_the_cache(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    told = []
    for cached in (False, True, True):
        request = Request(("net.py",), tmp_path, Overrides({}, None, isolated=True), jobs=1, cached=cached)
        (finding,) = check(request).findings
        told.append([(step.place.line, step.begins) for step in finding.trace])
    assert told == [[(8, True), (8, False), (11, True), (12, False), (12, False)]] * 3
