"""Where the user's code is."""

from __future__ import annotations

import sys
from pathlib import Path

from devlint.runtime.frames import spots


def test_like_functions_in_two_files_are_two_places(tmp_path: Path) -> None:
    found = []
    for name in ("one.py", "two.py"):
        names = {"look": lambda: spots(sys._getframe(1))}
        exec(compile("def f():\n    return look()\n\nseen = f()\n", str(tmp_path / name), "exec"), names)
        found.append([(Path(spot.path).name, spot.line, spot.column, spot.end_column) for spot in names["seen"][:2]])
    assert found == [[(name, 2, 12, 18), (name, 4, 8, 11)] for name in ("one.py", "two.py")]
