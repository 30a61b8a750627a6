"""What wakes a rule: see ``wakes_at`` of :class:`devlint.rules.rule.Rule`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Question = Callable[[Any], bool]
"""Whether an event of one type wakes the rule."""


def any_of(**questions: Question) -> Mapping[str, Question]:
    """By the name of the handler."""
    return MappingProxyType(questions)


def always(_: Any) -> bool:
    """Any event of the type does."""
    return True
