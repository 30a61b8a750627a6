"""Where the cache is on disk, how its files are written, and how all of it is removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

from devlint.source.project import project_root

NAME = ".devlint_cache"

ENVIRONMENT = "DEVLINT_CACHE_DIR"

_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# This directory holds what devlint may compute again.\n"

_ABANDONED_SECONDS = 600

KEPT_VERSIONS = 3
"""Of different versions of devlint, Python or LibCST, the last ones used."""


def default_directory(cwd: Path) -> Path:
    """In the project that the working directory belongs to, or there."""
    return (project_root(cwd) or cwd) / NAME


def prepared(directory: Path, version: str) -> Path | None:
    """The directory for one version's files, made where it is missing; None where nothing can be written."""
    place = directory / version
    try:
        if any(os.path.islink(part) for part in (place, place / "local", place / "packs", place / "programs")):
            return None  # devlint makes no links: somebody wants to have this written elsewhere
        if place.is_dir():
            _sweep(place)
        else:
            directory.mkdir(parents=True, exist_ok=True)
            if not any(directory.iterdir()):
                # A directory that holds other things already stays what it is.
                write(directory / ".gitignore", b"# Written by devlint.\n*\n")
                write(directory / "CACHEDIR.TAG", _TAG)
            place.mkdir(exist_ok=True)
            _forget_old(directory, place)
    except (OSError, ValueError):
        return None
    return place if os.access(place, os.W_OK) else None


def write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; of several processes that do so at a time one comes last. Raises OSError."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with contextlib.suppress(FileNotFoundError):
        scratch.unlink()  # left by a process that was killed, or a link that leads elsewhere
    try:
        with open(scratch, "xb") as file:
            file.write(data)
        os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(OSError):
            scratch.unlink()
        raise


def clean(directory: Path) -> bool:
    """Remove a cache; whether there was one. A directory that is none is left alone. Raises OSError."""
    if not (directory / "CACHEDIR.TAG").is_file():
        return False
    shutil.rmtree(directory)
    return True


def _sweep(place: Path) -> None:
    """Remove what processes that were killed have left half written."""
    for scratch in (*place.glob("*/.*.tmp"), *place.parent.glob(".*.tmp")):
        with contextlib.suppress(OSError):
            if time.time() - scratch.lstat().st_mtime > _ABANDONED_SECONDS:
                scratch.unlink()


def _forget_old(directory: Path, newest: Path) -> None:
    versions = [path for path in directory.glob("*-*") if (path / "packs").is_dir() and path != newest]
    versions = [path for path in versions if not path.is_symlink()]
    versions.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in versions[KEPT_VERSIONS - 1 :]:
        shutil.rmtree(path, ignore_errors=True)
