"""Which findings are known: the one matcher of the baseline and of ``--diff-base``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from devlint.finding import Finding


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What a finding is known by: it survives line shifts and reformatting. Several findings may share one."""

    path: str
    """The identity of the file, which does not depend on the working directory."""
    scope: str
    code: str
    text: str

    @classmethod
    def of(cls, finding: Finding, path: str) -> Key:
        return cls(path, finding.scope, finding.code, finding.snippet)


@dataclass(frozen=True)
class Matched:
    """What came of matching findings with known keys."""

    partners: tuple[Key | None, ...]
    """Of each finding the known key it stands for; None for a new one."""
    left: Counter[Key]
    """The known keys that no finding stands for."""


def match(found: Sequence[Key], known: Mapping[Key, int]) -> Matched:
    """Match findings, in the order of their places, with known keys one to one.

    First by the whole key: of n + k findings where n are known, the last k in the file are left. Then, among what is
    left on both sides, by code and text: a definition may have moved or been renamed. There the same path is preferred,
    then the same scope. What has no text (a syntax error) is known by its whole key only.
    """
    left = Counter({key: count for key, count in known.items() if count > 0})
    partners: list[Key | None] = []
    for key in found:
        partners.append(key if left[key] > 0 else None)
        left[key] -= left[key] > 0
    _match_moved(found, partners, left)
    return Matched(tuple(partners), +left)


def _match_moved(found: Sequence[Key], partners: list[Key | None], left: Counter[Key]) -> None:
    """The second pass: fills gaps of ``partners`` and takes from ``left``."""
    candidates: defaultdict[tuple[str, str], list[Key]] = defaultdict(list)
    for key in sorted(+left):
        if key.text:
            candidates[key.code, key.text].append(key)
    for agrees in _PREFERENCES:
        for index, key in enumerate(found):
            if partners[index] is None:
                same = candidates.get((key.code, key.text), ())
                partner = next((known for known in same if left[known] > 0 and agrees(key, known)), None)
                if partner is not None:
                    partners[index] = partner
                    left[partner] -= 1


_PREFERENCES: tuple[Callable[[Key, Key], bool], ...] = (
    lambda found, known: found.path == known.path,
    lambda found, known: found.scope == known.scope,
    lambda found, known: True,
)
