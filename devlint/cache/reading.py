"""JSON as the cache writes and reads it: whatever is wrong with a file, it says nothing, and never more than that.

A file ends with the hash of what stands before. What is damaged inside of a text is JSON still, and would be believed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from devlint.source.reading import MAX_RECORD_BYTES, read_file


def read_record(path: Path) -> bytes:
    """Raises OSError, also for what is no regular file."""
    return read_file(path, MAX_RECORD_BYTES)


def sealed(*lines: bytes) -> bytes:
    """What a file with these lines holds, for `read_sealed`."""
    data = b"\n".join(lines)
    return b"%b\n%b" % (data, _seal(data))


def read_sealed(path: Path) -> list[bytes]:
    """The lines of a file. Raises OSError, and ValueError if it is not what was written."""
    data, _, seal = read_record(path).rpartition(b"\n")
    if seal != _seal(data):
        raise ValueError("not what was written")
    return data.split(b"\n")


def parsed(data: bytes | str) -> Any:
    """Raises ValueError for whatever is no JSON that could be ours."""
    try:
        return json.loads(data)
    except (RecursionError, MemoryError) as error:
        raise ValueError(f"no JSON of ours: {type(error).__name__}") from None


def _seal(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).hexdigest().encode()


BROKEN = Exception
"""What reading something comes to that nobody here has written: anything."""
