"""A file is replaced as a whole."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from devlint.source.writing import write_atomically


def test_a_new_file_gets_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", b"text")
    finally:
        os.umask(before)
    assert (tmp_path / "new").read_bytes() == b"text"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


def test_mode_bits_and_links_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o751)
    link = tmp_path / "link"
    link.symlink_to("target")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o751


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"old")

    def refuse(source: str, destination: str) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="no"):
        write_atomically(target, b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("target", b"old")]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"text")
    reader.join(10)
    assert read == [b"text"]
    assert pipe.is_fifo()


def test_the_longest_name_that_the_file_system_takes_can_be_written(tmp_path: Path) -> None:
    name = "日" * 85
    write_atomically(tmp_path / name, b"text")
    assert os.listdir(tmp_path) == [name]
