"""A class of a script that no other file reads: where its objects are is what the script does with them."""

from __future__ import annotations

from pathlib import Path

import devlint

MODEL = """\
import torch
from torch import nn


class Exported(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(4)
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x) * self.scale

"""
SCRIPT = """
def main():
    model = Exported()
    print(model(torch.rand(2, 4)))


if __name__ == "__main__":
    main()
"""


def _codes(directory: Path, text: str, **others: str) -> list[str]:
    (directory / "pyproject.toml").write_text("", "utf-8")
    (directory / "pkg").mkdir()
    for name, content in {"__init__": "", "convert": text, "more": "DEVICE = 'cuda'\n", **others}.items():
        (directory / "pkg" / f"{name}.py").write_text(content, "utf-8")
    found = devlint.lint_paths([directory / "pkg" / "convert.py"], isolated=True, cwd=directory)
    return [finding.code for finding in found]


def test_it_stays_on_the_cpu(tmp_path: Path) -> None:
    assert _codes(tmp_path, MODEL + SCRIPT) == []


def test_the_script_moves_it(tmp_path: Path) -> None:
    moved = SCRIPT.replace("Exported()", "Exported().cuda()").replace("4)))", "4).cuda()))")
    assert _codes(tmp_path, MODEL + moved) == ["DEV501"]


def test_another_file_reads_it(tmp_path: Path) -> None:
    assert _codes(tmp_path, MODEL + SCRIPT, user="from pkg.convert import Exported\n") == ["DEV501"]


def test_a_library_shows_it_to_others(tmp_path: Path) -> None:
    assert _codes(tmp_path, MODEL + SCRIPT.replace("if __name__", "if _MAIN")) == ["DEV501"]
