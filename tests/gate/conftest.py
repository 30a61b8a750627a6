"""Real repositories, and programs with known bugs to put into them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devlint.check import Request, check
from devlint.configuration.config import Overrides
from devlint.gate.wanted import BaselineUse, Wanted
from devlint.pipeline.result import Result

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
}  # fmt: skip


def discarded(*names: str, imports: str = "import torch\n") -> str:
    """A module with one DEV201 in each of some functions."""
    function = "\n\ndef {}(x: torch.Tensor) -> torch.Tensor:\n    x.cuda()\n    return x + 1\n"
    return imports + "".join(function.format(name) for name in names)


def run(
    cwd: Path, *paths: str, use: BaselineUse = BaselineUse.READ, diff_base: str | None = None, **settings: Any
) -> Result:
    """``devlint PATHS`` with some settings, in this process. A comparison is made with a cache as well, twice."""
    values = {key.replace("_", "-"): value for key, value in settings.items()}
    request = Request(paths or (".",), cwd, Overrides(values), jobs=1, wanted=Wanted(use, diff_base))
    found = check(request)
    if diff_base is not None:
        overrides = Overrides({**values, "cache-dir": str(cwd.parent / "cache of the comparisons")})
        for _ in range(2):
            again = check(replace(request, overrides=overrides, cached=True))
            assert (again.findings, again.hidden, again.notes) == (found.findings, found.hidden, found.notes)
    return found


def places(result: Result) -> list[str]:
    """``path:scope`` of every finding."""
    return [f"{finding.place.path}:{finding.scope}" for finding in result.findings]


class Repo:
    """A git repository in a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def make(cls, root: Path, files: Mapping[str, str] | None = None) -> Repo:
        root.mkdir(parents=True, exist_ok=True)
        repo = cls(root)
        repo.git("init", "-q", "-b", "main")
        repo.write(**{"README": "a repository\n", **(files or {})})
        repo.commit()
        return repo

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=ENVIRONMENT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.strip()

    def write(self, /, **files: str) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, /, **files: str) -> str:
        """Commit the working tree after some files were written."""
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a commit")
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str = "work") -> None:
        self.git("checkout", "-q", "-b", name)

    def new(self, *paths: str, base: str = "main", **settings: Any) -> list[str]:
        """Where ``devlint --diff-base`` reports something."""
        return places(run(self.root, *paths, diff_base=base, **settings))


@pytest.fixture(autouse=True)
def _plain_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """devlint's own git sees no configuration of whoever runs the tests either."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    for name, value in ENVIRONMENT.items():
        if name.startswith("GIT_"):
            monkeypatch.setenv(name, value)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with a branch ``main``, on which ``old.py`` has two findings."""
    return Repo.make(tmp_path / "repo", {"pkg/__init__.py": "", "pkg/old.py": discarded("one", "two")})
