"""Input that somebody made to do harm, given to the real program; some of it as an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run, devlint, environment
from tests.hostile.ordinary_user import NOBODY

__all__ = ["devlint"]

PROGRAM = Path(__file__).with_name("ordinary_user.py")

BUG = "import torch\nx = torch.ones(3)\nx.cuda()\n"
"""One finding, DEV201 at line 3."""

FIXABLE = "import torch\n\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n    return x + torch.arange(x.size(0))\n"
"""One finding with a safe fix, DEV101 at line 5."""


@pytest.fixture
def ground() -> Iterator[Path]:
    """A directory that any user may enter, and that belongs to the one who runs devlint in it."""
    directory = Path(tempfile.mkdtemp(prefix="devlint-ground-"))
    directory.chmod(0o777)
    if os.getuid() == 0:
        os.chown(directory, NOBODY, NOBODY)
    yield directory
    for path in [directory, *directory.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(directory)


@pytest.fixture
def as_user(ground: Path) -> Run:
    """Run devlint in ``ground`` as a user whom permissions bind: root is stopped by none."""

    def run(
        *arguments: str | bytes, cwd: Path | None = None, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(PROGRAM), *arguments],
            cwd=cwd or ground,
            input=stdin.decode(),
            capture_output=True,
            encoding="utf-8",
            env=environment(HOME=str(ground), **(env or {})),
            timeout=120,
            check=False,
        )

    return run  # type: ignore[return-value]
