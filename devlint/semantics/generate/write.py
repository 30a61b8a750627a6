"""Writing a table: one row a line, sorted, so that the diff of a regeneration can be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from devlint.semantics.tables import FOLDER


def render(about: Mapping[str, str], rows: Mapping[str, Any]) -> str:
    """The text of one table."""
    lines = [f"  {json.dumps(key)}: {json.dumps(rows[key])}" for key in sorted(rows)]
    head = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in about.items())
    return '{\n "about": {\n' + head + '\n },\n "rows": {\n' + ",\n".join(lines) + "\n }\n}\n"


def write(table: str, text: str) -> None:
    (FOLDER / f"{table}.json").write_text(text, encoding="utf-8")
