"""How far a sweep goes: in the gate, and when one searches (`pytest --hypothesis-profile=search`)."""

from __future__ import annotations

from hypothesis import settings


def chosen(*, gate: int, search: int) -> int:
    """One of the two numbers. The gate's is for what a test of every commit can wait for."""
    return search if settings.get_current_profile_name() == "search" else gate
