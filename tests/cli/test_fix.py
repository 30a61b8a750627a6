"""``--fix`` and its relatives, as their users run them."""

from __future__ import annotations

import codecs
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, environment

PROGRAM = b"""\
import torch
from torch import nn


def shift(x: torch.Tensor) -> torch.Tensor:
    return x + torch.arange(x.size(0))  # expect


def noise(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(x.shape)
"""

SAFE = PROGRAM.replace(b"torch.arange(x.size(0))", b"torch.arange(x.size(0), device=x.device)")
FIXED = SAFE.replace(b"torch.randn(x.shape)", b"torch.randn(x.shape, device=x.device)")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_bytes(PROGRAM)
    return path


def test_safe_fixes_are_applied_and_the_rest_is_reported(devlint: Run, file: Path) -> None:
    done = devlint("--fix", "net.py")
    assert file.read_bytes() == SAFE
    assert done.returncode == 1
    assert "net.py:10:16: DEV101" in done.stdout
    assert "DEV101" not in done.stdout.replace("net.py:10:16: DEV101", "")
    assert "Fixed 1 finding; left: 1 warning in 1 file" in done.stdout
    assert "1 fixable with --fix --unsafe-fixes" in done.stdout
    assert done.stderr == ""


def test_unsafe_fixes_are_applied_when_asked_for(devlint: Run, file: Path) -> None:
    done = devlint("--fix", "--unsafe-fixes")
    assert file.read_bytes() == FIXED
    assert done.returncode == 0
    assert "Fixed 2 findings; no problem left in 1 file" in done.stdout
    again = devlint("--fix", "--unsafe-fixes")
    assert (again.returncode, file.read_bytes()) == (0, FIXED)
    assert "Fixed" not in again.stdout


def test_unsafe_fixes_alone_change_nothing(devlint: Run, file: Path) -> None:
    assert devlint("--unsafe-fixes").returncode == 1
    assert file.read_bytes() == PROGRAM


def test_the_report_counts_what_could_be_fixed(devlint: Run, file: Path) -> None:
    assert "1 fixable with --fix (1 more with --unsafe-fixes)\n" in devlint().stdout


DIFF = (
    "--- net.py\n"
    "+++ net.py\n"
    "@@ -3,7 +3,7 @@\n"
    " \n"
    " \n"
    " def shift(x: torch.Tensor) -> torch.Tensor:\n"
    "-    return x + torch.arange(x.size(0))  # expect\n"
    "+    return x + torch.arange(x.size(0), device=x.device)  # expect\n"
    " \n"
    " \n"
    " def noise(x: torch.Tensor) -> torch.Tensor:\n"
)


def test_a_diff_is_shown_and_nothing_is_written(devlint: Run, file: Path) -> None:
    done = devlint("--diff")
    assert (done.stdout, done.returncode) == (DIFF, 1)
    assert file.read_bytes() == PROGRAM
    assert done.stderr.startswith("Would fix 1 finding in 1 file (")
    assert done.stderr.endswith("; 1 more with --unsafe-fixes\n")
    assert devlint("--diff", "--exit-zero").returncode == 0


def test_a_diff_of_nothing_is_empty_and_0(devlint: Run, file: Path) -> None:
    file.write_bytes(SAFE)
    done = devlint("--diff")
    assert (done.stdout, done.returncode) == ("", 0)
    assert done.stderr.startswith("Nothing to fix in 1 file (")
    assert done.stderr.endswith("; 1 with --unsafe-fixes\n")


def test_the_diff_is_what_fixing_does(devlint: Run, file: Path, tmp_path: Path) -> None:
    diff = devlint("--diff", "--unsafe-fixes").stdout
    subprocess.run(["patch", "-p0", "-s"], cwd=tmp_path, input=diff.encode(), check=True)
    assert file.read_bytes() == FIXED


def test_fix_only_reports_nothing_and_is_0(devlint: Run, file: Path) -> None:
    done = devlint("--fix-only")
    assert (done.stdout, done.returncode) == ("", 0)
    assert done.stderr.startswith("Fixed 1 finding in 1 file (")
    assert file.read_bytes() == SAFE


def test_exit_non_zero_on_fix(devlint: Run, file: Path) -> None:
    assert devlint("--fix-only", "--exit-non-zero-on-fix").returncode == 1
    assert devlint("--fix-only", "--exit-non-zero-on-fix").returncode == 0
    assert devlint("--fix", "--unsafe-fixes", "--exit-non-zero-on-fix").returncode == 1
    assert devlint("--fix", "--unsafe-fixes", "--exit-non-zero-on-fix").returncode == 0


def test_what_was_fixed_is_listed(devlint: Run, file: Path) -> None:
    done = devlint("--fix", "--unsafe-fixes", "--show-fixes")
    assert done.stderr == "Fixed 2 findings:\n- net.py:\n    2 × DEV101 (creation-without-device)\n"


