"""Whole trees of commits, with what their tests read: from clones, each file that is not too large."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from commits import Commits, Unavailable

LARGEST = 2_000_000
"""Bytes. What is larger is data that no chosen test reads, as far as is known."""


def whole_tree(commits: Commits, repo: str, commit: str) -> Path:
    """The directory of a commit's files, taken out on the first call. Raises Unavailable."""
    target = commits.cache / "whole" / repo.replace("/", "+") / commit
    if not target.is_dir():
        repository = commits.repository(repo)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            files = Path(scratch) / commit
            files.mkdir()
            _write(repository, commit, files)
            files.rename(target)
    return target


def tree_before(commits: Commits, repo: str, date: str) -> Path:
    """The tree that a project's main branch had at a date. Raises Unavailable."""
    commit = _git(commits.repository(repo), "rev-list", "-1", f"--before={date}", "HEAD").decode().strip()
    if not commit:
        raise Unavailable(f"{repo} has no commit before {date}")
    return whole_tree(commits, repo, commit)


def with_tests_of(tree: Path, other: Path, directories: Iterable[str]) -> Path:
    """The tree with the tests of another commit: those written later may ask for a device that is not there."""
    target = tree.parent / f"{tree.name}-tests-of-{other.name}"
    if not target.is_dir():
        with tempfile.TemporaryDirectory(dir=tree.parent) as scratch:
            files = Path(scratch) / tree.name
            shutil.copytree(tree, files, symlinks=True)
            for name in directories:
                if (other / name).is_dir():
                    shutil.rmtree(files / name, ignore_errors=True)
                    shutil.copytree(other / name, files / name, symlinks=True)
            files.rename(target)
    return target


def date_of(commits: Commits, repo: str, commit: str) -> str:
    """Raises Unavailable."""
    return _git(commits.repository(repo), "show", "-s", "--format=%cI", commit).decode().strip()


def _write(repository: Path, commit: str, target: Path) -> None:
    blobs: dict[str, tuple[str, str]] = {}
    for entry in filter(None, _git(repository, "ls-tree", "-r", "-l", "-z", commit).split(b"\0")):
        attributes, path = os.fsdecode(entry).split("\t", 1)
        mode, kind, blob, size = attributes.split()
        if kind == "blob" and size.isdigit() and int(size) <= LARGEST:
            blobs[path] = (mode, blob)
    if not blobs:
        raise Unavailable(f"{repository} has no {commit}")
    answer = io.BytesIO(_git(repository, "cat-file", "--batch", stdin="\n".join(blob for _, blob in blobs.values())))
    for path, (mode, _) in blobs.items():
        head = answer.readline().split()
        if head[1:2] != [b"blob"]:
            continue  # a clone may lack what is large or old; what needs it fails and is seen to
        data = answer.read(int(head[2]))
        answer.read(1)
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if mode == "120000":
            file.symlink_to(os.fsdecode(data))
        else:
            file.write_bytes(data)


def _git(repository: Path, *arguments: str, stdin: str = "") -> bytes:
    command = ["git", "-c", "safe.directory=*", f"--git-dir={repository}", *arguments]
    done = subprocess.run(command, input=stdin.encode(), capture_output=True, check=False)
    if done.returncode:
        raise Unavailable(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
