"""Fixed bytes put in the place of a file's."""

from __future__ import annotations

from pathlib import Path

from devlint.source.reading import most_bytes, read_file, reason
from devlint.source.writing import write_atomically


class NotWritten(Exception):
    """The file is as it was; the message says why."""


def replace_content(path: str, before: bytes, after: bytes) -> None:
    """Write ``after`` where ``before`` is, whole or not at all; nothing is touched if they are equal.

    A file that is read-only, or that somebody has changed in the meantime, is left alone. Raises :class:`NotWritten`.
    """
    if before == after:
        return
    file = Path(path)
    try:
        if read_file(file, most_bytes(path)) != before:
            raise NotWritten("it was changed while it was being fixed")
        write_atomically(file, after)
    except OSError as error:
        raise NotWritten(reason(error)) from None
