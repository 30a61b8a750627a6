"""Rows in batches, a process each; a process that dies, hangs or loses its device costs one row, never the record."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from devlint.semantics.record.row import READY, Ended, Row, poisons


def outcomes(rows: Sequence[Row], device: str, size: int, limit: float, start: float = 120) -> Iterator[Ended]:
    """The outcome of every row in order.

    `size`: rows a process; `limit`: seconds without an outcome before it is killed; `start`: seconds for
    Python and torch, until the process is ready for the first. A row at which the process dies is tried once more
    in a process of its own before it is called crashed or hung.
    """
    rest = list(rows)
    alone = False
    while rest:
        batch = rest[: 1 if alone else size]
        done = 0
        poisoned = False
        with _Worker(device, batch) as worker:
            for ended in worker.outcomes(limit, start):
                done += 1
                poisoned = poisons(ended)
                yield ended
        died = done < len(batch) and not poisoned
        if died and len(batch) == 1:
            yield worker.verdict(batch[0], limit)
            done += 1
        alone = died and len(batch) > 1
        rest = rest[done:]


class _Worker:
    """One process with its batch."""

    def __init__(self, device: str, batch: Sequence[Row]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "devlint.semantics.record.worker", device],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._batch = batch
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: list[str] = []
        self._hung = False

    def __enter__(self) -> _Worker:
        for work in (self._send, self._receive, self._listen):
            threading.Thread(target=work, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def outcomes(self, limit: float, start: float) -> Iterator[Ended]:
        patience = start
        while True:
            try:
                line = self._lines.get(timeout=patience)
            except queue.Empty:
                self._hung = True
                return
            if line is None:
                self._process.wait()
                return
            patience = limit
            if line == READY:
                continue
            found = json.loads(line)
            yield Ended(**{**found, "devices": tuple(found.get("devices", ()))})

    def verdict(self, row: Row, limit: float) -> Ended:
        """What to say of the row at which this process ended."""
        if self._hung:
            return Ended(row.key, "hung", message=f"no end after {limit:g} s")
        last = "".join(self._errors[-3:]).strip()[-500:]
        return Ended(row.key, "crashed", message=f"exit status {self._process.returncode}: {last}")

    def _send(self) -> None:
        assert self._process.stdin is not None
        try:
            with self._process.stdin as stdin:
                stdin.writelines(json.dumps(asdict(row)) + "\n" for row in self._batch)
        except BrokenPipeError:
            pass

    def _receive(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):
                self._lines.put(line)
        self._lines.put(None)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._errors.append(line)
            del self._errors[:-20]
