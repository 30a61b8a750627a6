"""Functions and models of the tests that the tested code calls, and what they ask it for.

A model of a test that builds `Normal(0, 1)` inside of a lifted call has handed over nothing that says where: what comes
of that call is for the test to move, as what an outermost call makes is.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from types import CodeType, FrameType
from typing import Any

from devlint.runtime.frames import RawSpot, is_user_code, outward
from devlint.runtime.lifting.reachable import is_given_tensors

IsTest = Callable[[str], bool]
"""Whether the file of this path is one of the tests."""


def asked_by_test(
    frame: FrameType | None, outermost: CodeType, is_test: IsTest, is_unmoved: Callable[[Any], bool]
) -> RawSpot | None:
    """The call of a test's function that came to this frame without handing over a tensor, to whatever it called.

    ``outermost``: where the lifted call begins; the test that made it is not meant. What an object makes of which
    somebody has said that nobody moves it is its own.
    """
    between: list[FrameType] = []
    for each in takewhile(lambda each: each.f_code is not outermost, outward(frame)):
        if is_user_code(each.f_code.co_filename):
            if is_test(each.f_code.co_filename):
                own = any(is_unmoved(_receiver(inner)) or _is_given_tensors(inner) for inner in between)
                return None if own else (each.f_code, each.f_lasti)
            between.append(each)
    return None


def _receiver(frame: FrameType) -> Any:
    """The first argument: the object, in a method."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return frame.f_locals.get(names[0]) if names else None


def _is_given_tensors(frame: FrameType) -> bool:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _STARRED) + bool(code.co_flags & _STARRED_TWICE)
    given = (frame.f_locals.get(name) for name in code.co_varnames[:count])
    return is_given_tensors(tuple(given), {})


_STARRED, _STARRED_TWICE = 0x04, 0x08
"""Flags of code that takes ``*args`` and ``**kwargs``."""
