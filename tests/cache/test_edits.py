"""Edits of what many files look at: whatever is kept is what would be computed, and what is apart is kept."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.cache.conftest import Project
from tests.cache.edits import edited
from tests.thoroughness import chosen

FILES = {
    "pkg/__init__.py": "from .layers import *\nfrom .helper import make as make, scale\n",
    "pkg/consts.py": '''import torch

SIZE = 3
MASK = torch.ones(SIZE)
DEVICE = torch.device("cpu")


def flag():
    return True
''',
    "pkg/helper.py": '''"""Helpers."""
import functools
import torch
from .consts import DEVICE, MASK, SIZE, flag

logger = print


def make(n=SIZE):
    """Makes zeros."""
    extra = _first(n)
    return torch.zeros(n) if flag() else extra


def _first(n):
    return torch.zeros(n)


def scale(x, device=None):
    if device is None:
        device = x.device
    return x * torch.ones(3, device=device)


def mask():
    return MASK


def apart():
    value = 1
    return value
''',
    "pkg/base.py": '''import torch
from torch import nn
from .helper import make


class Mixin:
    flag = True

    def place(self, x):
        return x.to("cpu")


class Base(nn.Module, Mixin):
    """A base."""

    kind: str = "base"

    def __init__(self, size: int = 3):
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.zeros(size))
        self.scale = make(size)
        self.register_buffer("table", torch.arange(size))
        self._build()

    def _build(self):
        self.offset = torch.ones(self.size)

    @property
    def bias(self):
        return torch.zeros(self.size)

    def mask(self, x):
        return torch.ones(x.shape[0])

    def apart(self):
        value = 1
        return value
''',
    "pkg/layers.py": '''import torch
from .base import Base
from .consts import *

__all__ = ["Layer", "make_layer"]


class Layer(Base):
    def forward(self, x):
        return x * self.scale + self.bias


def make_layer(size=SIZE):
    return Layer(size)
''',
    "pkg/net.py": '''import torch
from pkg import Layer, make, scale
from pkg.base import Base
from pkg.helper import mask


class Net(Base):
    def __init__(self):
        super().__init__(4)
        self.layer = Layer(4)

    def forward(self, x):
        x = self.layer(x) + self.offset
        x = scale(x) * make(3)
        x = x + self.mask(x) * self.table
        return x + mask()
''',
    "pkg/use.py": '''import torch
import pkg
from pkg import layers


def run(x: torch.Tensor):
    layer = layers.make_layer().cuda()
    y = layer(x.cuda()) + layer.bias
    return y + pkg.make(2) + layer.place(x)
''',
    "train.py": '''import torch
from pkg.net import Net

net = Net().to("cuda")
print(net(torch.zeros(3)) + net.scale)
''',
}  # fmt: skip

QUIET = """import torch
from pkg.base import Base
from pkg.helper import make


class Quiet(Base):
    def forward(self, x):
        later = make(3).to(x.device)
        return x * later + self.offset.to(x.device)
