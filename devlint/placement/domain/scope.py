"""In which definition of which file a thing happens, and what kind of code that is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from devlint.source.role import Role


class Setting(Enum):
    """What kind of definition is walked; it decides what its arguments are."""

    MODULE_LEVEL = "module-level"
    FUNCTION = "function"
    FORWARD = "forward"
    """``forward`` of a Module: its inputs sit with the module's parameters."""
    METHOD = "method"
    CONSTRUCTION = "construction"
    """``__init__`` of a class and the methods that initialise parameters: everything is still where it was made."""
    HOST = "host"
    """Data preparation that belongs on the CPU: a Dataset, a collate function, a transform."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One definition. ``qualname`` is dotted (``Net.forward``), empty at module level."""

    path: str
    role: Role
    qualname: str
    setting: Setting
    class_name: str | None = None

    def __hash__(self) -> int:
        # Rules keep what they learn by scope, and enums take long to hash.
        return hash((self.path, self.qualname))

    @property
    def is_nested(self) -> bool:
        """A function inside another one; a lambda is one too."""
        return self.class_name is None and "." in self.qualname
