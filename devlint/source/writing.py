"""Files written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Make ``data`` the content of ``path``: whoever looks sees the old content or the new, never a part of either.

    Mode bits of an existing file stay, and its owner where the system allows it; a link keeps being one, and what it
    leads to is replaced. What is no ordinary file (``/dev/stdout``, a named pipe) is written to as it stands. Raises
    OSError, and then nothing has changed.
    """
    target = Path(os.path.realpath(path))
    status: os.stat_result | None = None
    with contextlib.suppress(FileNotFoundError):
        status = target.stat()
    mode = status.st_mode if status is not None else None
    if mode is not None and not stat.S_ISREG(mode):
        with open(target, "wb") as stream:
            stream.write(data)
        return
    if mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, os.strerror(13), str(target))
    import tempfile

    descriptor, scratch = tempfile.mkstemp(prefix=".devlint-", dir=target.parent)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if status is not None:
            with contextlib.suppress(OSError, AttributeError):
                os.chown(scratch, status.st_uid, status.st_gid)  # before chmod, for it clears bits of the mode
        os.chmod(scratch, stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        os.replace(scratch, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
