"""JSON as the cache reads it: whatever is wrong with a file, it says nothing, and never more than that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from devlint.source.reading import MAX_RECORD_BYTES, read_file


def read_record(path: Path) -> bytes:
    """Raises OSError, also for what is no regular file."""
    return read_file(path, MAX_RECORD_BYTES)


def parsed(data: bytes | str) -> Any:
    """Raises ValueError for whatever is no JSON that could be ours."""
    try:
        return json.loads(data)
    except (RecursionError, MemoryError) as error:
        raise ValueError(f"no JSON of ours: {type(error).__name__}") from None
