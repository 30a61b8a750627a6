"""``required-version``: which versions of devlint a configuration is made for."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

_COMPARISONS: Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "==": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip


class NoVersion(ValueError):
    """What is required is no version; the message is the end of a sentence about it."""


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version meets ``required-version``: one version, or comparisons joined by commas (``>=0.1,<1``).

    Raises :class:`NoVersion`.
    """
    have = _release(version)
    met = True
    for clause in wanted.split(","):
        match = re.fullmatch(r"\s*(==|!=|>=|<=|>|<)?\s*v?(\d{1,9}(?:\.\d{1,9})*)\s*", clause)
        if match is None:
            raise NoVersion(f"{wanted!r:.80} is no version, nor one like '>=0.1,<1'")
        met = met and _COMPARISONS[match[1] or "=="](have, _release(match[2]))
    return met


def _release(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", version)]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
