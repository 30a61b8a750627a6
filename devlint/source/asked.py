"""What an analysis asked of the tree around its file and what it was told: plain data, for whoever asks it again.

Of other files it looks at *parts* (:mod:`devlint.source.looks`); :mod:`devlint.source.facts` tells what they say.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from devlint.source.facts import Facts


class Told(NamedTuple):
    """What one file answered to a question for its program."""

    digest: str
    """Of its content; empty for a file that could not be read."""
    in_project: str = ""
    size: int = 0
    """Characters."""
    parts: tuple[str, ...] = ()
    """What of it was looked at, in order."""
    facts: str = ""
    """Of these parts; empty where there is no program."""


@dataclass(slots=True)
class Asked:
    """Paths are absolute."""

    parsed: dict[str, Told] = field(default_factory=dict)
    """The files whose programs were asked for, in that order."""
    facts: dict[str, Facts] = field(default_factory=dict)
    """Of those that have a program, until everything has been asked."""
    looked: set[tuple[str, str]] = field(default_factory=set)
    """Files and the parts of them that were looked at, until everything has been asked."""
    located: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """The directory of an importing file and a module's name: the file or directory it means there."""
    packages: dict[str, bool] = field(default_factory=dict)
    used_inside: dict[tuple[str, str], bool] = field(default_factory=dict)
    """A file and a word: whether no other file of its package has it."""
    probed: set[str] = field(default_factory=set)
    """The directories in which something was looked for by its name."""
    rooted: set[str] = field(default_factory=set)
    """The directories that were asked whether a project or a package begins there."""

    def note(self, kind: str, asked: Any, told: Any) -> None:
        """A fact by the name of its field; of two about the same the first counts."""
        facts = getattr(self, kind)
        if isinstance(facts, set):
            facts.add(asked)
        else:
            facts.setdefault(asked, told)

    def settle(self) -> None:
        """Everything has been asked: what was looked at is told with the files."""
        parts: dict[str, list[str]] = {}
        for path, part in self.looked:
            parts.setdefault(path, []).append(part)
        for path, facts in self.facts.items():
            looked = tuple(sorted(parts.get(path, ())))
            self.parsed[path] = self.parsed[path]._replace(parts=looked, facts=facts.of(looked))
        self.facts.clear()
        self.looked.clear()

    def probe(self, path: str) -> None:
        self.probed.add(os.path.dirname(path))
