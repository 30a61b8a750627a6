"""The findings of a release that remain when its annotations are taken away: same rule, same line."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from linting import lint
from typed.checkers import written
from typed.places import rewritten, stripped


class Found(NamedTuple):
    """One finding; the line is that of the release as ``rewritten`` gives it."""

    path: str
    code: str
    line: int


@dataclass(frozen=True)
class Remaining:
    """The default findings of a release, with its annotations and without them."""

    annotated: Counter[Found]
    bare: Counter[Found]

    @property
    def both(self) -> Counter[Found]:
        return self.annotated & self.bare

    @property
    def lost(self) -> Counter[Found]:
        return self.annotated - self.bare

    @property
    def new(self) -> Counter[Found]:
        return self.bare - self.annotated


def remaining(files: Mapping[str, str], keep_docstrings: bool) -> Remaining:
    """Both versions are written without comments, and so line by line alike."""
    annotated = {path: rewritten(text, keep_docstrings) for path, text in files.items()}
    bare = {path: stripped(text, keep_docstrings) for path, text in files.items()}
    return Remaining(findings(annotated), findings(bare))


def findings(files: Mapping[str, str]) -> Counter[Found]:
    """Raises SystemExit where devlint cannot lint them."""
    with tempfile.TemporaryDirectory(prefix="devlint-kinds-") as name:
        directory = Path(name).resolve()
        written(files, directory)
        run = lint(directory, jobs=1)
    if run.trouble:
        raise SystemExit(run.trouble)
    return Counter(Found(one["path"], one["code"], one["line"]) for one in run.findings)
