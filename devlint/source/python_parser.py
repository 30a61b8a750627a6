"""Python's own parser, one thread at a time.

CPython before 3.11.8 and 3.12.2 counts the nesting of all parses together: two threads that parse at once may get a
SystemError for a text without fault (github.com/python/cpython/issues/106905).
"""

from __future__ import annotations

import ast
import os
import threading

_one_at_a_time = threading.Lock()


def parse(text: str) -> ast.Module:
    """As :func:`ast.parse`, and raises what that raises."""
    with _one_at_a_time:
        return ast.parse(text)


def _renew() -> None:
    """In a forked process: the thread that held the lock is not there to release it."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