def test_json_tells_the_edits_and_how_many_were_made(devlint: Run, file: Path) -> None:
    (safe, unsafe) = json.loads(devlint("--output-format", "json").stdout)["findings"]
    (edit,) = safe["fix"]["edits"]
    assert PROGRAM[: edit["start"]].endswith(b"torch.arange(x.size(0)")
    assert (edit["end"], edit["text"]) == (edit["start"], ", device=x.device")
    assert (safe["fix"]["applicability"], unsafe["fix"]["applicability"]) == ("safe", "unsafe")
    document = json.loads(devlint("--fix", "--output-format", "json").stdout)
    assert (document["summary"]["fixed"], len(document["findings"])) == (1, 1)


def test_standard_input_goes_to_standard_output(devlint: Run) -> None:
    done = devlint("--fix", "-", stdin=PROGRAM)
    assert done.stdout.encode() == SAFE
    assert done.stderr.startswith("-:10:16: DEV101")
    assert done.returncode == 1
    clean = devlint("--fix", "-", stdin=FIXED)
    assert (clean.stdout.encode(), clean.returncode) == (FIXED, 0)
    assert devlint("--diff", "-", stdin=PROGRAM).stdout == DIFF.replace("net.py", "-")


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("head", [b"", codecs.BOM_UTF8, b"# -*- coding: latin-1 -*-\n# \xe9\n", b"# x\n\x0c\n"])
def test_everything_else_in_the_file_stays(devlint: Run, file: Path, newline: bytes, head: bytes) -> None:
    file.write_bytes((head + PROGRAM).replace(b"\n", newline))
    file.chmod(0o755)
    devlint("--fix", "--unsafe-fixes")
    assert file.read_bytes() == (head + FIXED).replace(b"\n", newline)
    assert file.stat().st_mode & 0o777 == 0o755


def test_a_file_that_cannot_be_written_is_told(devlint: Run, file: Path, tmp_path: Path) -> None:
    program = f"ulimit -f 0; {sys.executable} -m devlint --fix -n"  # no file may be longer than nothing
    done = subprocess.run(["bash", "-c", program], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 2
    assert b"devlint: net.py is not fixed: cannot be written: file too large" in done.stderr
    assert file.read_bytes() == PROGRAM
    assert os.listdir(tmp_path) == ["net.py"]


def test_a_notebook_is_fixed_in_its_cell(devlint: Run, tmp_path: Path) -> None:
    source = "import torch\ndef shift(x: torch.Tensor):\n    return x + torch.arange(x.size(0))"
    cells = [{"cell_type": "code", "source": source.splitlines(True), "metadata": {}, "outputs": []}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook, indent=1))
    diff = devlint("--diff", "--min-confidence", "low").stdout
    assert diff.startswith("--- a.ipynb:cell 1\n+++ a.ipynb:cell 1\n")
    devlint("--fix", "--min-confidence", "low")
    (cell,) = json.loads((tmp_path / "a.ipynb").read_text())["cells"]
    assert "".join(cell["source"]) == source.replace("(x.size(0))", "(x.size(0), device=x.device)")


def test_the_configuration_may_ask_for_it_and_the_command_line_has_the_last_word(
    devlint: Run, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "devlint.toml").write_text("fix = true\nunsafe-fixes = true\nshow-fixes = true\n")
    devlint("--no-fix")
    assert file.read_bytes() == PROGRAM
    done = devlint("--no-unsafe-fixes", "--no-show-fixes")
    assert (file.read_bytes(), done.stderr) == (SAFE, "")
    assert "Fixed 1 finding" in devlint().stderr
    assert file.read_bytes() == FIXED


def test_codes_that_may_not_be_fixed_are_not(devlint: Run, file: Path) -> None:
    done = devlint("--fix", "--config", 'unfixable=["DEV1"]')
    assert (file.read_bytes(), done.returncode) == (PROGRAM, 1)
    assert "suggestion: pass `device=x.device`" in done.stdout
    assert "fixable" not in done.stdout
    devlint("--fix", "--config", 'fixable=["DEV2"]')
    assert file.read_bytes() == PROGRAM
    devlint("--fix", "--config", 'fixable=["DEV101"]')
    assert file.read_bytes() == SAFE


def test_a_syntax_error_elsewhere_does_not_keep_a_file_from_being_fixed(devlint: Run, file: Path) -> None:
    (file.parent / "broken.py").write_text("x = (\n")
    assert devlint("--fix").returncode == 1
    assert file.read_bytes() == SAFE


def test_what_is_in_the_baseline_is_left_alone(devlint: Run, file: Path) -> None:
    known = file.read_bytes()
    devlint("--write-baseline")
    added = b"\n\ndef scaled(x: torch.Tensor) -> torch.Tensor:\n    return x * torch.ones(x.shape[0], 1)\n"
    file.write_bytes(known + added)
    done = devlint("--fix", "--baseline", ".devlint-baseline.json")
    assert file.read_bytes() == known + added.replace(b"[0], 1)", b"[0], 1, device=x.device)")
    assert done.returncode == 0
    assert "Fixed 1 finding" in done.stdout


@pytest.mark.parametrize("other", ["--add-noqa", "--write-baseline", "--watch"])
def test_fixing_is_a_run_of_its_own(devlint: Run, file: Path, other: str) -> None:
    done = devlint("--fix", other)
    assert (done.returncode, done.stdout) == (2, "")
    assert file.read_bytes() == PROGRAM
