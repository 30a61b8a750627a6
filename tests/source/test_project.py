"""Roots and module names."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.source.project import identity_path, import_roots, module_name, path_in_project, project_root


def make(root: Path, *files: str) -> None:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


@pytest.mark.parametrize("marker", ["pyproject.toml", "setup.cfg", ".git"])
def test_the_nearest_marker_is_the_project(tmp_path: Path, marker: str) -> None:
    make(tmp_path, f"outer/{marker}", "outer/inner/pkg/net.py")
    assert project_root(tmp_path / "outer/inner/pkg") == tmp_path / "outer"


def test_a_file_in_a_package_is_imported_from_the_parent_of_the_topmost(tmp_path: Path) -> None:
    make(tmp_path, "src/pkg/__init__.py", "src/pkg/sub/__init__.py", "src/pkg/sub/net.py")
    file = tmp_path / "src/pkg/sub/net.py"
    roots = import_roots(file, ())
    assert roots == (tmp_path / "src",)
    assert module_name(file, roots) == "pkg.sub.net"
    assert module_name(tmp_path / "src/pkg/__init__.py", roots) == "pkg"


def test_configured_roots_win_the_deepest_first(tmp_path: Path) -> None:
    make(tmp_path, "src/names/net.py")
    file = tmp_path / "src/names/net.py"
    roots = import_roots(file, (tmp_path, tmp_path / "src"))
    assert roots == (tmp_path / "src", tmp_path)
    assert module_name(file, roots) == "names.net"


def test_a_file_that_cannot_be_imported_has_no_name(tmp_path: Path) -> None:
    assert module_name(tmp_path / "my-script.py", (tmp_path,)) is None
    assert module_name(tmp_path / "a.py", (tmp_path / "src",)) is None


def test_the_identity_does_not_depend_on_the_working_directory(tmp_path: Path) -> None:
    make(tmp_path, "repo/.git/HEAD", "repo/part/pyproject.toml", "repo/part/pkg/net.py")
    file = tmp_path / "repo/part/pkg/net.py"
    assert identity_path(file) == "part/pkg/net.py"
    assert path_in_project(file).as_posix() == "pkg/net.py"


def test_outside_of_any_project_the_own_directory_is_all_that_counts(tmp_path: Path) -> None:
    make(tmp_path, "tests/work/net.py")
    if project_root(tmp_path) is None:
        assert path_in_project(tmp_path / "tests/work/net.py").as_posix() == "work/net.py"
        assert identity_path(tmp_path / "tests/work/net.py") == "net.py"


def test_outside_of_any_project_the_topmost_package_says_what_part_a_file_plays(tmp_path: Path) -> None:
    make(tmp_path, "site/tests/__init__.py", "site/tests/unit/__init__.py", "site/tests/unit/base.py")
    if project_root(tmp_path) is None:
        assert path_in_project(tmp_path / "site/tests/unit/base.py").as_posix() == "tests/unit/base.py"
        assert path_in_project(tmp_path / "site/tests/__init__.py").as_posix() == "tests/__init__.py"
