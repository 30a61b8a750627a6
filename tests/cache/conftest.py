"""Projects on disk, linted with a cache; which files were analysed is watched at the door to the workers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import devlint.pipeline.workers
from devlint.check import Request, check
from devlint.configuration.config import Overrides
from devlint.finding import Finding
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.tree import Tree

HELPER = '''"""Helpers."""
import torch


class Base(torch.nn.Module):
    """A base."""


def make(n):
    return torch.zeros(n)


def scale():
    return 2
'''

NET = """import torch
from pkg.helper import Base, make


class Net(Base):
    def forward(self, x):
        return x + make(3)
"""

LOOSE = """import torch
from pkg.helper import Base


class Loose(Base):
    def forward(self, x):
        mask = torch.ones(4)
        return x * mask
"""


@dataclass
class Project:
    """A project and its cache."""

    root: Path
    analysed: list[str] = field(default_factory=list)
    """The files that the last run could not take from the cache."""

    def write(self, name: str, text: str | bytes, *, settled: bool = False) -> None:
        """``settled``: with times of an hour ago, as after a checkout that is not fresh."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        if settled:
            then = time.time() - 3600
            os.utime(path, (then, then))

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def lint(self, *paths: str, cached: bool = True, cwd: str = ".", **settings: object) -> list[Finding]:
        self.analysed.clear()
        request = Request(
            paths=paths or (".",),
            cwd=self.root / cwd,
            overrides=Overrides({key.replace("_", "-"): value for key, value in settings.items()}),
            jobs=1,
            cached=cached,
        )
        return list(check(request).findings)

    def agrees(self, **settings: object) -> list[Finding]:
        """The findings with the cache, which are those without it."""
        found = self.lint(**settings)
        analysed = list(self.analysed)
        assert found == self.lint(cached=False, **settings)
        self.analysed[:] = analysed
        return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project(tmp_path / "project")
    project.write("pyproject.toml", "")
    project.write("pkg/__init__.py", "")
    project.write("pkg/helper.py", HELPER)
    project.write("pkg/net.py", NET)
    project.write("pkg/loose.py", LOOSE)
    original = devlint.pipeline.workers.run

    def watched(tasks: list[FileTask], jobs: int, tree: Tree | None = None) -> Iterator[FileReport]:
        project.analysed.extend(sorted(task.path[len(str(project.root)) + 1 :] for task in tasks))
        return original(tasks, jobs, tree)

    monkeypatch.setattr(devlint.pipeline.workers, "run", watched)
    return project
