"""Notebooks through the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.source.test_notebook import notebook

STRAY = "x = torch.ones(3)\nx.cuda();"
SHOWN = """\
nb.ipynb:cell 3:2:1: DEV201 warning [discarded-transfer] `x.cuda()` returns a new tensor that is thrown away; \
`x` stays on the CPU
   |
 1 | x = torch.ones(3)
 2 | x.cuda();
   | ^^^^^^^^
   |
 1 `torch.ones`: made here, on cpu (nb.ipynb:cell 3:1:5)
"""


def test_a_finding_is_shown_by_cell_with_the_cells_lines(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "nb.ipynb").write_bytes(notebook("%pip install torch\nimport torch", None, STRAY))
    done = devlint()
    assert done.returncode == 1
    assert done.stdout.startswith(SHOWN)


def test_standard_input_named_like_a_notebook_is_one(devlint: Run) -> None:
    done = devlint("--stdin-filename", "nb.ipynb", "-", stdin=notebook("import torch", None, STRAY))
    assert done.stdout.startswith(SHOWN)


def test_json_has_the_cell(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "nb.ipynb").write_bytes(notebook("import torch", None, STRAY))
    (finding,) = json.loads(devlint("--output-format", "json").stdout)["findings"]
    assert (finding["path"], finding["cell"], finding["line"], finding["column"]) == ("nb.ipynb", 3, 2, 1)
    assert [step["cell"] for step in finding["trace"]] == [3, 3]


def test_a_comment_speaks_in_its_own_cell_only(devlint: Run, tmp_path: Path) -> None:
    silent = STRAY + "  # noqa: DEV201"
    (tmp_path / "a.ipynb").write_bytes(notebook("import torch", silent))
    assert devlint("a.ipynb").returncode == 0
    earlier = "import torch\nx = torch.ones(3)\n# devlint: ignore[DEV201]"
    (tmp_path / "b.ipynb").write_bytes(notebook(earlier, "x.cuda();"))
    done = devlint("b.ipynb", "--output-format", "concise", "-q")
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [
        ["b.ipynb:cell", "1:3:1:", "DEV900"],
        ["b.ipynb:cell", "2:1:1:", "DEV201"],
    ]


def test_one_broken_cell_does_not_hide_the_others(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(notebook("import torch", "def f(:", STRAY))
    done = devlint("--output-format", "concise", "-q")
    assert done.returncode == 1
    assert [line.split()[1:3] for line in done.stdout.splitlines()] == [["2:1:7:", "DEV901"], ["3:2:1:", "DEV201"]]


@pytest.mark.parametrize("data", [b"", b'{"cells": [', b"{}", b"\xff"])
def test_what_is_no_notebook_is_one_finding_and_the_run_goes_on(devlint: Run, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad.ipynb").write_bytes(data)
    (tmp_path / "good.ipynb").write_bytes(notebook("import torch", STRAY))
    done = devlint("--output-format", "concise")
    assert done.returncode == 2
    assert [line.split(": ")[1].split()[0] for line in done.stdout.splitlines()] == ["DEV902", "DEV201"]
    assert "Traceback" not in done.stderr


def test_a_notebook_has_the_role_of_one(devlint: Run, tmp_path: Path) -> None:
    code = 'import torch\ntorch.set_default_device("cuda")'
    (tmp_path / "a.ipynb").write_bytes(notebook(code))
    (tmp_path / "b.py").write_text(code)
    done = devlint("--select", "DEV307", "--output-format", "concise", "-q")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["b.py"]


NET = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x):
        return self.body(x)

def samples(count):
    return torch.randn(count, 8)
"""


@pytest.mark.parametrize("data", ["torch.randn(4, 8)", "samples(4)"])
def test_a_notebook_that_stays_on_the_cpu_is_right(devlint: Run, tmp_path: Path, data: str) -> None:
    cells = ("import torch", NET, f"net = Net()\nx = {data}", "y = net(x)")
    (tmp_path / "a.ipynb").write_bytes(notebook(*cells))
    assert devlint().returncode == 0
    (tmp_path / "a.ipynb").write_bytes(notebook(*cells[:3], "net = net.cuda()", cells[3]))
    done = devlint("--output-format", "concise", "-q")
    assert [line.split(" ")[2] for line in done.stdout.splitlines()] == ["DEV101"]
