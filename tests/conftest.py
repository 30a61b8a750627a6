"""One nursery for all tests that run programs, so that torch is imported once; examples drawn the same each time.

A gate must say the same of the same commit. `pytest --hypothesis-profile=search` draws other examples each time, many
more of them where a test does not set their number.
"""

from __future__ import annotations

import compileall
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import devlint
from devlint.cli.main import GARBAGE_THRESHOLD
from devlint.runtime.nursery import Nursery

settings.register_profile("gate", derandomize=True)
settings.register_profile("search", max_examples=2000, derandomize=False)
settings.load_profile("gate")

TRACED = tuple(Path(__file__).parent / name for name in ("placement", "repairs", "rules", "semantics"))
"""The tests of the packages that the bound on coverage is about."""

LONGEST = tuple(
    Path(__file__).parent / name
    for name in ("test_quality.py", "fixes/test_proof.py", "semantics/test_generated_tables.py")
)
"""Files with a single test of half a minute or more."""


def pytest_configure(config: pytest.Config) -> None:
    """Collect garbage as seldom as the program does. And compile devlint once where Python is told to keep no bytecode,
    as in many containers: the tests start it hundreds of times, and to compile what it imports is half of a short run.
    """
    gc.set_threshold(GARBAGE_THRESHOLD)
    if sys.dont_write_bytecode and not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(devlint.__file__).parent, quiet=2)
    if hasattr(config, "workerinput") and (tracing := tracing_of(config)):
        # In a worker of xdist pytest-cov begins to trace twice, here and with the session. What this first one would
        # write is thrown away, but it would go on whenever the second pauses: nothing would ever be left untraced.
        tracing.pause()


def tracing_of(config: pytest.Config) -> Any:
    """What pauses and resumes the tracing; None where nothing is traced."""
    plugin = config.pluginmanager.getplugin("_cov")
    return plugin and plugin.cov_controller


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Trace only those, and what is set up for them. Traced, other tests take two to ten times as long and cover hardly
    a line more. And where the time of a file is over, an exception is put into the thread that analyses it
    (:mod:`devlint.source.deadline`): it may leave a lock of the tracer held for ever.
    """
    wanted = any(item.path.is_relative_to(directory) for directory in TRACED)
    if (tracing := tracing_of(item.config)) and tracing.started != wanted:
        (tracing.resume if wanted else tracing.pause)()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no process waits for another at the end."""
    items.sort(key=lambda item: item.path not in LONGEST)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened
