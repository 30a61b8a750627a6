"""Names across the files of a workspace: the values of imports and star imports, and classes of base names."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import TypeVar

from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.index import FileIndex
from devlint.placement.domain.abstract_values import ClassValue, ProjectModule, Reference, Value
from devlint.placement.interpreter.memo import MemoTable
from devlint.placement.project.other_modules import OtherModules

MAX_STARS = 32
"""Number of star imports searched; in an index of hundreds of them, one lookup would read them all."""

Found = TypeVar("Found")


class ModuleLinkage:
    """Name resolution from one file to others. Without ``others`` or ``file``, imports are known by name alone."""

    def __init__(
        self, index: FileIndex, memo: MemoTable, others: OtherModules | None, file: Path | None, queried: bool
    ) -> None:
        """``queried``: the analysis of another file reads this file and records its dependencies on it."""
        self._index = index
        self._memo = memo
        self._others = others
        self._file = file
        self._queried = queried

    @property
    def imports(self) -> ImportTable:
        return self._index.imports

    def depends_on(self, part: str) -> None:
        """Record a dependency on a part of this file, if it is not the analysed file."""
        if self._queried and self._others is not None and self._file is not None:
            self._others.rests_on(self._file, part)

    def query(self, key: Hashable, find: Callable[[], Found], meanwhile: Found) -> Found:
        """The memoised result of ``find``; ``meanwhile`` if the same query is in progress."""
        return self._memo.query(key, find, meanwhile)

    def imported(self, qualified: str) -> Value:
        """The value of an imported name: a value of the project, or a reference to a name outside it."""
        found = self._resolved(qualified)
        return Reference(qualified) if found is None else found

    def imported_class(self, qualified: str) -> ClassInfo | str:
        """The project's class of that name; the name itself if the project has no such class."""
        found = self.imported(qualified)
        return found.info if isinstance(found, ClassValue) else qualified

    def from_star(self, name: str) -> Value | None:
        """A public name that ``from module import *`` binds, as the last that does; None if none does, or too many."""
        if name.startswith("_") or len(self._index.stars) > MAX_STARS:
            return None
        led_back: Value | None = None
        for module in reversed(self._index.stars):
            found = self._resolved(f"{module}{'' if module.endswith('.') else '.'}{name}")
            if isinstance(found, Reference) and self._is_of_the_project(found.name):
                # The module imports it by way of the package that imports the module: another one defines it.
                led_back = found
            elif found is not None:
                return found
        return led_back

    def _is_of_the_project(self, qualified: str) -> bool:
        """Whether a module of the project has the first of the names, though nothing is found under all of them."""
        return (
            self._others is not None
            and self._file is not None
            and self._others.has_module(self._file, qualified.partition(".")[0])
        )

    def is_in_no_star(self, name: str) -> bool:
        """Whether the star imports are all of the project's modules, and none of them binds a public name."""
        stars = self._index.stars
        if len(stars) > MAX_STARS or not all(isinstance(self._resolved(module), ProjectModule) for module in stars):
            return False
        return self.from_star(name) is None

    def _resolved(self, qualified: str) -> Value | None:
        """The value of a qualified name that is imported here; None if it is not the project's."""
        if self._others is None or self._file is None:
            return None
        look_up = partial(self._others.look_up, self._file, qualified)
        return self._memo.query(("import", self, qualified), look_up, None)
