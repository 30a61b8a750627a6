"""Files that cannot be written: what was not fixed is still reported, and nothing is lost or half written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, environment
from tests.hostile.conftest import FIXABLE

LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0})); "
    "from devlint.cli.main import main; main(sys.argv[1:])"
)


def on_a_full_disk(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """No file may grow beyond 64 bytes: every write ends as on a disk without room."""
    return subprocess.run(
        [sys.executable, "-c", LIMITED.format(64), "-n", *arguments],
        cwd=directory, capture_output=True, text=True, env=environment(), timeout=120, check=False,
    )  # fmt: skip


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_on_a_full_disk_nothing_is_fixed_and_everything_reported(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(FIXABLE)
    before = contents(tmp_path)
    done = on_a_full_disk(tmp_path, "--fix")
    assert done.returncode == 2
    assert contents(tmp_path) == before
    assert "a.py is not fixed: cannot be written: file too large" in done.stderr
    assert "a.py:5:16: DEV101" in done.stdout
    assert "b.py:5:16: DEV101" in done.stdout
    assert "Fixed" not in done.stdout
    assert "2 warnings in 2 files" in done.stdout


@pytest.mark.parametrize("arguments", [["--fix-only"], ["--fix", "--exit-zero"], ["--fix", "-q"]])
def test_the_exit_code_of_a_full_disk_is_2_whatever_else_is_wished(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    assert on_a_full_disk(tmp_path, *arguments).returncode == 2
    assert contents(tmp_path) == {"a.py": FIXABLE.encode()}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--add-noqa"], "cannot write a.py: file too large"),
        (["--write-baseline"], "cannot be written: file too large"),
        (["-o", "report.txt"], "cannot write report.txt: file too large"),
    ],
)
def test_nothing_else_that_writes_leaves_a_part(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    done = on_a_full_disk(tmp_path, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert contents(tmp_path) == {"a.py": FIXABLE.encode()}


def test_a_file_that_was_written_is_told_from_one_that_was_not(as_user: Run, ground: Path) -> None:
    (ground / "open").mkdir(mode=0o777)
    (ground / "open").chmod(0o777)
    (ground / "shut").mkdir()
    for name in ("open/a.py", "shut/b.py"):
        (ground / name).write_text(FIXABLE)
        (ground / name).chmod(0o666)
    (ground / "shut").chmod(0o555)
    done = as_user("--fix", "--output-format", "json")
    assert done.returncode == 2
    assert "shut/b.py is not fixed: cannot be written: permission denied" in done.stderr
    document = json.loads(done.stdout)
    assert document["summary"]["fixed"] == 1
    assert [finding["path"] for finding in document["findings"]] == ["shut/b.py"]
    assert "device=x.device" in (ground / "open" / "a.py").read_text()
    assert (ground / "shut" / "b.py").read_text() == FIXABLE
    assert sorted(path.name for path in ground.rglob("*.py")) == ["a.py", "b.py"]


def test_a_file_that_may_not_be_changed_is_not_fixed(as_user: Run, ground: Path) -> None:
    (ground / "a.py").write_text(FIXABLE)
    (ground / "a.py").chmod(0o444)
    done = as_user("--fix")
    assert done.returncode == 2
    assert "a.py is not fixed: cannot be written: permission denied" in done.stderr
    assert "a.py:5:16: DEV101" in done.stdout
    assert (ground / "a.py").read_text() == FIXABLE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("arguments", [[], ["--output-format", "json"], ["--show-files"], ["--diff"]])
def test_a_report_that_finds_no_room_is_2(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "a.py").write_text(FIXABLE)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "devlint", "-n", *arguments],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert b"no space left on device" in done.stderr
    assert b"Traceback" not in done.stderr
