"""What a cached result was computed by: devlint's own sources and tables, LibCST and Python."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from devlint import __version__
from devlint.cache.place import write
from devlint.cache.reading import parsed, read_record

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def version(directory: Path) -> str:
    """The name of the version at work, the same on every machine that has the same one.

    The sources are read once and known by their sizes and times afterwards; ``directory`` keeps that in mind.
    """
    files = list(_files(_PACKAGE))
    stamps = hashlib.blake2b(digest_size=16)
    for path, size, changed in files:
        stamps.update(f"{path}\0{size}\0{changed}\n".encode())
    memo = directory / "sources.json"
    try:
        known = parsed(read_record(memo))
        sources = known[stamps.hexdigest()]
        if not isinstance(sources, str):
            raise TypeError
    except (OSError, ValueError, LookupError, TypeError):
        sources = _digest_of(_PACKAGE, [path for path, _, _ in files])
        if directory.is_dir():
            with contextlib.suppress(OSError):
                write(memo, json.dumps({stamps.hexdigest(): sources}).encode())
    python = f"{sys.implementation.name}{sys.version_info.major}.{sys.version_info.minor}"
    whole = hashlib.blake2b(f"{sources}\0{_libcst()}\0{python}".encode(), digest_size=8)
    return f"{__version__}-{whole.hexdigest()}"


def _files(package: str) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of every source and table of the package.

    All of them, also what has no say in findings today: a list of those that have would have to follow each import.
    """
    stack = [package]
    while stack:
        path = stack.pop()
        if path.endswith((".py", ".json")):
            found = os.stat(path)
            yield path, found.st_size, found.st_mtime_ns
        elif os.path.isdir(path) and not path.endswith("__pycache__"):
            with os.scandir(path) as entries:
                stack += sorted((entry.path for entry in entries), reverse=True)


def _digest_of(package: str, paths: list[str]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        digest.update(f"{os.path.relpath(path, package)}\0{len(data)}\0".replace(os.sep, "/").encode())
        digest.update(data)
    return digest.hexdigest()


def _libcst() -> str:
    """LibCST's version, without importing it; from itself where it is imported already."""
    imported = sys.modules.get("libcst._version")
    if imported is not None:
        return str(imported.version)
    spec = importlib.util.find_spec("libcst")
    if spec is not None and spec.origin:
        try:
            with open(os.path.join(os.path.dirname(spec.origin), "_version.py"), encoding="utf-8") as file:
                found = re.search(r"""version\s*=\s*(['"])([^'"]+)\1""", file.read())
        except OSError:
            found = None
        if found is not None:
            return found[2]
    from importlib.metadata import version as installed

    return installed("libcst")
