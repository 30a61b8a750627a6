"""Which files are looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from devlint.configuration.config import Configuration, Overrides
from devlint.source.discovery import USUAL_EXCLUDES, Discovered, discover


def make(root: Path, names: Iterable[str], content: str = "") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


def found(root: Path, paths: list[str] | None = None, **settings: Any) -> list[str]:
    return [os.path.relpath(file, root) for file in look(root, paths, **settings).files]


def look(root: Path, paths: list[str] | None = None, **settings: Any) -> Discovered:
    values = {key.replace("_", "-"): value for key, value in settings.items()}
    return discover(paths or ["."], Configuration(Overrides(values), root), root)


def test_python_files_and_stubs_in_the_order_of_their_paths(tmp_path: Path) -> None:
    make(tmp_path, ["b.py", "a/z.pyi", "a/b/c.py", "README.md", "a.pyc", "py"])
    assert found(tmp_path) == ["a/b/c.py", "a/z.pyi", "b.py"]


@pytest.mark.parametrize("name", USUAL_EXCLUDES)
def test_usual_directories_are_left_out(tmp_path: Path, name: str) -> None:
    make(tmp_path, [f"pkg/{name}/a.py", "pkg/b.py"])
    assert found(tmp_path) == ["pkg/b.py"]


def test_a_file_named_like_a_usual_directory_is_kept(tmp_path: Path) -> None:
    make(tmp_path, ["build.py", "dist/a.py"])
    assert found(tmp_path) == ["build.py"]


def test_named_directories_are_looked_at_whatever_excludes_them(tmp_path: Path) -> None:
    make(tmp_path, ["build/a.py", "gen/b.py", "gen/deep/c.py", "ignored/d.py"])
    make(tmp_path, [".gitignore"], "ignored/\n")
    assert found(tmp_path, ["build", "gen", "ignored"], extend_exclude=["gen/"]) == [
        "build/a.py", "gen/b.py", "gen/deep/c.py", "ignored/d.py",
    ]  # fmt: skip


def test_a_named_file_is_always_looked_at_unless_forced(tmp_path: Path) -> None:
    make(tmp_path, ["gen/a.py", "tool", "gen/b.py"])
    assert found(tmp_path, ["gen/a.py", "tool"], exclude=["gen"]) == ["gen/a.py", "tool"]
    forced = look(tmp_path, ["gen/a.py", "tool"], exclude=["gen"], force_exclude=True)
    assert [os.path.basename(file) for file in forced.files] == ["tool"]
    assert forced.excluded == 1


def test_globs_are_those_of_gitignore(tmp_path: Path) -> None:
    make(tmp_path, ["a_gen.py", "deep/b_gen.py", "deep/c.py", "docs/d.py", "deep/docs/e.py"])
    assert found(tmp_path, extend_exclude=["*_gen.py", "/docs"]) == ["deep/c.py", "deep/docs/e.py"]


def test_ignore_files_are_respected(tmp_path: Path) -> None:
    make(tmp_path, [".git/HEAD", "a.py", "b.py", "keep.py", "sub/c.py", "sub/d.py", "out/e.py", "sub/out/f.py", "g.py"])
    make(tmp_path, [".gitignore"], "# comment\nb.py\nout/\n*.py[cod]\n!keep.py\n")
    make(tmp_path, ["sub/.gitignore"], "/c.py\n")
    make(tmp_path, [".git/info/exclude"], "g.py\n")
    assert found(tmp_path) == ["a.py", "keep.py", "sub/d.py"]
    assert found(tmp_path / "sub") == ["d.py"]
    assert "b.py" in found(tmp_path, respect_gitignore=False)


def test_the_nearer_ignore_file_decides(tmp_path: Path) -> None:
    make(tmp_path, [".git/HEAD", "a.py", "sub/a.py", "other/a.py"])
    make(tmp_path, [".gitignore"], "a.py\n")
    make(tmp_path, ["sub/.gitignore", "other/.ignore"], "!a.py\n")
    assert found(tmp_path) == ["other/a.py", "sub/a.py"]


def test_ignore_files_above_the_repository_do_not_count(tmp_path: Path) -> None:
    make(tmp_path, [".gitignore"], "*.py\n")
    make(tmp_path, ["repo/.git/HEAD", "repo/a.py"])
    assert found(tmp_path / "repo") == ["a.py"]


def test_a_malformed_ignore_pattern_costs_only_itself(tmp_path: Path) -> None:
    make(tmp_path, ["a.py", "b.py"])
    make(tmp_path, [".gitignore"], "!\nb.py\n")
    assert found(tmp_path) == ["a.py"]


def test_overlapping_paths_give_each_file_once(tmp_path: Path) -> None:
    make(tmp_path, ["pkg/a.py"])
    assert found(tmp_path, [".", "pkg", "pkg/a.py", "pkg/../pkg/a.py", str(tmp_path)]) == ["pkg/a.py"]


def test_linked_files_are_looked_at_and_linked_directories_not_followed(tmp_path: Path) -> None:
    make(tmp_path, ["real/a.py"])
    (tmp_path / "linked.py").symlink_to("real/a.py")
    (tmp_path / "linked").symlink_to("real")
    assert found(tmp_path) == ["linked.py", "real/a.py"]
    assert found(tmp_path, ["linked"]) == ["linked/a.py"]


def test_what_is_missing_is_told_as_it_was_named(tmp_path: Path) -> None:
    make(tmp_path, ["a.py"])
    assert look(tmp_path, ["./gone", "a.py/b.py"]).missing == ["./gone", "a.py/b.py"]


def test_a_name_no_system_can_have_is_unreadable(tmp_path: Path) -> None:
    ((_, reason),) = look(tmp_path, ["a\0.py"]).unreadable
    assert "null" in reason


def test_notebooks_are_found_beside_other_files(tmp_path: Path) -> None:
    make(tmp_path, ["a.ipynb", "sub/b.ipynb", "sub/.ipynb_checkpoints/b-checkpoint.ipynb", "c.pyi"])
    assert found(tmp_path) == ["a.ipynb", "c.pyi", "sub/b.ipynb"]
