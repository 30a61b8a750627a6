"""The server in Neovim, set up as the README says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from tests.cli.conftest import environment
from tests.server.test_server import RIGHT, SHIFT

ROOT = Path(__file__).parents[2]
NVIM = shutil.which("nvim")


def _version() -> tuple[int, ...]:
    """The version of Neovim; (0,) where there is none."""
    if NVIM is None:
        return (0,)
    said = subprocess.run([NVIM, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", said)
    return tuple(map(int, found.groups())) if found else (0,)


@pytest.mark.skipif(_version() < (0, 11), reason="Neovim 0.11 or later is not installed")
def test_neovim_shows_fixes_and_follows(tmp_path: Path) -> None:
    assert NVIM is not None
    (settings,) = re.findall(r"```lua\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    (tmp_path / "init.lua").write_text(settings)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "net.py").write_text(SHIFT)
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "devlint").write_text(f'#!/bin/sh\nexec {sys.executable} -m devlint "$@"\n')
    (commands / "devlint").chmod(0o755)
    variables = environment()
    variables["PATH"] = f"{commands}{os.pathsep}{variables.get('PATH', os.defpath)}"
    variables |= {name: str(tmp_path / name.lower()) for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    script = Path(__file__).with_name("neovim.lua")
    done = subprocess.run(
        [NVIM, "--headless", "--clean", "-u", "init.lua", "net.py", "-c", f"luafile {script}"],
        cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("{")]
    assert lines, (done.stdout, done.stderr)
    told = json.loads(lines[-1])
    hover = told.pop("hover")
    assert "A tensor on cpu" in hover
    assert told.pop("fixed") == RIGHT.splitlines()[4]
    assert told.pop("action").startswith("DEV101: ")
    assert told == dict.fromkeys(["opened", "clean", "undone", "broken", "whole", "renamed", "another", "alive"], True)
