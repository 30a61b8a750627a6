"""Names across the files of a project: what an import, a star or a base of one file stands for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import TypeVar

from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.index import FileIndex
from devlint.placement.domain.abstract_values import ClassValue, Reference, Value
from devlint.placement.interpreter.memo import MemoTable
from devlint.placement.project.other_modules import OtherModules

MAX_STARS = 32
"""Modules that a file imports whole; in an index of hundreds of them, looking one name up would read them all."""

Found = TypeVar("Found")


class ModuleLinkage:
    """One file's way to the others. Without ``others`` or ``file``, what is imported is known by its name alone."""

    def __init__(
        self, index: FileIndex, memo: MemoTable, others: OtherModules | None, file: Path | None, queried: bool
    ) -> None:
        """``queried``: the file itself is one of the others of some analysis, which depends on what is read of it."""
        self._index = index
        self._memo = memo
        self._others = others
        self._file = file
        self._queried = queried

    @property
    def imports(self) -> ImportTable:
        return self._index.imports

    def depends_on(self, part: str) -> None:
        """Note that a part of this file was read, if it is another one than that which is analysed."""
        if self._queried and self._others is not None and self._file is not None:
            self._others.rests_on(self._file, part)

    def query(self, key: Hashable, find: Callable[[], Found], meanwhile: Found) -> Found:
        """The memoised answer of ``find``; ``meanwhile`` where the same query is being answered."""
        return self._memo.query(key, find, meanwhile)

    def imported(self, qualified: str) -> Value:
        """What an imported name stands for: a value of the project, or a reference to what is outside."""
        found = self._resolved(qualified)
        return Reference(qualified) if found is None else found

    def imported_class(self, qualified: str) -> ClassInfo | str:
        """The project's class of that name; the name itself where the project has none."""
        found = self.imported(qualified)
        return found.info if isinstance(found, ClassValue) else qualified

    def from_star(self, name: str) -> Value | None:
        """A public name that ``from module import *`` brings in; None if none does, or too many might."""
        if name.startswith("_") or len(self._index.stars) > MAX_STARS:
            return None
        for module in self._index.stars:
            found = self._resolved(f"{module}{'' if module.endswith('.') else '.'}{name}")
            if found is not None:
                return found
        return None

    def _resolved(self, qualified: str) -> Value | None:
        """What a qualified name stands for that is imported here; None for what is not the project's."""
        if self._others is None or self._file is None:
            return None
        look_up = partial(self._others.look_up, self._file, qualified)
        return self._memo.query(("import", self, qualified), look_up, None)
