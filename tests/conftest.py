"""One nursery for all tests that run programs, so that torch is imported once; examples drawn the same each time.

A gate must say the same of the same commit. `pytest --hypothesis-profile=search` draws other examples each time, many
more of them where a test does not set their number.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from devlint.runtime.nursery import Nursery

settings.register_profile("gate", derandomize=True)
settings.register_profile("search", max_examples=2000, derandomize=False)
settings.load_profile("gate")


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened
