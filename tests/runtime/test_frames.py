"""Where the user's code is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devlint.runtime.frames import spots


def test_like_functions_in_two_files_are_two_places(tmp_path: Path) -> None:
    found = []
    for name in ("one.py", "two.py"):
        names = {"look": lambda: spots(sys._getframe(1))}
        exec(compile("def f():\n    return look()\n\nseen = f()\n", str(tmp_path / name), "exec"), names)
        found.append([(Path(spot.path).name, spot.line, spot.column, spot.end_column) for spot in names["seen"][:2]])
    assert found == [[(name, 2, 12, 18), (name, 4, 8, 11)] for name in ("one.py", "two.py")]


@pytest.mark.parametrize(
    ("head", "end"),
    [
        ("for x in Rows():", (3, 21)),
        ("for x in {1: Rows(), 2: 0}[1]:", (3, 35)),
        ("for x in (\n        Rows()):", (4, 17)),
        ("with Rows():", (3, 17)),
    ],
)
def test_what_a_loop_does_by_itself_is_at_its_head(tmp_path: Path, head: str, end: tuple[int, int]) -> None:
    found = []

    class Rows:
        """Looks who uses it."""

        def __iter__(self) -> Iterator[int]:
            return self

        def __next__(self) -> int:
            found.extend(spots(sys._getframe(1))[:1])
            raise StopIteration

        def __enter__(self) -> None:
            found.extend(spots(sys._getframe(1))[:1])

        def __exit__(self, *_: object) -> None:
            pass

    file = tmp_path / "looped.py"
    file.write_text(f"\ndef f():\n    {head}\n        kept = 1\n        more = 2\n\nf()\n", "utf-8")
    exec(compile(file.read_text("utf-8"), str(file), "exec"), {"Rows": Rows})
    assert [(spot.line, spot.column, spot.end_line, spot.end_column) for spot in found] == [(3, 5, *end)]


def test_a_call_over_several_lines_keeps_its_end(tmp_path: Path) -> None:
    found = []
    file = tmp_path / "called.py"
    file.write_text("format_all(\n    1,\n    2,\n)\n", "utf-8")
    names = {"format_all": lambda *_: found.extend(spots(sys._getframe(1))[:1])}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)
    assert [(spot.line, spot.column, spot.end_line, spot.end_column) for spot in found] == [(1, 1, 4, 2)]