"""


@pytest.fixture
def deep(project: Project) -> Project:
    """A project whose files look at each other in many ways."""
    for path in (project.root / "pkg").iterdir():
        path.unlink()
    for name, text in FILES.items():
        project.write(name, text)
    project.lint()
    return project


def test_what_is_edited_has_findings_and_the_first_run_keeps_them(deep: Project) -> None:
    found = deep.agrees()
    assert {finding.place.path for finding in found} >= {"pkg/net.py", "pkg/use.py", "pkg/layers.py"}
    assert deep.analysed == []


@pytest.mark.parametrize("seed", range(chosen(gate=4, search=8)))
def test_random_edits_make_no_difference(deep: Project, seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(8):
        name = draw.choice(list(FILES))
        deep.write(name, edited((deep.root / name).read_text(), draw))
        deep.agrees()
        if draw.random() < 0.4:
            deep.write(name, FILES[name])


APART = [
    ("pkg/helper.py", "    value = 1", "    value = 2"),
    ("pkg/helper.py", "    value = 1", "    value = torch.zeros(1)\n    del value"),
    ("pkg/base.py", "        value = 1", "        value = torch.zeros(3)"),
    ("pkg/helper.py", "logger = print", "logger = print\ntouched = None"),
    ("pkg/base.py", "class Mixin", "def touched(x):\n    return x.cuda()\n\n\nclass Mixin"),
    ("pkg/base.py", "class Mixin", "class Touched(nn.Module):\n    size = 3\n\n\nclass Mixin"),
    ("pkg/helper.py", "import functools", "import functools, os"),
    ("pkg/helper.py", "def apart():", "def further(n):"),
    ("pkg/helper.py", "def apart():", "def apart(n, device='cpu'):"),
    ("pkg/helper.py", '"""Makes zeros."""', '"""Makes\n\n    nothing else."""'),
    ("pkg/base.py", '"""A base."""', '"""Another base."""  # indeed'),
]

LOOKED_AT = [
    ("pkg/helper.py", "torch.zeros(n) if flag() else extra", "torch.zeros(n, device='cuda')"),
    ("pkg/helper.py", "def _first(n):\n", "def _first(n):\n    n = n + 1\n"),
    ("pkg/helper.py", "import functools", "import functools\n\n_first = None"),
    ("pkg/helper.py", "logger = print", "logger = print\n\n\ndef make(n):\n    return n"),
    ("pkg/consts.py", "return True", "return False"),
    ("pkg/base.py", "self.offset = torch.ones(self.size)", "self.offset = torch.ones(2)"),
    ("pkg/base.py", "        value = 1", "        self.value = 1"),
    ("pkg/base.py", "def apart(self):", "def _build(self):"),
    ("pkg/base.py", "class Base(nn.Module, Mixin):", "class Base(nn.Module):"),
    ("pkg/base.py", "    kind: str", "    size = 3\n    kind: str"),
    ("pkg/base.py", "from .helper import make", "from .helper import _first as make"),
]


def _read_quietly(deep: Project, name: str) -> set[str]:
    """Adds a file that uses much and of which there is nothing to say; the files that may tell a line of another."""
    deep.write("pkg/quiet.py", QUIET)
    found = deep.agrees()
    assert "pkg/quiet.py" not in {finding.place.path for finding in found}
    return {f.place.path for f in found if any(step.place.path == name for step in f.trace)}


@pytest.mark.parametrize(("name", "old", "new"), APART)
def test_what_nobody_looked_at_recomputes_nothing_else(deep: Project, name: str, old: str, new: str) -> None:
    telling = _read_quietly(deep, name)
    deep.replace(name, old, new)
    deep.agrees()
    assert name in deep.analysed
    assert set(deep.analysed) <= {name, *telling}


@pytest.mark.parametrize(("name", "old", "new"), LOOKED_AT)
def test_what_was_looked_at_is_computed_again(deep: Project, name: str, old: str, new: str) -> None:
    _read_quietly(deep, name)
    deep.replace(name, old, new)
    deep.agrees()
    assert "pkg/quiet.py" in deep.analysed


def test_a_name_that_was_not_found_is_a_question(deep: Project) -> None:
    deep.write(
        "pkg/quiet.py", "import torch\nfrom pkg.helper import later\n\n\ndef f(x):\n    return later(x) + x.cuda()\n"
    )
    assert "pkg/quiet.py" not in {finding.place.path for finding in deep.agrees()}
    deep.replace("pkg/helper.py", "def apart", "def later(x):\n    return torch.zeros(3)\n\n\ndef apart")
    assert "pkg/quiet.py" in {finding.place.path for finding in deep.agrees()}
    deep.replace("pkg/helper.py", "def later", "def never")
    assert "pkg/quiet.py" not in {finding.place.path for finding in deep.agrees()}


def test_entries_of_another_checkout_are_held_to_the_same_questions(deep: Project, tmp_path: Path) -> None:
    """The packs know nothing of this table: what was looked at is in each of their entries."""
    shared = str(tmp_path / "shared")
    telling = _read_quietly(deep, "pkg/helper.py")
    deep.agrees(cache_dir=shared)
    deep.root = deep.root.rename(tmp_path / "moved")
    deep.replace("pkg/helper.py", "    value = 1", "    value = 2")
    deep.agrees(cache_dir=shared)
    assert set(deep.analysed) <= {"pkg/helper.py", *telling}
    deep.replace("pkg/helper.py", "torch.zeros(n) if flag() else extra", "torch.zeros(n, device='cuda')")
    deep.agrees(cache_dir=shared)
    assert "pkg/quiet.py" in deep.analysed


def test_who_reads_a_literal_depends_on_what_binds_its_name_alone(deep: Project) -> None:
    sizes = "import torch\n\nSIZE = 3\ntorch.set_default_dtype(torch.half)\n"
    deep.write("pkg/sizes.py", sizes)
    deep.write(
        "pkg/quiet.py", "import torch\nfrom pkg.sizes import SIZE\n\n\ndef f(x):\n    return x.new_zeros(SIZE)\n"
    )
    assert "pkg/quiet.py" not in {finding.place.path for finding in deep.agrees()}
    deep.write("pkg/sizes.py", sizes.replace("half", "double"))
    deep.agrees()
    assert "pkg/quiet.py" not in deep.analysed
    deep.write("pkg/sizes.py", f"{sizes}if torch:\n    SIZE = torch.zeros(3)\n")
    deep.agrees()
    assert "pkg/quiet.py" in deep.analysed
