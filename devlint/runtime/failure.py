"""Exceptions in words, and whether they are what is looked for."""

from __future__ import annotations

from devlint.semantics import classify


def is_about_devices(error: BaseException) -> bool:
    """Whether an exception is a device's refusal, by the text of it."""
    return classify(str(error)) is not None


def words_of(error: BaseException) -> str:
    """Type and first line: ``RuntimeError: Expected all tensors ...``."""
    first = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
