"""What a release says it needs, put into an environment of its own beside the torch of this one."""

from __future__ import annotations

import re
from contextlib import suppress
from email.parser import HeaderParser
from pathlib import Path

from own_tests.environments import NotMade, python_of
from own_tests.projects import Project

_OF_ANOTHER_TORCH = re.compile(
    r"(torch|torchvision|torchaudio|torchtext|triton|xformers|numpy|nvidia-.*|tensorflow.*|jax.*)"
)
"""Not installed: they bring another torch, are built for one, or are here already."""


def requirements(release: Path) -> list[str]:
    """The names of what an installed release requires always, without versions: an old release runs with what fits."""
    found: list[str] = []
    for file in sorted(release.glob("*.dist-info/METADATA")):
        header = HeaderParser().parsestr(file.read_text(encoding="utf-8", errors="replace"))
        for line in header.get_all("Requires-Dist", []):
            name = re.match(r"[\w.-]+(\[[\w, -]+\])?", line.strip())
            if name is not None and "extra" not in line and not _OF_ANOTHER_TORCH.fullmatch(name[0].lower()):
                found.append(name[0])
    return found


def installed(release: Path, directory: Path) -> Path | None:
    """Where its requirements were put, those that can be; None where it has none."""
    needs = requirements(release)
    if not needs:
        return None
    done = directory / f"{release.name}.done"
    if not done.exists():
        directory.mkdir(parents=True, exist_ok=True)
        try:
            python_of(_project(release, needs), directory)
        except NotMade:
            for need in needs:
                with suppress(NotMade):
                    python_of(_project(release, [need]), directory)
        done.touch()
    home = directory / release.name / "lib"
    return next(iter(sorted(home.glob("python*/site-packages"))), None)


def _project(release: Path, needs: list[str]) -> Project:
    return Project(name=release.name, needs=tuple(needs))
