"""Named pipes, devices and files without end where a run expects a file of its own: one line and 2, at once."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.hostile.conftest import BUG
from tests.hostile.test_settings import KINDS, make, refused


@pytest.mark.parametrize(("kind", "words"), KINDS)
@pytest.mark.parametrize("command", [[], ["baseline", "show"], ["baseline", "prune"]])
def test_a_baseline_of_the_configuration_that_is_no_file_is_refused(
    devlint: Run, tmp_path: Path, command: list[str], kind: str, words: str
) -> None:
    (tmp_path / "devlint.toml").write_text('baseline = "known.json"\n')
    (tmp_path / "a.py").write_text(BUG)
    make(kind, tmp_path / "known.json")
    line = refused(devlint, *command)
    assert words in line
    assert "known.json" in line


@pytest.mark.parametrize(("kind", "words"), KINDS)
@pytest.mark.parametrize("command", [["baseline", "show"], ["baseline", "prune"]])
def test_a_named_baseline_that_is_no_file_is_refused(
    devlint: Run, tmp_path: Path, command: list[str], kind: str, words: str
) -> None:
    (tmp_path / "a.py").write_text(BUG)
    make(kind, tmp_path / "known.json")
    assert words in refused(devlint, *command, "--baseline", "known.json")


@pytest.mark.parametrize(("kind", "words"), KINDS[:2])
@pytest.mark.parametrize("command", [["baseline", "write"], ["--write-baseline"]])
def test_a_baseline_is_written_over_nothing_that_is_no_file(
    devlint: Run, tmp_path: Path, command: list[str], kind: str, words: str
) -> None:
    (tmp_path / "a.py").write_text(BUG)
    make(kind, tmp_path / "known.json")
    before = os.stat(tmp_path / "known.json").st_mode
    assert "known.json" in refused(devlint, *command, "--baseline", "known.json")
    assert os.stat(tmp_path / "known.json").st_mode == before
    assert not stat.S_ISREG(before)


@pytest.mark.parametrize("option", ["--baseline", "--config"])
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/tty", "/dev/fd/0"])
def test_a_device_by_its_own_name(devlint: Run, tmp_path: Path, option: str, device: str) -> None:
    if not os.path.exists(device):
        pytest.skip(f"the system has no {device}")
    (tmp_path / "a.py").write_text(BUG)
    assert device in refused(devlint, option, device)


@pytest.mark.parametrize(("kind", "words"), KINDS)
def test_a_configuration_further_in_that_is_no_file_is_refused(
    devlint: Run, tmp_path: Path, kind: str, words: str
) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.py").write_text(BUG)
    make(kind, tmp_path / "inside" / "devlint.toml")
    assert words in refused(devlint)


@pytest.mark.parametrize(("kind", "words"), KINDS)
def test_an_ignore_file_further_in_that_is_none_is_a_finding(
    devlint: Run, tmp_path: Path, kind: str, words: str
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a.py").write_text(BUG)
    make(kind, tmp_path / "inside" / ".gitignore")
    done = devlint("--output-format", "concise")
    assert done.returncode == 2
    ignored, bug = done.stdout.splitlines()
    assert ignored.startswith("inside/.gitignore:1:1: DEV902")
    assert words in ignored
    assert bug.startswith("inside/a.py:3:1: DEV201")
