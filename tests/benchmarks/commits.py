"""Source trees of public git repositories, by commit: from clones that are there, else from the project's address.

``CACHE/trees/<owner>+<name>/<commit>/`` holds the Python files of one commit and what marks a project's root;
``CACHE/clones/<owner>+<name>`` is a clone without contents, made where no directory of clones is given.
"""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ADDRESS = "https://github.com/{repo}.git"
"""Where a project's history is published."""

WANTED = (".py", ".pyi", "pyproject.toml", "setup.cfg")
"""How the names of the files end that devlint reads. Nothing else is taken out, so a clone may lack large files."""

_CLONE_SECONDS = 1800


class Unavailable(Exception):
    """A repository or a commit of it that cannot be had, with the reason."""


@dataclass(frozen=True)
class Commits:
    """The way to a project's source trees.

    ``mirrors``: a directory of clones, ``<owner>+<name>`` or ``<owner>/<name>``, each with or without ``.git``; each a
    git directory, or a directory with one in it.
    """

    cache: Path
    mirrors: Path | None = None
    address: str = ADDRESS

    def tree(self, repo: str, commit: str) -> Path:
        """The directory of a commit's Python files, taken out on the first call. Raises Unavailable."""
        target = self.cache / "trees" / repo.replace("/", "+") / commit
        if not target.is_dir():
            repository = self.repository(repo)
            blobs = _wanted(repository, commit)
            if not blobs:
                raise Unavailable(f"{repo}: {commit} has no Python file")
            if self.mirrors is None:
                _fetch(repository, blobs.values())
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
                files = Path(scratch) / commit
                _write(repository, blobs, files)
                _put(files, target)
        # As in a clone: a file of `src/` and one beside it find each other by the root of the repository.
        (target / ".git").mkdir(exist_ok=True)
        return target

    def repository(self, repo: str) -> Path:
        """The git directory of a project: its mirror, or a clone from its address. Raises Unavailable."""
        if self.mirrors is None:
            return self._cloned(repo)
        for name in (repo.replace("/", "+"), repo):
            for path in (self.mirrors / name, self.mirrors / f"{name}.git"):
                if (found := git_directory(path)) is not None:
                    return found
        raise Unavailable(f"{repo}: no clone in {self.mirrors}")

    def _cloned(self, repo: str) -> Path:
        target = self.cache / "clones" / repo.replace("/", "+")
        if not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
                clone = Path(scratch) / "clone"
                address = self.address.format(repo=repo)
                _git(None, "clone", "-q", "--bare", "--filter=blob:none", address, str(clone), seconds=_CLONE_SECONDS)
                clone.rename(target)
        return target


def git_directory(path: Path) -> Path | None:
    """The git directory that ``path`` is, or the first that is in it."""
    if not path.is_dir():
        return None
    for candidate in (path, *sorted(path.iterdir())):
        if (candidate / "HEAD").is_file() and (candidate / "objects").is_dir():
            return candidate
    return None


def _put(files: Path, target: Path) -> None:
    """Where another thread was quicker, its copy stays."""
    try:
        files.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def _wanted(repository: Path, commit: str) -> dict[str, str]:
    """The ids of the contents of a commit's wanted files, by path. Links and submodules are no files."""
    blobs: dict[str, str] = {}
    for entry in filter(None, _git(repository, "ls-tree", "-r", "-z", commit).split(b"\0")):
        attributes, path = os.fsdecode(entry).split("\t", 1)
        mode, _, blob = attributes.split()
        if mode in ("100644", "100755") and path.endswith(WANTED):
            blobs[path] = blob
    return blobs


def _fetch(repository: Path, blobs: Iterable[str]) -> None:
    """Contents that a clone without contents lacks, all at once: reading them would fetch one after the other."""
    options = ["--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin"]
    _git(repository, "fetch", "-q", "origin", *options, stdin="\n".join(blobs))


def _write(repository: Path, blobs: dict[str, str], target: Path) -> None:
    """The files below ``target``, byte for byte. (``git archive`` would leave out what a project does not export.)"""
    answer = io.BytesIO(_git(repository, "cat-file", "--batch", stdin="\n".join(blobs.values())))
    for path, blob in blobs.items():
        head = answer.readline().split()
        if head[1:2] != [b"blob"]:
            raise Unavailable(f"{repository} lacks the content {blob} of {path}")
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(answer.read(int(head[2])))
        answer.read(1)


def _git(repository: Path | None, *arguments: str, stdin: str = "", seconds: float = 300) -> bytes:
    """What git prints. Raises Unavailable with its complaint."""
    command = ["git", "-c", "safe.directory=*", "-c", "fetch.negotiationAlgorithm=noop"]
    command += [*([] if repository is None else [f"--git-dir={repository}"]), *arguments]
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet["GIT_TERMINAL_PROMPT"] = "0"
    try:
        done = subprocess.run(
            command, input=stdin.encode(), capture_output=True, check=False, timeout=seconds, env=quiet
        )
    except FileNotFoundError:
        raise SystemExit("git is not installed; install it, since the bugs are read from git histories") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"git {arguments[0]} took more than {seconds:.0f} s") from None
    if done.returncode:
        raise Unavailable(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
