"""The thread that analyses."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from devlint.server.worker import Worker
from devlint.source.deadline import PATIENCE_SECONDS, checkpoint


def _with_worker(test: Callable[[Worker], Coroutine[Any, Any, None]]) -> None:
    worker = Worker(lambda: None)
    worker.start()
    try:
        asyncio.run(test(worker))
    finally:
        assert worker.end(10)


def _endless(started: threading.Event) -> None:
    started.set()
    while True:  # what counts is processor time
        sum(range(100))


def _endless_with_checkpoints(started: threading.Event, stopped: list[float]) -> None:
    started.set()
    at = time.thread_time()
    try:
        while True:
            checkpoint()
    finally:
        stopped.append(time.thread_time() - at)


def test_what_nobody_waits_for_any_more_is_stopped_and_the_next_work_done() -> None:
    async def test(worker: Worker) -> None:
        started = threading.Event()
        waiting = asyncio.ensure_future(worker.run(lambda: _endless(started)))
        await asyncio.to_thread(started.wait)
        waiting.cancel()
        assert await asyncio.wait_for(worker.run(lambda: "next"), 10) == "next"

    _with_worker(test)


def test_what_nobody_waits_for_any_more_ends_at_its_next_checkpoint() -> None:
    async def test(worker: Worker) -> None:
        started, stopped = threading.Event(), list[float]()
        waiting = asyncio.ensure_future(worker.run(lambda: _endless_with_checkpoints(started, stopped)))
        await asyncio.to_thread(started.wait)
        waiting.cancel()
        assert await asyncio.wait_for(worker.run(lambda: "next"), 10) == "next"
        assert stopped
        assert stopped[0] < PATIENCE_SECONDS

    _with_worker(test)


def test_what_is_dropped_before_it_begins_is_never_begun() -> None:
    async def test(worker: Worker) -> None:
        begin, done = threading.Event(), []
        first = asyncio.ensure_future(worker.run(begin.wait))
        second = asyncio.ensure_future(worker.run(lambda: done.append("second")))
        await asyncio.sleep(0.05)
        second.cancel()
        await asyncio.sleep(0)
        begin.set()
        assert await first
        await worker.run(lambda: done.append("third"))
        assert done == ["third"]

    _with_worker(test)


def test_urgent_work_comes_before_what_waits() -> None:
    async def test(worker: Worker) -> None:
        begin, done = threading.Event(), []
        first = asyncio.ensure_future(worker.run(begin.wait))
        later = asyncio.ensure_future(worker.run(lambda: done.append("later"), urgent=False))
        urgent = asyncio.ensure_future(worker.run(lambda: done.append("urgent")))
        await asyncio.sleep(0.05)
        begin.set()
        await asyncio.gather(first, later, urgent)
        assert done == ["urgent", "later"]

    _with_worker(test)


def test_an_error_in_work_goes_to_whoever_waits_and_ends_nothing() -> None:
    async def test(worker: Worker) -> None:
        with pytest.raises(ZeroDivisionError):
            await worker.run(lambda: 1 // 0)
        assert await worker.run(lambda: 2) == 2

    _with_worker(test)


def test_the_end_stops_what_is_running() -> None:
    async def test(worker: Worker) -> None:
        started = threading.Event()
        asyncio.ensure_future(worker.run(lambda: _endless(started))).cancelled()
        await asyncio.to_thread(started.wait)
        assert await asyncio.to_thread(worker.end, 10)

    _with_worker(test)
