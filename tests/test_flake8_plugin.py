"""devlint under the real flake8."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, environment

PROGRAM = """\
import torch

x = torch.ones(3)
x.cuda()
y = torch.ones(3)
y.cuda()  # noqa: DEV201
z = torch.ones(3)  # noqa: DEV101
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """An environment in which devlint is installed as pyproject.toml says, whatever this one knows of it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    info = tmp_path / "site" / "devlint-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: devlint\nVersion: 0.1.0\n")
    ((name, target),) = project["entry-points"]["flake8.extension"].items()
    (info / "entry_points.txt").write_text(f"[flake8.extension]\n{name} = {target}\n")
    return environment(PYTHONPATH=f"{tmp_path / 'site'}:{ROOT}")


def flake8(directory: Path, env: dict[str, str], *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flake8", "--isolated", *arguments]
    return subprocess.run(command, cwd=directory, env=env, input=stdin, capture_output=True, text=True, check=False)


def test_findings_are_flake8s_own(tmp_path: Path, installed: dict[str, str]) -> None:
    (tmp_path / "a.py").write_text(PROGRAM)
    done = flake8(tmp_path, installed, "a.py")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "a.py:4:1: DEV201 `x.cuda()` returns a new tensor that is thrown away; `x` stays on the CPU",
        "a.py:7:20: DEV900 suppression of DEV101 silences nothing here",
    ]
    assert done.returncode == 1


def test_flake8_selects_by_prefix(tmp_path: Path, installed: dict[str, str]) -> None:
    (tmp_path / "a.py").write_text(PROGRAM)
    assert flake8(tmp_path, installed, "--select", "DEV9", "a.py").stdout.startswith("a.py:7:20: DEV900")
    assert flake8(tmp_path, installed, "--extend-ignore", "DEV", "a.py").stdout == ""


def test_devlints_configuration_holds(tmp_path: Path, installed: dict[str, str]) -> None:
    (tmp_path / "a.py").write_text(PROGRAM)
    (tmp_path / "devlint.toml").write_text("ignore = ['DEV2']\n")
    assert "DEV201" not in flake8(tmp_path, installed, "a.py").stdout


def test_standard_input_has_the_name_it_is_given(tmp_path: Path, installed: dict[str, str]) -> None:
    done = flake8(tmp_path, installed, "--stdin-display-name", "b.py", "-", stdin=PROGRAM)
    assert done.stdout.startswith("b.py:4:1: DEV201")


def test_a_syntax_error_is_told_once(tmp_path: Path, installed: dict[str, str]) -> None:
    (tmp_path / "a.py").write_text("import torch\nx = (\n")
    done = flake8(tmp_path, installed, "--select", "E9,DEV", "a.py")
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["E999"] or "E902" in done.stdout


def test_loading_the_plugin_is_cheap(installed: dict[str, str]) -> None:
    program = "import sys, devlint.flake8_plugin; print(sorted(n for n in sys.modules if n.startswith('devlint')))"
    done = subprocess.run([sys.executable, "-c", program], env=installed, capture_output=True, text=True, check=True)
    assert done.stdout == "['devlint', 'devlint.flake8_plugin']\n"
    assert "devlint: 0.1.0" in flake8(Path.cwd(), installed, "--version").stdout
