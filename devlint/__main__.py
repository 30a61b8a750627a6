"""``python -m devlint`` and the ``devlint`` command."""

from __future__ import annotations

from typing import NoReturn


def main() -> NoReturn:
    """Run the program. While its modules are imported an interrupt ends it, without a word of Python's."""
    from devlint.cli.interrupts import end_at_once

    end_at_once()
    from devlint.cli.main import main as program

    program()


if __name__ == "__main__":
    main()
