"""A process that has imported what every run of tests imports, and forks one run after the other off itself.

A line on standard input is one run, ``{"cwd": DIR, "path": [..], "environment": {..}, "arguments": [..], "said": FILE,
"seconds": N}``; its answer is a line on standard output, ``{"ended": true}``, or false where it took too long.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
from typing import Any

_OFTEN = ("torch", "torch._dynamo", "pytest", "devlint.runtime.simulated", "devlint.runtime.lifting.calls",
          "devlint.confirmation.lifted", "scipy.stats", "scipy.optimize", "sklearn.metrics", "pandas",
          "matplotlib.pyplot")  # fmt: skip


def run(told: dict[str, Any]) -> None:
    """In the child: as ``python -m pytest`` would."""
    os.setsid()
    said = os.open(told["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(said, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(told["cwd"])
    os.environ.update(told["environment"])
    sys.path[:0] = [told["cwd"], *told["path"]]
    sys.argv = ["pytest", *told["arguments"]]
    import pytest

    pytest.main(told["arguments"])


def waited(child: int, seconds: float) -> bool:
    """Whether it came to its end by itself; it and its children are ended all the same."""
    descriptor = os.pidfd_open(child)
    ended = bool(select.select([descriptor], [], [], seconds)[0])
    os.close(descriptor)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return ended


def main() -> None:
    for name in _OFTEN:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        told = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                run(told)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(0)
        print(json.dumps({"ended": waited(child, told["seconds"])}), flush=True)


if __name__ == "__main__":
    main()
