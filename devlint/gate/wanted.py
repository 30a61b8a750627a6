"""What a run is asked to hold its findings against."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class BaselineUse(Enum):
    """What a run does with a baseline."""

    READ = "read"
    WRITE = "write"
    PRUNE = "prune"


@dataclass(frozen=True)
class Wanted:
    """What a run is asked to hold its findings against."""

    use: BaselineUse = BaselineUse.READ
    """What is done with the baselines that the configuration names."""
    diff_base: str | None = None
