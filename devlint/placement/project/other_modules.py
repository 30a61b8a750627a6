"""The interface of one module's analysis to the other modules of the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from devlint.placement.domain.abstract_values import Value

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import Linkage
    from devlint.placement.interpreter.program import Program


class OtherModules(Protocol):
    """The other modules of the workspace. All paths are absolute."""

    def rests_on(self, file: Path, part: str) -> None:
        """Record that the findings depend on a part of another file (:mod:`devlint.source.dependency_parts`)."""

    def mentioned_elsewhere(self, file: Path, name: str) -> bool:
        """Whether another file of the package has the word or sign ``name``, or the file is in no package."""

    def look_up(self, importer: Path, name: str) -> Value | None:
        """The value of a qualified name that ``importer`` imports; None if it is not the project's."""

    def has_module(self, importer: Path, name: str) -> bool:
        """Whether a module of that name is in the project, also one that is no Python."""

    def member(self, module: Path, name: str) -> Value | None:
        """An attribute of a module of the project; None if it has none of that name."""

    def module_of(self, linkage: Linkage) -> Program | None:
        """The module whose declarations have that linkage; None if it was dropped."""
