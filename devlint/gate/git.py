"""What devlint asks git: read only, by its plumbing commands, nothing ever checked out."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.configuration.complaint import Complaint

SUBMODULE, LINK = "160000", "120000"

_SETTINGS = ("-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "diff.renames=true")
"""Over whatever the user has configured; ``--no-optional-locks`` keeps even the index untouched."""


_MISSING = re.compile(rb"missing|could not fetch|unable to read|bad (?:object|tree)|not a tree object")
"""What git says of a repository that lacks objects."""


class GitError(Complaint):
    """Why the comparison with another commit is not possible: one line that says what to do."""


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file, link or submodule of a commit. ``path`` is relative to the repository's root, with forward slashes."""

    mode: str
    blob: str
    path: str


class Repository:
    """One working tree. ``root`` is absolute."""

    def __init__(self, directory: Path) -> None:
        """The repository around a directory. Raises GitError."""
        self.root = directory
        done = self._run("rev-parse", "--show-toplevel")
        if done.returncode:
            raise GitError(_why_not(directory, done.stderr))
        self.root = Path(os.fsdecode(done.stdout.rstrip(b"\n")))

    def merge_base(self, ref: str) -> str:
        """The commit where HEAD and ``ref`` parted. Raises GitError."""
        commit = self._commit(ref)
        if commit is None:
            raise GitError(self._unknown(ref))
        if self._commit("HEAD") is None:
            raise GitError("HEAD has no commit yet")
        done = self._run("merge-base", commit, "HEAD")
        if done.returncode == 0:
            return done.stdout.decode().split()[0]
        if not self._is_shallow():
            raise GitError(f"{ref} and HEAD have no commit in common")
        problem = f"the history here is shallow and does not reach back to where HEAD left {ref}"
        raise GitError(f"{problem}; run: {self._fetch('--unshallow', self._remote_of(ref))}")

    def has_commit(self, commit: str) -> bool:
        """Whether a commit is here."""
        return self._commit(commit) is not None

    def entries(self, commit: str) -> list[TreeEntry]:
        """Every file, link and submodule of a commit."""
        listed = self._ask("ls-tree", "-r", "-z", "--full-tree", commit)
        found: list[TreeEntry] = []
        for line in listed:
            about, _, path = line.partition(b"\t")
            mode, _, blob = about.decode("ascii").split()
            found.append(TreeEntry(mode, blob, os.fsdecode(path)))
        return found

    def changes(self, commit: str) -> tuple[set[str], dict[str, str]]:
        """The tracked paths whose content, mode or existence in the working tree differs, and the renames among them.

        A rename is given from the path in ``commit`` to the one in the working tree.
        """
        options = ("--name-status", "-z", "-M", "--no-ext-diff", "--no-relative", "--ignore-submodules=dirty")
        fields = iter(self._ask("diff", *options, commit, "--"))
        paths: set[str] = set()
        renames: dict[str, str] = {}
        for status in fields:
            path = os.fsdecode(next(fields))
            paths.add(path)
            if status[:1] in (b"R", b"C"):
                target = os.fsdecode(next(fields))
                paths.add(target)
                if status[:1] == b"R":
                    renames[path] = target
        return paths, renames

    def untracked(self) -> set[str]:
        """Files that git does not know and is not told to ignore; repositories inside of this one end with a slash."""
        return {os.fsdecode(path) for path in self._ask("ls-files", "--others", "--exclude-standard", "-z")}

    def blobs(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The contents of blobs by their ids, through one process. Raises GitError for one that is not there."""
        if not ids:
            return {}
        done = self._run("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in ids).encode())
        found: dict[str, bytes] = {}
        rest, position = done.stdout, 0
        for blob in ids:
            end = rest.find(b"\n", position)
            header = rest[position:end].split() if end >= 0 else []
            if len(header) != 3:
                raise GitError(self._incomplete(f"the base is not all here (blob {blob[:12]} is missing)"))
            size = int(header[2])
            found[blob] = rest[end + 1 : end + 1 + size]
            position = end + 1 + size + 1
        return found

    def _commit(self, ref: str) -> str | None:
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return done.stdout.decode().strip() if done.returncode == 0 else None

    def _is_shallow(self) -> bool:
        return self._run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def _unknown(self, ref: str) -> str:
        """What to do about a name that git does not know."""
        remote = self._remote_of(ref)
        problem = f"git knows no commit `{ref}`"
        if remote is None:
            return problem
        branch = ref.removeprefix(f"{remote}/")
        if ref == branch and self._commit(f"{remote}/{ref}") is not None:
            return f"{problem}; it has `{remote}/{ref}`"
        full = ["--unshallow"] if self._is_shallow() else []
        if re.fullmatch(r"[0-9a-f]{7,64}", ref):
            return f"{problem}; run: {self._fetch(*full, remote, ref)}"
        target = f"refs/remotes/{ref}" if ref != branch else f"refs/heads/{ref}"
        return f"{problem}; run: {self._fetch(*full, remote, f'+refs/heads/{branch}:{target}')}"

    def _incomplete(self, problem: str) -> str:
        """What to do about objects that the repository lacks: fetch all, also where it was cloned with a filter."""
        remote = self._remote_of("")
        return problem if remote is None else f"{problem}; run: {self._fetch('--refetch', '--no-filter', remote)}"

    def _fetch(self, *arguments: str | None) -> str:
        return shlex.join(["git", "fetch", *(argument for argument in arguments if argument)])

    def _remote_of(self, ref: str) -> str | None:
        """The remote that a name begins with, else ``origin``, else the first; None without any."""
        remotes = [line.decode() for line in self._run("remote").stdout.splitlines()]
        named = [remote for remote in remotes if ref.startswith(f"{remote}/")]
        usual = [remote for remote in remotes if remote == "origin"]
        return next(iter([*named, *usual, *remotes]), None)

    def _ask(self, *arguments: str) -> list[bytes]:
        """The fields of an answer that has a null byte after each. Raises GitError."""
        done = self._run(*arguments)
        if done.returncode:
            problem = f"`git {arguments[0]}` failed: {_last_line(done.stderr)}"
            raise GitError(self._incomplete(problem) if _MISSING.search(done.stderr) else problem)
        return done.stdout.split(b"\0")[:-1]

    def _run(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = ["git", "--no-optional-locks", *_SETTINGS, *arguments]
        environment = {**os.environ, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
        try:
            return subprocess.run(
                command, cwd=self.root, input=stdin, capture_output=True, env=environment, check=False
            )
        except FileNotFoundError:
            raise GitError("git is not installed, or not on the path") from None
        except OSError as error:
            raise GitError(f"git cannot be run: {(error.strerror or str(error)).lower()}") from None


def _why_not(directory: Path, stderr: bytes) -> str:
    reason = _last_line(stderr)
    if "not a git repository" in reason:
        return f"{directory} is in no git repository"
    if "dubious ownership" in stderr.decode(errors="replace"):
        return f"git refuses {directory}, which another user owns; run: git config --global --add safe.directory '*'"
    if "must be run in a work tree" in reason:
        return f"{directory} is in a git repository without a working tree"
    return f"git cannot read the repository around {directory}: {reason}"


def _last_line(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("fatal: ") if lines else "it says nothing"
