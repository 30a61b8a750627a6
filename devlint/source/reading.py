"""The one reader of files that a stranger may have put there: regular files, up to a size, and nothing else.

A named pipe would block for ever, and a device (also one that a link leads to) has no end.
"""

from __future__ import annotations

import errno
import os
import stat

MAX_BYTES = 4 * 1024 * 1024
"""The longest file that is analysed. LibCST needs some hundred bytes of memory for each byte of text."""

MAX_NOTEBOOK_BYTES = 32 * 1024 * 1024
"""The longest notebook that is read, what it displays included; of its code as many as of a file are analysed."""

NOTEBOOK = ".ipynb"
"""The ending of a file that is no text of Python but holds some."""

MAX_SETTINGS_BYTES = 1024 * 1024
"""The longest configuration, ignore file or list of arguments that is read."""

MAX_RECORD_BYTES = 64 * 1024 * 1024
"""The longest file that devlint wrote itself: a baseline, a part of the cache."""

_READ_AT_ONCE = 64 * 1024


def read_file(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """The content of a regular file of at most ``most_bytes``.

    Raises OSError, its ``strerror`` in plain words, also for what is no regular file, is too large, or has a name that
    no file can have.
    """
    name = os.fspath(path)
    try:
        _check_kind(os.stat(name))
    except ValueError:
        raise OSError(errno.EINVAL, "No file can have such a name") from None
    # Should it have become a pipe since: not to wait for whoever writes to it.
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb", buffering=0) as file:
        found = os.fstat(descriptor)
        _check_kind(found)
        if found.st_size > most_bytes:
            raise _too_large(name, found.st_size, most_bytes)
        parts: list[bytes] = []
        left = most_bytes + 1
        # What the size says is a hint: files of /proc have none, and a file may grow. One byte is asked for beyond it,
        # so that a file of the size that it says to have is read at once.
        asked = found.st_size + 1 if found.st_size else _READ_AT_ONCE
        while left and (part := file.read(min(left, asked))):
            parts.append(part)
            left -= len(part)
            if len(part) == found.st_size:
                break
            asked = _READ_AT_ONCE
    if not left:
        raise _too_large(name, most_bytes + 1, most_bytes)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def most_bytes(path: str) -> int:
    """How long a file of that name may be."""
    return MAX_NOTEBOOK_BYTES if path.endswith(NOTEBOOK) else MAX_BYTES


def reason(error: OSError | ValueError) -> str:
    """Why a file could not be read, as the end of a sentence."""
    text = getattr(error, "strerror", None) or str(error)
    return text[:1].lower() + text[1:]


def _check_kind(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")


def _too_large(name: str, size: int, most_bytes: int) -> OSError:
    mebibytes = 1024 * 1024
    told = f"The file has {size / mebibytes:.1f} MiB; devlint reads files of up to {most_bytes / mebibytes:g} MiB"
    return OSError(errno.EFBIG, told, name)
