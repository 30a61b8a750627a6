"""Exceptions in words, where they came from, and whether they are what is looked for."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from devlint.runtime.observation import Spot
from devlint.semantics import classify


def is_about_devices(error: BaseException) -> bool:
    """Whether an exception is a device's refusal, by the text of it."""
    return classify(str(error)) is not None


def words_of(error: BaseException) -> str:
    """Type and first line: ``RuntimeError: Expected all tensors ...``."""
    first = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def place_of(error: BaseException) -> Spot | None:
    """Where in the program it went wrong: the innermost of its own lines, else of anybody's but torch's; where Python
    cannot read a file, the place in that file."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return Spot(os.path.abspath(error.filename), error.lineno, error.lineno, error.offset or 0, "")
    found = _user_places(error.__traceback__)
    own = [
        place for place in found if Path(place.path).is_relative_to(Path.cwd()) and "site-packages" not in place.path
    ]
    return next(reversed(own or found), None)


def _user_places(traceback: TracebackType | None) -> list[Spot]:
    from devlint.runtime.frames import is_user_code, spot

    places: list[Spot] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found = spot((code, traceback.tb_lasti)) if is_user_code(code.co_filename) else None
        places += [] if found is None else [found]
        traceback = traceback.tb_next
    return places
