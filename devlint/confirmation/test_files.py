"""Which files of a run of tests are tests themselves, or what only tests use."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from devlint.source.role import Role, role_of


@cache
def test_files(root: Path) -> Callable[[str], bool]:
    """Whether the file of an absolute path is one, by its place below ``root``; elsewhere by its name alone."""
    above = str(root) + os.sep

    @cache
    def is_test(path: str) -> bool:
        inside = path.startswith(above) and "site-packages" not in path
        known = path.removeprefix(above) if inside else os.path.basename(path)
        return role_of(Path(known), "") is Role.TEST

    return is_test
