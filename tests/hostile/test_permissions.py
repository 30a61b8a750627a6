"""What an ordinary user may not do: everything else is done, and what was not is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.hostile.conftest import BUG


@pytest.mark.parametrize("mode", [0o644, 0o444, 0o311, 0o000])
def test_a_directory_that_cannot_be_looked_through_is_one_finding(as_user: Run, ground: Path, mode: int) -> None:
    locked = ground / "locked"
    locked.mkdir()
    (locked / "b.py").write_text(BUG)
    (ground / "a.py").write_text(BUG)
    locked.chmod(mode)
    for arguments in ([], ["."], ["a.py", "locked"]):
        done = as_user("--output-format", "concise", *arguments)
        assert (done.returncode, done.stderr.count("internal error")) == (2, 0), done.stderr
        bug, unread = done.stdout.splitlines()
        assert bug.startswith("a.py:3:1: DEV201")
        assert unread.startswith("locked:1:1: DEV902")


@pytest.mark.parametrize("name", ["locked/b.py", "locked/inner", "locked/inner/c.py"])
def test_what_is_in_such_a_directory_and_named_is_a_finding(as_user: Run, ground: Path, name: str) -> None:
    inner = ground / "locked" / "inner"
    inner.mkdir(parents=True)
    for file in (inner / "c.py", ground / "locked" / "b.py", ground / "a.py"):
        file.write_text(BUG)
    (ground / "locked").chmod(0o644)
    done = as_user("--output-format", "concise", "a.py", name)
    assert done.returncode == 2
    bug, unread = done.stdout.splitlines()
    assert bug.startswith("a.py:3:1: DEV201")
    assert unread.startswith(f"{name}:1:1: DEV902")
    assert "permission denied" in unread


def test_an_empty_directory_that_cannot_be_entered_hides_nothing(as_user: Run, ground: Path) -> None:
    (ground / "locked").mkdir()
    (ground / "locked").chmod(0o644)
    (ground / "a.py").write_text(BUG)
    assert as_user().returncode == 1


@pytest.mark.parametrize("name", ["pyproject.toml", "devlint.toml"])
def test_a_configuration_that_may_not_be_read_is_2(as_user: Run, ground: Path, name: str) -> None:
    (ground / name).write_text("[tool.devlint]\n" if name == "pyproject.toml" else "")
    (ground / name).chmod(0)
    (ground / "a.py").write_text(BUG)
    done = as_user()
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name}: cannot be read: permission denied" in done.stderr


def test_an_ignore_file_that_may_not_be_read_is_a_finding(as_user: Run, ground: Path) -> None:
    (ground / ".gitignore").write_text("*.py\n")
    (ground / ".gitignore").chmod(0)
    (ground / "a.py").write_text(BUG)
    done = as_user("--output-format", "concise")
    assert done.returncode == 2
    assert ".gitignore:1:1: DEV902" in done.stdout
    assert "a.py:3:1: DEV201" in done.stdout


def test_a_tree_and_a_cache_that_may_only_be_read_are_linted(as_user: Run, ground: Path) -> None:
    (ground / "a.py").write_text(BUG)
    as_user()
    for path in [ground, *ground.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.stat().st_mtime_ns for path in [ground, *ground.rglob("*")]}
    for arguments in ([], ["-n"]):
        done = as_user(*arguments)
        assert done.returncode == 1
        assert "1 warning in 1 file" in done.stdout
        assert done.stderr == ""
    assert {path: path.stat().st_mtime_ns for path in [ground, *ground.rglob("*")]} == before


def test_a_cache_of_another_user_is_not_used(as_user: Run, ground: Path) -> None:
    (ground / "a.py").write_text(BUG)
    (ground / ".devlint_cache").mkdir()
    (ground / ".devlint_cache").chmod(0)
    done = as_user()
    assert (done.returncode, done.stderr) == (1, "")
