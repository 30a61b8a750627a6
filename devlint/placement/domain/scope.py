"""The definition and file in which an event happens, and the kind of code."""

from __future__ import annotations

from enum import Enum

from devlint.records import dataclass
from devlint.source.role import Role


class Setting(Enum):
    """The kind of definition; it determines the devices of its arguments."""

    MODULE_LEVEL = "module-level"
    FUNCTION = "function"
    FORWARD = "forward"
    """``forward`` of a Module: its inputs are on the device of the module's parameters."""
    METHOD = "method"
    CONSTRUCTION = "construction"
    """``__init__`` and methods that initialise parameters: everything is still where it was created."""
    HOST = "host"
    """Data preparation that belongs on the CPU: a Dataset, a collate function, a transform."""


_LAMBDA = ".<lambda>"


@dataclass(frozen=True, slots=True)
class Scope:
    """A definition. ``qualname`` is dotted (``Net.forward``), empty at module level."""

    path: str
    role: Role
    qualname: str
    setting: Setting
    class_name: str | None = None

    def __hash__(self) -> int:
        # Rules use scopes as keys, and hashing enums is slow.
        return hash((self.path, self.qualname))

    @property
    def around(self) -> str:
        """The dotted name of the definition that it stands in, if it is a lambda, or one in another; else its own."""
        name = self.qualname
        while name.endswith(_LAMBDA):
            name = name.removesuffix(_LAMBDA)
        return name

    @property
    def is_nested(self) -> bool:
        """Whether it is a function inside another function, or a lambda."""
        return self.class_name is None and "." in self.qualname
