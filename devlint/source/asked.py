"""What an analysis asked of the tree around its file and what it was told: plain data, for whoever asks it again."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import NamedTuple


class Told(NamedTuple):
    """What one file answered to a question for its program."""

    digest: str
    """Of its content; empty for a file that could not be read."""
    facts: str = ""
    """Of its program (:mod:`devlint.source.facts`); empty where there is none."""
    in_project: str = ""
    size: int = 0
    """Characters."""


@dataclass(slots=True)
class Asked:
    """Paths are absolute."""

    parsed: dict[str, Told] = field(default_factory=dict)
    """The files whose programs were asked for, in that order."""
    located: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """The directory of an importing file and a module's name: the file or directory it means there."""
    packages: dict[str, bool] = field(default_factory=dict)
    used_inside: dict[tuple[str, str], bool] = field(default_factory=dict)
    """A file and a word: whether no other file of its package has it."""
    probed: set[str] = field(default_factory=set)
    """The directories in which something was looked for by its name."""
    rooted: set[str] = field(default_factory=set)
    """The directories that were asked whether a project or a package begins there."""

    def probe(self, path: str) -> None:
        self.probed.add(os.path.dirname(path))
