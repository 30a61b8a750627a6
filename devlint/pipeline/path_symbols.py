"""Paths inside of findings, named so that they mean the same in every checkout and from every working directory.

While a file is analysed, a path in its findings is a *symbol*: the path relative to the directory that its project's
paths are counted from, between two null characters, which no Python text holds. The last stage, display, puts paths
for people in their place.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace

from devlint.pipeline.task import FileTask

SYMBOL = re.compile("\0([^\0]*)\0")


def symbol_of(path: str, base: str) -> str:
    """The symbol of an absolute path."""
    return f"\0{relative(path, base)}\0"


def relative(path: str, base: str) -> str:
    """An absolute path counted from an absolute directory, with forward slashes."""
    start = base if base.endswith(os.sep) else base + os.sep
    found = path[len(start) :] if path.startswith(start) else os.path.relpath(path, base)
    return found.replace(os.sep, "/")


def absolute(name: str, base: str) -> str:
    """The path that a symbol's name means."""
    return os.path.normpath(os.path.join(base, name))


def symbolic(task: FileTask) -> FileTask:
    """The same task with a symbol for its path in findings."""
    return replace(task, shown_as=symbol_of(task.path, task.base))
