"""The other files of the project: found by their imports, analysed when a name of theirs is asked for.

A :class:`Project` serves the analysis of one file. What it says of the others is computed afresh from their text, so
that a file's findings depend on the tree around it and on nothing that was analysed before. Only parsed trees are
kept from one file to the next, by whoever hands in the :class:`Files`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import libcst as cst

from devlint.placement.index import FileIndex
from devlint.placement.values import ProjectModule, Value
from devlint.source.asked import SIGNS, name_part
from devlint.source.part import Part
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.analysis import Analysis

MAX_CHARACTERS = 1_000_000
"""Text of other files that one analysis looks into, about 25,000 lines; names of further ones are unknown."""


class ParsedFile(Protocol):
    @property
    def tree(self) -> cst.Module: ...
    @property
    def parts(self) -> Sequence[Part]: ...
    @property
    def index(self) -> FileIndex: ...
    @property
    def role(self) -> Role: ...
    @property
    def size(self) -> int:
        """Characters."""


class Files(Protocol):
    """The file system, as far as imports need it. All paths are absolute."""

    def parsed(self, file: Path) -> ParsedFile | None:
        """The tree of a file; None for one that cannot be read or is no Python."""

    def rests_on(self, file: Path, part: str) -> None:
        """Note that a part of a file was looked at (:mod:`devlint.source.asked`)."""

    def locate(self, importer: Path, name: str) -> Path | None:
        """The file, or the directory of a package without ``__init__``, that a dotted module name means there."""

    def only_used_inside(self, file: Path, name: str) -> bool:
        """Whether the file is in a package of which no other file has the word ``name``: it is not exported either."""

    def is_package(self, module: Path) -> bool:
        """Whether a located module is a directory without ``__init__``."""

    def shown(self, file: Path) -> str:
        """The path by which reports call a file."""

    def forget(self) -> None:
        """Nothing more will be asked: what the answers were found with may go."""


class Project:
    """The files around one file."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._analyses: dict[Path, Analysis | None] = {}
        self._opened: dict[Path, ParsedFile] = {}
        self._resolving: set[tuple[Path, str]] = set()
        self._resolved: dict[tuple[Path, str], Value | None] = {}
        self._left = MAX_CHARACTERS
        self.running: list[int] = []
        """Definitions being walked, in all files, by the identity of their nodes."""

    def only_used_inside(self, file: Path, name: str) -> bool:
        """Whether nobody can be seen to use a definition but the package's own file it stands in."""
        return self._files.only_used_inside(file, name)

    def rests_on(self, file: Path, part: str) -> None:
        """Note that the findings depend on a part of another file (:mod:`devlint.source.asked`).

        It is said at each look, and there are few doors to look through: :meth:`analysis_of` and :meth:`member` of
        this class, the module level and the imports of an :class:`Analysis`, and ``FunctionInfo.node``. What is met
        behind them in the same file is a part of what was asked for.
        """
        self._files.rests_on(file, part)

    def enter(self, file: Path, analysis: Analysis) -> None:
        """The file that is analysed, so that imports that lead back to it find it."""
        self._analyses[file] = analysis

    def dissolve(self) -> None:
        """Frees what was analysed; the parsed trees stay in the library."""
        for analysis in self._analyses.values():
            if analysis is not None:
                analysis.dissolve()
        self._analyses.clear()
        self._opened.clear()
        self._resolved.clear()
        self._files.forget()

    @property
    def parts(self) -> dict[str, Sequence[Part]]:
        """What was parsed of the other files that were looked into, by the path that reports show."""
        return {self._files.shown(file): parsed.parts for file, parsed in self._opened.items()}

    def analysis_of(self, file: Path) -> Analysis | None:
        """The analysis of another file; None for what cannot be read, and beyond :data:`MAX_CHARACTERS`."""
        if file.suffix != ".py":
            return self._analyses.get(file)
        self.rests_on(file, SIGNS)
        if file in self._analyses:
            return self._analyses[file]
        from devlint.placement.analysis import Analysis

        self._analyses[file] = None
        parsed = self._files.parsed(file) if self._left > 0 else None
        self._left -= parsed.size if parsed is not None else 0
        if parsed is not None and self._left >= 0:
            # It registers itself before its module level is walked, for imports may lead back to it.
            self._opened[file] = parsed
            Analysis(parsed.tree, self._files.shown(file), parsed.role, self, file, parsed.index, asked_only=True)
        return self._analyses[file]

    def resolve(self, importer: Path, name: str) -> Value | None:
        """What a qualified name stands for that ``importer`` imports; None for what is not the project's."""
        key = (importer, name)
        if key not in self._resolved:
            if key in self._resolving:
                return None
            self._resolving.add(key)
            found = self._look_up(importer, name)
            self._resolving.discard(key)
            self._resolved[key] = found
        return self._resolved[key]

    def _look_up(self, importer: Path, name: str) -> Value | None:
        locate = partial(self._files.locate, importer)
        bare = name.lstrip(".")
        dots, parts = name[: len(name) - len(bare)], bare.split(".") if bare else []
        if parts and not dots and locate(parts[0]) is None:
            return None
        for count in range(max(len(parts) - 1, 0), -1, -1):
            module = locate(dots + ".".join(parts[:count])) if count or dots else None
            if module is None or (self._files.is_package(module) and count < len(parts) - 1):
                continue
            found = self._member_path(module, parts[count:])
            if found is not None:
                return found
        whole = locate(name)
        return None if whole is None else ProjectModule(whole)

    def _member_path(self, module: Path, parts: list[str]) -> Value | None:
        from devlint.placement.attributes import static_attribute

        value: Value = ProjectModule(module)
        for part in parts:
            inner = self.member(value.file, part) if isinstance(value, ProjectModule) else static_attribute(value, part)
            if inner is None:
                return None
            value = inner
        return value

    def member(self, module: Path, name: str) -> Value | None:
        """An attribute of a module: a name it binds or imports, a module inside the package, what a star brings in."""
        analysis = self.analysis_of(module)
        if analysis is not None:
            self.rests_on(module, name_part(name))
        found = analysis.exported(name) if analysis is not None else None
        if found is not None:
            return found
        package = module if self._files.is_package(module) else None
        if module.name == "__init__.py":
            package = module.parent
        inner = self._files.locate(package / "__init__.py", f".{name}") if package is not None else None
        if inner is not None:
            return ProjectModule(inner)
        return analysis.from_star(name) if analysis is not None else None
