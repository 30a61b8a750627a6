"""``python -m devlint`` and the ``devlint`` command."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # `typing` is slow to import, and until a handler stands Python tells of an interrupt
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the program. While its modules are imported an interrupt ends it, without a word of Python's."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    from devlint.cli.main import main as program

    program()


if __name__ == "__main__":
    main()
