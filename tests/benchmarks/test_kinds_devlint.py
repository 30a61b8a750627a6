"""devlint's own analysis as an engine: what it claims of parameters and results, and of what it claims nothing."""

from __future__ import annotations

from kinds_devlint import Devlint, engines
from typed.definitions import Place
from typed.engine import ByParameterName, Graded

NET = """
import torch
from torch import nn
from tools import halves

class Net(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.inner = nn.Linear(size, size)

    def part(self, rows, model, device):
        rows = rows.unsqueeze(0)
        model.load_state_dict({})
        return self.inner

    def both(self, rows):
        def nested(row):
            return row.masked_fill(row > 0, 0)
        return halves(rows)

    def named(self, anything):
        return "name"
"""
TOOLS = """
import torch

def halves(pair):
    first, second = torch.chunk(pair, 2)
    return first, second
"""


def test_the_values_of_the_analysis_are_claims() -> None:
    (engine,) = engines()
    said = engine.infer({"net.py": NET, "tools.py": TOOLS, "other.py": "def f(device): ...\n"}, ["net.py"])
    expected = {
        ("Net.__init__", "size"): "host",
        ("Net.part", "rows"): "tensor",
        ("Net.part", "model"): "module",
        ("Net.part", "device"): "device",
        ("Net.part", "return"): "module",
        ("Net.both.nested", "row"): "tensor",
        ("Net.both.nested", "return"): "tensor",
        ("Net.both", "return"): "tensors",
        ("Net.named", "return"): "host",
    }
    assert {place: said.get(Place("net.py", *place)) for place in expected} == expected
    assert Place("net.py", "Net.named", "anything") not in said
    assert {place.path for place in said} == {"net.py"}


def test_claims_by_convention_are_told_from_certain_ones() -> None:
    source = """
import torch

def by_use(rows, sizes):
    return rows.masked_fill(rows > 0, 0)

def by_shape(rows):
    return rows.shape[0]

def made(count=3):
    return torch.zeros(count)
"""
    engine = Devlint()
    said = engine.infer({"net.py": source}, ["net.py"])
    assert said[Place("net.py", "by_use", "rows")] == said[Place("net.py", "by_shape", "rows")] == "tensor"
    certain = {(place.qualname, place.name) for place in engine.certain}
    assert {("by_use", "rows"), ("by_use", "return"), ("made", "return")} <= certain
    assert ("by_shape", "rows") not in certain
    assert isinstance(engine, Graded)
    assert not isinstance(ByParameterName(), Graded)
