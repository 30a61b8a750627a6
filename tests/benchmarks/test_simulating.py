"""Mutants that are run on a simulated device: which truly fail, and which classes are built for them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from planting.asking import Answer
from planting.kinds import of_file
from planting.simulating import simulated, using
from planting.source import File

NET = """
import torch
from torch import nn
from torchvision.ops import nms


class Shifted(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x) + torch.arange(4, device=x.device)


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)

    def shifted(self, x):
        return self.layer(x) + torch.arange(4, device=x.device)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        number = torch.tensor(4.0, device=x.device)
        return self.layer(x) * number


def ramp(x):
    return torch.arange(4, device=x.device) * x


class Ramp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return ramp(self.layer(x))
"""


def test_a_mutant_fails_where_the_device_refuses_what_it_does(tmp_path: Path) -> None:
    release = tmp_path / "release"
    release.mkdir()
    (release / "net.py").write_text(NET)
    file = File.of("net.py", NET.encode())
    assert file is not None
    answers = [Answer(mutant, True, (), None) for mutant in of_file(file) if mutant.kind == "drop-device"]
    ended = {result.answer.mutant.function: result for result in simulated(answers, release, 9)}
    assert {function: result.state for function, result in ended.items()} == {
        "Shifted.forward": "fails",
        "Unused.shifted": "fails",
        "ramp": "fails",
    }
    assert "DEV101" in ended["Shifted.forward"].how
    assert (release / "net.py").read_text() == NET


def test_no_more_are_run_than_asked_for(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    file = File.of("net.py", NET.encode())
    assert file is not None
    answers = [Answer(mutant, True, (), None) for mutant in of_file(file) if mutant.kind == "drop-device"]
    assert len(list(simulated(answers, tmp_path, 1))) == 1


def test_classes_that_use_a_function_are_built_for_it() -> None:
    source = textwrap.dedent("""
        class Named: x = helper(1)
        class Qualified:
            def f(self): return tools.helper(1)
        class Neither: x = helpers(1)
    """)
    assert using("helper", source.encode()) == ["Named", "Qualified"]
