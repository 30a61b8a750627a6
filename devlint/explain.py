"""What devlint holds the expressions of a line to be, where each value comes from, and why it knows no more."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from devlint.configuration.complaint import Complaint
from devlint.configuration.config import Configuration, Overrides
from devlint.pipeline.explanation import Explained, NotExplained, explanations
from devlint.pipeline.planning import Planner
from devlint.source.tree import WorkingTree


class ExplainError(Complaint):
    """There is nothing to explain at the place."""


@dataclass(frozen=True)
class ExplainRequest:
    path: str
    line: int
    column: int | None
    cwd: Path
    overrides: Overrides
    data: bytes | None = None
    """The text of the file, where it is not what stands in it."""


def explain(request: ExplainRequest) -> tuple[Explained, ...]:
    """The expressions at the place, as :func:`devlint.pipeline.explanation.explanations` gives them.

    Raises ConfigurationError, and ExplainError for a file that cannot be analysed and a line without expressions.
    """
    path = os.path.normpath(os.path.join(request.cwd, request.path))
    planner = Planner(Configuration(request.overrides, request.cwd), request.cwd, ignore_noqa=True)
    try:
        found = explanations(planner.task(path, request.data), WorkingTree(), request.line, request.column)
    except NotExplained as error:
        raise ExplainError(f"{request.path}: cannot be analysed: {error}") from None
    if not found:
        at = f"{request.path}:{request.line}" + (f":{request.column}" if request.column is not None else "")
        raise ExplainError(f"{at}: nothing is evaluated there: no expression begins on the line, or no run reaches it")
    return found
