"""One nursery for all tests that run programs, so that torch is imported once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from devlint.runtime.nursery import Nursery


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened
