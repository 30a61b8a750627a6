"""The cache as a user meets it: options, the command that removes it, every form of report with and without it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from devlint.cache.place import NAME
from devlint.configuration.configfile import OUTPUT_FORMATS
from tests.cli.conftest import Run, environment

STRAY = "import torch\n\n\ndef shift(x: torch.Tensor):\n    return x + torch.arange(x.size(0))\n"

FIXTURES = Path(__file__).parents[2] / "fixtures" / "projects"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    path = tmp_path / "net.py"
    path.write_text(STRAY)
    return path


def test_no_cache_keeps_nothing(devlint: Run, file: Path) -> None:
    for option in ("-n", "--no-cache"):
        assert devlint(option).returncode == 1
        assert os.listdir(file.parent) == ["net.py", "pyproject.toml"] or not (file.parent / NAME).exists()


def test_the_cache_is_where_it_is_wanted_and_cleaned_away(devlint: Run, file: Path) -> None:
    first = devlint("--cache-dir", "kept")
    assert (file.parent / "kept" / "CACHEDIR.TAG").is_file()
    assert _without_time(devlint("--cache-dir", "kept").stdout) == _without_time(first.stdout)
    done = devlint("clean", "--cache-dir", "kept")
    assert (done.returncode, done.stderr) == (0, "devlint: removed kept\n")
    assert not (file.parent / "kept").exists()
    done = devlint("clean", "--cache-dir", "kept")
    assert (done.returncode, done.stderr) == (0, "devlint: no cache at kept\n")


def test_the_configuration_says_where_the_cache_is(devlint: Run, file: Path) -> None:
    (file.parent / "pyproject.toml").write_text('[tool.devlint]\ncache-dir = "build/lint"\n')
    devlint()
    assert (file.parent / "build" / "lint" / ".gitignore").is_file()
    assert devlint("clean").stderr == "devlint: removed build/lint\n"


def test_clean_leaves_what_is_no_cache(devlint: Run, file: Path) -> None:
    done = devlint("clean", "--cache-dir", ".")
    assert done.returncode == 2
    assert "is no cache of devlint" in done.stderr
    assert file.exists()
    devlint("--cache-dir", ".")
    assert not (file.parent / ".gitignore").exists(), "a directory in use is not hidden from git"
    assert devlint("clean", "--cache-dir", ".").returncode == 2
    assert file.exists()


def test_fixing_from_the_cache_fixes_what_is_there_now(devlint: Run, file: Path) -> None:
    devlint()
    file.write_text("# one more line\n" + STRAY)
    devlint("--fix", "--unsafe-fixes")
    assert file.read_text() == "# one more line\n" + STRAY.replace("x.size(0))", "x.size(0), device=x.device)")
    assert devlint().returncode == 0
    assert devlint("-n").returncode == 0


def test_fixing_again_after_a_cached_run_applies_the_same_edits(devlint: Run, file: Path) -> None:
    os.utime(file, (1, 1))
    for _ in range(2):
        devlint()
    cached = devlint("--diff", "--unsafe-fixes").stdout
    assert cached == devlint("-n", "--diff", "--unsafe-fixes").stdout != ""


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
def test_every_form_of_report_is_the_same_from_the_cache(tmp_path: Path, form: str) -> None:
    """Of all projects in the form that tells all, of one with findings that lead through other files in the others."""
    shutil.copytree(FIXTURES if form == "json" else FIXTURES / "helpers", tmp_path / "programs")
    (tmp_path / "pyproject.toml").write_text("")
    command = [sys.executable, "-m", "devlint", "--output-format", form, "--select", "ALL", "--min-confidence", "low"]

    def run(*options: str) -> str:
        done = subprocess.run(
            [*command, *options], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        return _without_time(done.stdout)

    filling, cached, plain = run(), run(), run("-n")
    assert "DEV101" in plain
    assert filling == plain
    assert cached == plain


def test_a_cached_run_imports_neither_libcst_nor_the_analysis(file: Path) -> None:
    program = (
        "import sys\nfrom devlint.cli.main import run\ncode = run(['.', '-q'])\n"
        "print(*sorted(name for name in sys.modules if name.split('.')[0] in "
        "('libcst', 'torch', 'rich')), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    for expected in (None, ""):
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=file.parent, env=environment(), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 1
        if expected is not None:
            assert done.stderr.strip() == expected


def _without_time(report: str) -> str:
    report = re.sub(r"\d+\.\d+ s\b", "0 s", report)
    return re.sub(r"(time|timestamp)=\"[^\"]*\"|\d{4}-\d\d-\d\dT[\d:.+Z-]+|\d\d:\d\d:\d\d", "", report)
