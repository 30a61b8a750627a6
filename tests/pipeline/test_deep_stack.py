"""The collector while an analysis runs, and after it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from devlint.pipeline.deep_stack import no_collection


@pytest.fixture(autouse=True)
def _as_python_has_it() -> Iterator[None]:
    """The collector is due as soon as it is on again; the other tests have it run more seldom."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_what_was_made_meanwhile_is_not_looked_through_at_once() -> None:
    assert gc.isenabled()
    frozen = gc.get_freeze_count()
    with no_collection:
        assert not gc.isenabled()
        kept = [[] for _ in range(50_000)]
    young = len(gc.get_objects(generation=0))
    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen
    assert len(kept) == 50_000
    assert young < 25_000


class Circle:
    def __init__(self) -> None:
        self.itself = self


def test_garbage_that_was_made_meanwhile_is_found_later() -> None:
    with no_collection:
        made = [weakref.ref(Circle()) for _ in range(1_000)]
        assert all(circle() is not None for circle in made)
    gc.collect()
    assert not any(circle() is not None for circle in made)
