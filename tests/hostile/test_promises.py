"""The promises of ``SECURITY.md``, by their numbers there."""

from __future__ import annotations

import encodings
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from devlint.api import lint_source
from tests.cli.conftest import Run, environment
from tests.hostile.conftest import BUG, FIXABLE

TRAP = "import torch, pathlib\npathlib.Path({0!r}).write_text('executed')\nx = torch.ones(3)\nx.cuda()\n"
NAMES = ("conftest.py", "setup.py", "sitecustomize.py", "torch.py", "libcst.py", "click.py", "json.py", "tomllib.py")


def everything(directory: Path) -> dict[str, bytes]:
    """Every file outside of the cache, with its content."""
    files = (path for path in directory.rglob("*") if path.is_file() and ".devlint_cache" not in path.parts)
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    "arguments",
    [["-j2"], ["--show-settings"], ["--write-baseline"], ["--add-noqa"], ["--fix"]],
)
def test_1_no_linted_code_is_executed(devlint: Run, tmp_path: Path, arguments: list[str]) -> None:
    proof = tmp_path / "proof"
    for name in (*NAMES, "devlint/__init__.py", "package/__init__.py", "package/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TRAP.format(str(proof)))
    (tmp_path / "a.py").write_text("import package.a, conftest, devlint\nfrom setup import *\n" + BUG)
    (tmp_path / "a.ipynb").write_text(
        json.dumps(
            {"cells": [{"cell_type": "code", "source": "!touch proof\n%run a.py\n" + TRAP.format(str(proof))}],
             "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        )
    )  # fmt: skip
    program = "import sys; sys.path[:] = [p for p in sys.path if p]; from devlint.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    assert not proof.exists()


def test_1_every_codec_of_python_is_text_or_a_finding() -> None:
    names = {module.name for module in pkgutil.iter_modules(encodings.__path__)} - {"aliases"}
    for name in sorted(
        {*names, "rot13", "base64", "hex", "zip", "uu", "idna", "punycode", "undefined", "os.path", "sys"}
    ):
        found = lint_source(f"# coding: {name}\n{BUG}".encode(), "a.py", isolated=True)
        assert found, name
        assert {finding.code for finding in found} <= {"DEV201", "DEV901", "DEV902"}, name
        assert not any("please report" in finding.message for finding in found), name


@pytest.mark.parametrize(
    "name", ["idna", "punycode", "undefined", "rot13", "base64", "hex", "bz2", "zlib", "uu", "quopri"]
)
def test_1_a_codec_that_is_no_text_is_named_at_its_line(name: str) -> None:
    (finding,) = lint_source(f"#!/usr/bin/python\n# -*- coding: {name} -*-\n{BUG}".encode(), "a.py", isolated=True)
    assert (finding.code, finding.place.line) == ("DEV902", 2)
    assert "is no encoding of text" in finding.message
    assert lint_source(f"# coding: {name}\n{BUG}", "a.py", isolated=True)[0].code == "DEV902"


def test_2_a_configuration_can_name_no_code(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BUG)
    for key in ("plugins", "load-plugins", "python", "rules-from"):
        (tmp_path / "devlint.toml").write_text(f"{key} = ['trap']\n")
        done = devlint()
        assert done.returncode == 2
        assert f"unknown key `{key}`" in done.stderr


def test_3_no_link_leads_out_of_the_tree(devlint: Run, tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    for directory in (outside, tree, tree / "inner"):
        directory.mkdir()
    (tree / "pyproject.toml").write_text("")
    (outside / "secret.py").write_text(BUG)
    (outside / "key").write_text("-----BEGIN PRIVATE KEY-----\n")
    (tree / "inner" / "real.py").write_text(BUG)
    (tree / "file.py").symlink_to(outside / "secret.py")
    (tree / "key.py").symlink_to(outside / "key")
    (tree / "again.py").symlink_to("file.py")
    (tree / "directory").symlink_to(outside)
    (tree / "own.py").symlink_to("inner/real.py")
    done = devlint("--output-format", "concise", cwd=tree)
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["inner/real.py", "own.py"]
    assert "PRIVATE" not in done.stdout + done.stderr
    assert devlint("--output-format", "concise", "file.py", cwd=tree).stdout.startswith("file.py:3:1: DEV201")


def test_4_linting_writes_into_its_cache_alone(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "a.py").write_text(FIXABLE)
    before = everything(tmp_path)
    assert devlint("-n").returncode == 1
    assert not (tmp_path / ".devlint_cache").exists()
    for arguments in ([], ["--diff"], ["--output-format", "sarif"]):
        assert devlint(*arguments).returncode == 1
    assert everything(tmp_path) == before


@pytest.mark.skipif(sys.platform != "linux", reason="the limit means something else on other systems")
def test_5_without_memory_one_file_is_lost_and_not_the_run(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BUG)
    (tmp_path / "large.py").write_text("import torch\n" + "x = [torch.ones(3).cuda() + y, 1, 2, 3, 4]\n" * 60_000)
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); "
        "from devlint.cli.main import main; main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, "-n", "-j2", "--output-format", "concise"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("a.py:3:1: DEV201")
    assert [line.partition(":")[0] for line in lines if "DEV902" in line] == ["large.py"]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["--exit-zero"], ["--select", "DEV1"], ["--ignore", "ALL"], ["--fix-only"]])
def test_7_what_was_not_looked_at_is_never_green(devlint: Run, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "a.py").write_text("# devlint: file-ignore[DEV902]  # noqa\nimport torch\nx = " + "[" * 300 + "]" * 300)
    assert devlint(*arguments).returncode == 2
    os.unlink(tmp_path / "a.py")
    assert devlint(*arguments, "gone.py").returncode == 2
