"""A device that is written in another file is nothing that this file could be told of."""

from __future__ import annotations

from pathlib import Path

import devlint

HELPER = """\
import torch

NAME = "cuda:1"


def get_device():
    return torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")


def name_of_device():
    return "cuda:1"
"""
USER = """\
import torch
from helper import NAME, get_device, name_of_device


def moved(model, x):
    return model.to(get_device())(x.to(get_device()))


def moved_by_name(model, x):
    return model.to(name_of_device())(x.to(NAME))
"""


def test_it_is_told_of_no_line_of_the_file_that_uses_it(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER, "utf-8")
    (tmp_path / "user.py").write_text(USER, "utf-8")
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path)
    assert [finding for finding in found if finding.place.path == "user.py"] == []


def test_the_same_in_the_file_itself_is_told_where_it_is_written(tmp_path: Path) -> None:
    own = USER.replace("from helper import NAME, get_device, name_of_device\n", HELPER.replace("import torch\n", ""))
    (tmp_path / "own.py").write_text(own, "utf-8")
    found = devlint.lint_paths([tmp_path / "own.py"], isolated=True, cwd=tmp_path)
    lines = own.splitlines()
    assert {finding.code for finding in found} == {"DEV301"}
    assert all('"cuda:' in lines[finding.place.line - 1] for finding in found)
