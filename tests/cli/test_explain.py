"""``devlint explain``, as its user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

PROGRAM = """\
import torch
import somelib


def shift(x, scale):
    y = torch.ones(3)
    z = somelib.cast(y)
    return z * scale + x
"""


@pytest.fixture
def program(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM)


@pytest.mark.usefixtures("program")
def test_a_line_is_explained(devlint: Run) -> None:
    done = devlint("explain", "net.py:7")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "net.py:7\n"
        "   |\n"
        " 7 |     z = somelib.cast(y)\n"
        "   |\n"
        "   9  somelib.cast(y)  unknown\n"
        "        ? `somelib.cast`: a function of a library that the tables have no row for (net.py:7:9)\n"
        "  22  y                a tensor on cpu\n"
        "        1 `torch.ones`: made here, on cpu (net.py:6:9)\n"
    )


@pytest.mark.usefixtures("program")
def test_at_a_column_the_innermost_comes_first(devlint: Run) -> None:
    done = devlint("explain", "net.py:8:12", "--output-format", "json")
    found = json.loads(done.stdout)
    assert [one["text"] for one in found] == ["z", "z * scale + x"]
    assert found[0]["kind"] == "unknown"
    assert [link["cause"] for link in found[0]["unknown"]] == ["follows", "library-function"]
    assert found[0]["unknown"][0]["message"] == "`z` comes from `somelib.cast(y)`"
    assert found[0]["column"] == 12


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("net.py", "the place is FILE:LINE"),
        ("net.py:0", "counted from 1"),
        ("net.py:7:0", "counted from 1"),
        ("net.py:7:x", "the place is FILE:LINE"),
        ("net.py:4", "nothing is evaluated there"),
        ("net.py:700", "nothing is evaluated there"),
        ("other.py:7", "no such file"),
    ],
)
def test_a_place_without_expressions_is_one_error(devlint: Run, place: str, said: str) -> None:
    done = devlint("explain", place)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_lines_are_fitted_to_the_terminal(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(PROGRAM.replace("somelib.cast(y)", f"somelib.cast(y, {', '.join(['y'] * 40)})"))
    done = devlint("explain", "net.py:7", env={"COLUMNS": "60"})
    assert max(map(len, done.stdout.splitlines())) <= 200
    assert "..." in done.stdout
