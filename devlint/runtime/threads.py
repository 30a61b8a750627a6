"""Function and dispatch modes are kept by thread: threads the program starts get them too."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from devlint.runtime.patching import Patches


def follow(patches: Patches, entered: Callable[[], AbstractContextManager[Any]]) -> None:
    """Run the body of every thread started from now on inside `entered()`.

    Followed twice, the later one is entered inside the earlier.
    """
    true_start = threading.Thread.start

    def start(self: threading.Thread) -> None:
        run = self.run

        def run_inside() -> None:
            with entered():
                run()

        self.run = run_inside  # type: ignore[method-assign]
        true_start(self)

    patches.set(threading.Thread, "start", start)
