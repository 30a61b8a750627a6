"""A process that has imported torch and forks for each run, so that the second run need not wait for it again.

``python -m devlint.runtime.nursery`` reads one JSON object a line from its standard input and answers with two lines
for each: the process that it started, and how that process ended. It never touches an accelerator itself: a forked
process can use CUDA only if its parent has not.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol


class Child(Protocol):
    """A running process that leads a group of its own."""

    pid: int

    def poll(self) -> int | None:
        """How it ended, as ``subprocess`` puts it (negative: a signal); None while it runs."""

    def wait_a_little(self) -> None:
        """Wait until it has ended, but not longer than a moment."""


POLL_SECONDS = 0.05


class Spawned:
    """A child started the plain way, where there is no fork."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        with open(order["output"], "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "devlint.runtime.child", order["job"], order["record"]],
                cwd=order["cwd"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **order["environment"]},
                start_new_session=os.name == "posix",
            )
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.poll()

    def wait_a_little(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(POLL_SECONDS)


class Nursery:
    """Starts children. ``close`` ends it; a child that runs is its caller's to stop."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *error: object) -> None:
        if self._server is not None and self._server.stdin and self._server.stdout:
            self._server.stdin.close()
            self._server.stdout.close()
            self._server.wait()

    def start(self, order: Mapping[str, Any]) -> Child:
        """Start a child. ``order``: the files ``job``, ``record`` and ``output``, ``cwd``, and what to add to the
        ``environment``."""
        if not hasattr(os, "fork"):
            return Spawned(order)
        if self._server is None or self._server.poll() is not None:
            self._server = subprocess.Popen(
                # -P: a directory of the program may be called devlint, or torch.
                [sys.executable, "-P", "-m", "devlint.runtime.nursery"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **environment()},
                start_new_session=True,
            )
        return _Forked(self._server, order)


class _Forked:
    def __init__(self, server: subprocess.Popen[bytes], order: Mapping[str, Any]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._answers = server.stdout.fileno()
        self._text = b""
        self._code: int | None = None
        server.stdin.write(json.dumps(dict(order)).encode() + b"\n")
        server.stdin.flush()
        self.pid = int(self._line(None) or 0)

    def poll(self) -> int | None:
        if self._code is None:
            self._read(0)
        return self._code

    def wait_a_little(self) -> None:
        if self._code is None:
            self._read(POLL_SECONDS)

    def _read(self, seconds: float) -> None:
        line = self._line(seconds)
        if line is not None:
            self._code = int(line)

    def _line(self, seconds: float | None) -> bytes | None:
        while b"\n" not in self._text:
            if not select.select([self._answers], [], [], seconds)[0]:
                return None
            read = os.read(self._answers, 4096)
            if not read:
                return b"-9"  # the nursery itself is gone, and its child with it as far as can be known
            self._text += read
        line, _, self._text = self._text.partition(b"\n")
        return line


def environment() -> dict[str, str]:
    """What a child's environment has besides the parent's: devlint is found wherever it lies."""
    here = str(Path(__file__).parents[2])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return {
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONPATH": os.pathsep.join([*paths, *([] if here in paths else [here])]),
    }


def serve() -> None:
    """Fork for each order. The child ends where it was forked, and so does this, when there are no more orders."""
    answers = os.dup(1)
    os.dup2(2, 1)
    with contextlib.suppress(ImportError):
        _share(*_NEEDED_BY_ALL)
    told, tell = os.pipe()
    os.set_blocking(told, False)
    for order in _orders():
        with contextlib.suppress(BlockingIOError):
            if os.read(told, _MOST_TOLD):
                _share(_COMPILER)
        child = os.fork()
        if not child:
            os.close(answers)
            _run(order)
            if _COMPILER in sys.modules:
                os.write(tell, b"+")
            end_without_taking_apart()
        os.write(answers, f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        os.write(answers, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    end_without_taking_apart()


def end_without_taking_apart() -> NoReturn:
    """What the interpreter does at its end, as ``multiprocessing`` does it for the processes it forks.

    Taking apart what torch has imported takes longer than most runs, and in a child it copies all that memory.
    """
    getattr(threading, "_shutdown")()  # noqa: B009 - as atexit's, no stub knows it
    getattr(atexit, "_run_exitfuncs")()  # noqa: B009
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # a program may have closed or replaced them
            stream.flush()
    os._exit(0)


_NEEDED_BY_ALL = ("torch", "devlint.runtime.child", "devlint.runtime.session", "devlint.runtime.simulated")
_COMPILER = "torch._dynamo"
"""Optimizers import it, and it takes as long as torch itself: shared as soon as one run has needed it."""
_MOST_TOLD = 4096


def _share(*names: str) -> None:
    """Import what children need, and let their garbage collector leave it alone: what it looks at is copied."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing of the program runs yet: torch speaks of what it lacks itself
        for name in names:
            importlib.import_module(name)
    gc.freeze()


def _orders() -> Iterator[dict[str, Any]]:
    # Unbuffered: what a buffer had read ahead, a child would read again.
    while line := _read_line(0):
        yield json.loads(line)


def _read_line(file: int) -> bytes:
    text = b""
    while not text.endswith(b"\n"):
        read = os.read(file, 1)
        if not read:
            return b""
        text += read
    return text


def _run(order: dict[str, Any]) -> None:
    os.setsid()
    os.chdir(order["cwd"])
    os.environ.update(order["environment"])
    null = os.open(os.devnull, os.O_RDONLY)
    output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    from devlint.runtime.child import main

    main(order["job"], order["record"])


if __name__ == "__main__":
    serve()
