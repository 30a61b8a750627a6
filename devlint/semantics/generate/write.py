"""Writing tables: one row a line, sorted, so that the diff of a regeneration can be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def render(about: Mapping[str, str], rows: Mapping[str, Any]) -> str:
    """The text of one table."""
    lines = [f"  {json.dumps(key)}: {json.dumps(rows[key])}" for key in sorted(rows)]
    head = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in about.items())
    return '{\n "about": {\n' + head + '\n },\n "rows": {\n' + ",\n".join(lines) + "\n }\n}\n"


def write(tables: Mapping[str, str], folder: Path) -> None:
    """Write each table to `folder` under its name."""
    for name, text in tables.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def stale(tables: Mapping[str, str], folder: Path) -> list[str]:
    """The names of the tables whose file in `folder` is missing or has another text."""
    found = []
    for name, text in tables.items():
        path = folder / f"{name}.json"
        if not path.exists() or path.read_text("utf-8") != text:
            found.append(name)
    return found
