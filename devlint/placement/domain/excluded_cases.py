"""Outcomes of conditions that no run has: modes that exclude each other, and arguments that are of one kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from devlint.placement.domain.lattice import Choice, Decided, Device, Guard, GuardKind


def is_no_case(decided: Sequence[Decided], guards: Sequence[Guard], outcome: Sequence[bool]) -> bool:
    """Whether no run reaches a point with these guards of its operands decided so; ``decided`` holds at the point."""
    return _is_no_mode(guards, outcome) or _mixes_types(guards, outcome) or _is_another_mode(decided, guards, outcome)


def in_the_case(decided: Sequence[Decided], device: Device) -> Device:
    """Where a value is at a point that only one of its arms reaches; ``decided`` holds at the point."""
    if not isinstance(device, Choice):
        return device
    if _is_another_mode(decided, (device.guard,), (True,)):
        return in_the_case(decided, device.otherwise)
    return device


def _is_no_mode(guards: Sequence[Guard], outcome: Sequence[bool]) -> bool:
    """Whether a value is none of those that it is compared with: ``if``/``elif`` over the modes that there are."""
    cases: dict[str, list[bool]] = {}
    for guard, holds in zip(guards, outcome, strict=True):
        subject, equals, _ = guard.text.partition(" == ")
        if equals:
            cases.setdefault(subject, []).append(holds)
    return any(len(held) > 1 and not any(held) for held in cases.values())


def _mixes_types(guards: Sequence[Guard], outcome: Sequence[bool]) -> bool:
    """Whether one argument is a tensor and another is none: what takes both kinds is handed numbers or tensors alone.

    ``if not is_tensor(x): x = tensor(x)``, and the same of ``top`` (fixture `numbers_or_tensors`).
    """
    tested = [holds for guard, holds in zip(guards, outcome, strict=True) if guard.kind is GuardKind.IS_TENSOR]
    return len(set(tested)) > 1


_EQUALITY = re.compile(r"([A-Za-z_][\w.]*) == (['\"][^'\"]*['\"]|-?\d+)")


def _is_another_mode(decided: Sequence[Decided], guards: Sequence[Guard], outcome: Sequence[bool]) -> bool:
    """Whether an operand is of one mode, and the point of another: ``average == "micro"`` and ``== "macro"``.

    Helpers hand a mode on under its name, so that one name means one mode in all of them.
    """
    held = {
        (name, value) for guard, holds in zip(guards, outcome, strict=True) if holds for name, value in _modes(guard)
    }
    for one in decided:
        modes = set(_modes(one.guard))
        if one.holds and any(name == n and value != v for name, value in modes for n, v in held):
            return True
        if not one.holds and len(modes) == 1 and modes <= held and _EQUALITY.fullmatch(one.guard.text):
            return True
    return False


def _modes(guard: Guard) -> Iterator[tuple[str, str]]:
    """The equalities that hold where the guard does, by the names and constants in them."""
    for part in guard.text.split(" and "):
        if (found := _EQUALITY.fullmatch(part.strip(" ()"))) is not None:
            yield found[1], found[2].replace("'", '"')
