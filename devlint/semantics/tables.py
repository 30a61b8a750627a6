"""Reading the committed tables, each at most once, on first use.

Tables are JSON with one row per line, so that the diff of a regeneration is readable.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]

FOLDER = Path(__file__).parent / "tables"


@cache
def rows(table: str) -> dict[str, Any]:
    """The rows of `tables/<table>.json` by key. A row that is a string is the key of the row it repeats."""
    content: dict[str, Any] = json.loads((FOLDER / f"{table}.json").read_bytes())
    found: dict[str, Any] = content["rows"]
    return found


def row(table: str, key: str) -> Row | None:
    """One row, through its repetitions; None when the table has no such key."""
    found = rows(table).get(key)
    while isinstance(found, str):
        found = rows(table)[found]
    return found
