"""The tree of files with open texts, and what of it is kept from one edit to the next."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from devlint.server.buffer_tree import BufferTree


def _write(file: Path, text: str) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return str(file)


def test_an_open_text_stands_over_the_file(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.py", "on disk")
    tree = BufferTree({path: b"open"})
    assert tree.read(path) == b"open"
    assert tree.update({}) == {path}
    assert tree.read(path) == b"on disk"


def test_files_that_were_not_read_may_change(tmp_path: Path) -> None:
    read, other = _write(tmp_path / "a.py", "one"), _write(tmp_path / "b.py", "one")
    tree = BufferTree({})
    tree.read(read)
    assert tree.update({other: b"two"}) == set()
    assert tree.update({other: b"three"}) == set()
    assert tree.update({other: b"three", read: b"two"}) == {read}
    assert tree.update({other: b"three", read: b"two"}) == set()  # it was told


def test_a_file_that_is_written_is_read_anew(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.py", "one")
    tree = BufferTree({})
    tree.read(path)
    assert tree.update({}) == set()
    _write(tmp_path / "a.py", "other")
    assert tree.update({}) == {path}


def test_a_file_that_comes_or_goes_ends_the_tree(tmp_path: Path) -> None:
    tree = BufferTree({})
    assert not tree.is_file(str(tmp_path / "a.py"))
    _write(tmp_path / "a.py", "")
    assert tree.update({}) is None
    tree = BufferTree({})
    assert tree.is_file(str(tmp_path / "a.py"))
    os.unlink(tmp_path / "a.py")
    assert tree.update({}) is None


def test_a_text_that_is_in_no_file_is_one(tmp_path: Path) -> None:
    path = str(tmp_path / "new.py")
    tree = BufferTree({})
    assert tree.update({path: b"open"}) is None
    tree = BufferTree({path: b"open"})
    assert tree.is_file(path)
    assert list(tree.files_under(str(tmp_path))) == [path]
    assert tree.update({}) is None


def test_a_walked_directory_may_be_saved_to_but_not_added_to(tmp_path: Path) -> None:
    path = _write(tmp_path / "package" / "a.py", "one")
    tree = BufferTree({})
    assert list(tree.files_under(str(tmp_path))) == [path]
    _write(tmp_path / "package" / "a.py.tmp", "two")
    os.replace(tmp_path / "package" / "a.py.tmp", path)
    (tmp_path / "package" / "__pycache__").mkdir()
    assert tree.update({}) == set()
    _write(tmp_path / "package" / "b.py", "one")
    assert tree.update({}) is None
