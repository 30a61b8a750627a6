"""What the analysis of one module asks of the modules around it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from devlint.placement.domain.abstract_values import Value

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import Linkage
    from devlint.placement.interpreter.program import Program


class OtherModules(Protocol):
    """The modules around one module. All paths are absolute."""

    def rests_on(self, file: Path, part: str) -> None:
        """Note that the findings depend on a part of another file (:mod:`devlint.source.dependency_parts`)."""

    def only_used_inside(self, file: Path, name: str) -> bool:
        """Whether nobody can be seen to use a definition but the package's own file it stands in."""

    def look_up(self, importer: Path, name: str) -> Value | None:
        """What a qualified name stands for that ``importer`` imports; None for what is not the project's."""

    def member(self, module: Path, name: str) -> Value | None:
        """An attribute of a module of the project; None where it has none."""

    def module_of(self, linkage: Linkage) -> Program | None:
        """The module whose declarations have that linkage; None where it has gone."""
