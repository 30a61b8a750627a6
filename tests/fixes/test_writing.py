"""Files are replaced whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from devlint.fixes.writing import NotWritten, replace_content


def test_mode_bits_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(0o751)
    replace_content(str(file), b"old", b"new")
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o7777 == 0o751
    assert os.listdir(tmp_path) == ["a.py"]


def test_nothing_is_written_if_nothing_changed(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    before = file.stat()
    replace_content(str(file), b"old", b"old")
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a.py", tmp_path / "link.py"
    target.write_bytes(b"old")
    link.symlink_to("there/a.py")
    replace_content(str(link), b"old", b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["link.py", "there"]


def test_a_file_that_changed_in_the_meantime_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"somebody's work")
    with pytest.raises(NotWritten, match="changed while"):
        replace_content(str(file), b"old", b"new")
    assert file.read_bytes() == b"somebody's work"


def test_a_read_only_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(0o444)
    if os.geteuid() == 0:
        # The superuser may write everywhere; everybody else is told no.
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(NotWritten, match="permission denied"):
        replace_content(str(file), b"old", b"new")
    assert file.read_bytes() == b"old"


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="no such file"):
        replace_content(str(tmp_path / "a.py"), b"old", b"new")


def test_what_goes_wrong_on_the_way_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotWritten, match="no space left"):
        replace_content(str(file), b"old", b"new")
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.py"]
