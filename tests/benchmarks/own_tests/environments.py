"""An environment for each project: a virtual one over the packages of the interpreter that runs this."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from own_tests.projects import Project

TORCH = "2.13.0"
"""The torch whose behaviour devlint knows; no package may bring another."""

_BESIDE = "beside.pth"
_DONE = "made-for"
_SECONDS = 900


class NotMade(Exception):
    """An environment that pip could not fill, with its complaint."""


def python_of(project: Project, directory: Path) -> Path:
    """The interpreter of the project's environment, filled on the first call. Raises NotMade."""
    home = directory / project.name
    python = home / "bin" / "python"
    told = hashlib.sha256("\n".join(project.needs).encode()).hexdigest()
    done = home / _DONE
    if done.is_file() and done.read_text("utf-8") == told:
        return python
    if not python.exists():
        _run([sys.executable, "-m", "venv", "--without-pip", str(home)])
    packages = Path(sysconfig.get_path("purelib"))
    own = packages.relative_to(sys.prefix)
    (home / own / _BESIDE).write_text(f"{packages}\n", "utf-8")
    if project.needs:
        constraints = home / "constraints.txt"
        constraints.write_text(f"torch=={TORCH}\ntorchvision<0\n", "utf-8")
        pip = [sys.executable, "-m", "pip", "-q", "--python", str(python), "install", "--prefer-binary"]
        _run([*pip, "-c", str(constraints), *project.needs])
    done.write_text(told, "utf-8")
    return python


def _run(command: list[str]) -> None:
    quiet = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS, env=quiet)
    except subprocess.TimeoutExpired:
        raise NotMade(f"{command[2]} took more than {_SECONDS} s") from None
    if done.returncode:
        raise NotMade(_complaint_of(done.stderr))


def _complaint_of(said: str) -> str:
    errors = [line for line in said.splitlines() if line.startswith("ERROR")]
    return errors[-1].removeprefix("ERROR: ") if errors else "pip said nothing"
