"""The real program, run as its user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

ROOT = Path(__file__).parents[2]


class Run(Protocol):
    def __call__(
        self, *arguments: str | bytes, cwd: Path | None = None, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


def environment(**changes: str) -> dict[str, str]:
    """An environment in which nothing of the outer terminal shows."""
    names = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return {**kept, "PYTHONPATH": str(ROOT), **changes}


@pytest.fixture
def devlint(tmp_path: Path) -> Run:
    """Run devlint in an empty directory (or ``cwd``) and return what came of it."""

    def run(
        *arguments: str | bytes, cwd: Path | None = None, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "devlint", *arguments],
            cwd=cwd or tmp_path,
            input=stdin,
            capture_output=True,
            env=environment(**(env or {})),
            timeout=120,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        )

    return run
