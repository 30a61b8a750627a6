"""Trees taken out of a small git repository that is made here; nothing is downloaded."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from commits import Commits, Unavailable


def git(directory: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=directory, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(directory: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, encoding="utf-8")
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "-m", "a change")
    return git(directory, "rev-parse", "HEAD")


@pytest.fixture
def history(tmp_path: Path) -> tuple[Path, str, str]:
    """A repository with two commits: its directory and both."""
    directory = tmp_path / "work"
    directory.mkdir()
    git(directory, "init", "-q")
    first = commit(
        directory,
        {"net/a.py": "x = 1\n", "net/a.pyi": "x: int\n", "pyproject.toml": "[project]\n", "weights.bin": "large"},
    )
    return directory, first, commit(directory, {"net/a.py": "x = 2\n"})


def mirror(directory: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    git(directory, "clone", "-q", "--bare", ".", str(target))
    return target


@pytest.mark.parametrize("name", ["net+work", "net+work.git", "net/work", "net/work.git", "net+work/history"])
def test_a_tree_of_each_commit_comes_from_a_mirror(history: tuple[Path, str, str], tmp_path: Path, name: str) -> None:
    directory, first, second = history
    mirror(directory, tmp_path / "mirrors" / name)
    commits = Commits(tmp_path / "cache", tmp_path / "mirrors")
    old, new = commits.tree("net/work", first), commits.tree("net/work", second)
    assert sorted(path.relative_to(old).as_posix() for path in old.rglob("*") if path.is_file()) == [
        "net/a.py",
        "net/a.pyi",
        "pyproject.toml",
    ]
    assert (old / "net/a.py").read_text(encoding="utf-8") == "x = 1\n"
    assert (new / "net/a.py").read_text(encoding="utf-8") == "x = 2\n"


def test_a_clone_that_lacks_a_large_file_is_enough(history: tuple[Path, str, str], tmp_path: Path) -> None:
    directory, first, _ = history
    clone = mirror(directory, tmp_path / "mirrors" / "net+work")
    blob = git(directory, "rev-parse", f"{first}:weights.bin")
    (clone / "objects" / blob[:2] / blob[2:]).unlink()
    assert (Commits(tmp_path / "cache", tmp_path / "mirrors").tree("net/work", first) / "net/a.py").is_file()


def test_a_tree_that_is_there_needs_no_repository(history: tuple[Path, str, str], tmp_path: Path) -> None:
    directory, first, _ = history
    mirror(directory, tmp_path / "mirrors" / "net+work")
    tree = Commits(tmp_path / "cache", tmp_path / "mirrors").tree("net/work", first)
    assert Commits(tmp_path / "cache", tmp_path / "none").tree("net/work", first) == tree


def test_what_is_not_there_is_named_and_leaves_nothing(history: tuple[Path, str, str], tmp_path: Path) -> None:
    directory, _, _ = history
    mirror(directory, tmp_path / "mirrors" / "net+work")
    commits = Commits(tmp_path / "cache", tmp_path / "mirrors")
    with pytest.raises(Unavailable, match="other/work: no clone in"):
        commits.tree("other/work", "0" * 40)
    with pytest.raises(Unavailable, match="git ls-tree"):
        commits.tree("net/work", "1" * 40)
    assert not list((tmp_path / "cache").rglob("*.py"))


def test_a_commit_without_python_is_not_available(history: tuple[Path, str, str], tmp_path: Path) -> None:
    directory, _, _ = history
    git(directory, "rm", "-q", "-r", "net", "pyproject.toml")
    empty = commit(directory, {"notes.txt": "nothing"})
    mirror(directory, tmp_path / "mirrors" / "net+work")
    with pytest.raises(Unavailable, match="has no Python file"):
        Commits(tmp_path / "cache", tmp_path / "mirrors").tree("net/work", empty)


def test_without_mirrors_the_contents_come_from_the_address_when_they_are_wanted(
    history: tuple[Path, str, str], tmp_path: Path
) -> None:
    directory, first, _ = history
    served = mirror(directory, tmp_path / "served" / "net" / "work.git")
    for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(served, "config", setting, "true")
    commits = Commits(tmp_path / "cache", address=f"file://{tmp_path}/served/{{repo}}.git")
    assert (commits.tree("net/work", first) / "net/a.py").read_text(encoding="utf-8") == "x = 1\n"
    clone = tmp_path / "cache" / "clones" / "net+work"
    missing = git(clone, "rev-list", "--objects", "--all", "--missing=print")
    assert f"?{git(directory, 'rev-parse', f'{first}:weights.bin')}" in missing
    assert f"?{git(directory, 'rev-parse', f'{first}:net/a.py')}" not in missing


def test_an_address_that_does_not_answer_is_not_available(tmp_path: Path) -> None:
    commits = Commits(tmp_path / "cache", address=f"file://{tmp_path}/served/{{repo}}.git")
    with pytest.raises(Unavailable, match="git clone"):
        commits.tree("net/work", "0" * 40)
    assert not (tmp_path / "cache" / "clones" / "net+work").exists()
