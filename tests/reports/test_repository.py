"""Paths as a forge knows them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from devlint.reports.repository import Repository


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / ".git").mkdir(parents=True)
    (root / "pkg" / "sub").mkdir(parents=True)
    return root


def test_paths_are_relative_to_the_root_wherever_one_stands(checkout: Path) -> None:
    assert Repository(checkout).path("pkg/net.py") == "pkg/net.py"
    assert Repository(checkout / "pkg").path("net.py") == "pkg/net.py"
    assert Repository(checkout / "pkg" / "sub").path("../net.py") == "pkg/net.py"


def test_without_a_repository_around_one_the_files_tell_it(checkout: Path) -> None:
    outside = Repository(checkout.parent, ["checkout/pkg/net.py", "checkout/setup.py"])
    assert outside.root == checkout
    assert outside.path("checkout/pkg/net.py") == "pkg/net.py"


def test_without_any_repository_the_working_directory_stands_for_it(tmp_path: Path) -> None:
    assert Repository(tmp_path, ["a/net.py"]).path("a/net.py") == "a/net.py"


def test_a_file_elsewhere_keeps_its_absolute_path(checkout: Path) -> None:
    assert Repository(checkout).path("../other.py") == str(checkout.parent / "other.py")


def test_links_inside_are_followed_and_links_outward_are_not(checkout: Path) -> None:
    (checkout / "pkg" / "net.py").write_text("")
    (checkout / "link.py").symlink_to("pkg/net.py")
    (checkout.parent / "far.py").write_text("")
    (checkout / "outward.py").symlink_to("../far.py")
    assert Repository(checkout).path("link.py") == "pkg/net.py"
    assert Repository(checkout).path("outward.py") == "outward.py"


def test_a_linked_working_directory_is_the_same_repository(checkout: Path) -> None:
    link = checkout.parent / "link"
    link.symlink_to(checkout)
    assert Repository(link / "pkg").path("net.py") == "pkg/net.py"


def test_the_place_of_a_worktree_is_marked_by_a_file(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    (tmp_path / "a").mkdir()
    assert Repository(tmp_path / "a").path("net.py") == os.path.join("a", "net.py")
