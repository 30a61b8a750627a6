"""Mutants that are run on a simulated device: which truly fail, and which classes are built for them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from planting.asking import Answer
from planting.kinds import of_file
from planting.requirements import requirements
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


def test_what_a_release_requires_is_read_without_versions_extras_and_another_torch(tmp_path: Path) -> None:
    (tmp_path / "pkg-1.dist-info").mkdir()
    (tmp_path / "pkg-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: pkg\nRequires-Dist: torch>=2.0\nRequires-Dist: einops (>=0.3)\n"
        "Requires-Dist: jsonargparse[signatures]>=4\nRequires-Dist: pytest; extra == 'dev'\n\nAbout it.\n"
    )
    assert requirements(tmp_path) == ["einops", "jsonargparse[signatures]"]


ADDED = """
import torch
from torch import nn


class Turned(nn.Module):
    def __init__(self, settings, device=None, **kwargs):
        super().__init__()
        self.width = kwargs["n_units"]
        self.layer = nn.Linear(self.width, self.width, device=device)
        self.register_buffer("turn", torch.ones(self.width))

    def forward(self, x, mask=None):
        return self.layer(x) * self.turn


class Scorer:
    def __init__(self, net, device):
        self.net, self.device = net, device

    def score(self, x):
        return self.net(x.to(self.device)).detach().cpu().numpy()


def steps(count, device):
    return torch.arange(count, device=device)
"""


def test_what_is_told_nothing_of_is_built_and_called_with_what_its_names_suggest(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(ADDED)
    file = File.of("net.py", ADDED.encode())
    assert file is not None
    wanted = ("unregister", "numpy", "drop-device")
    answers = [Answer(mutant, True, (), None) for mutant in of_file(file) if mutant.kind in wanted]
    ended = {(one.answer.mutant.kind, one.answer.mutant.function): one.state for one in simulated(answers, tmp_path, 9)}
    assert ended == {
        ("unregister", "Turned.__init__"): "fails",
        ("numpy", "Scorer.score"): "fails",
        ("drop-device", "steps"): "fails",
    }
