"""``python -m devlint``: the same program as the ``devlint`` command."""

import os
import signal

if __name__ == "__main__":
    # While modules are imported an interrupt ends the program at once, without a word of Python's.
    interrupt = signal.signal(signal.SIGINT, lambda number, frame: os._exit(130))
    from devlint.cli.main import main

    signal.signal(signal.SIGINT, interrupt)
    main()
