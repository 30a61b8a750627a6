"""The other files of a project: found by their imports, analysed when a name of theirs is queried.

A :class:`Workspace` holds what is known of the files around. It serves the analysis of one file after the other, with
the results that an empty one would give (:mod:`devlint.placement.interpreter.memo`). A :class:`WorkspaceView` is the
workspace as the analysis of one file sees it: how much it may read, and what its findings depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import libcst as cst

from devlint.placement.calls.attributes import static_attribute
from devlint.placement.declarations.definitions import Linkage
from devlint.placement.declarations.index import FileIndex
from devlint.placement.domain.abstract_values import ProjectModule, Value
from devlint.placement.interpreter.memo import SharedMemo
from devlint.placement.project.module_analysis import ModuleAnalysis
from devlint.source.dependency_parts import SIGNS, name_part
from devlint.source.part import Part
from devlint.source.role import Role

MAX_CHARACTERS_READ = 4_000_000
"""Characters of other files that one analysis depends on, about 100,000 lines; beyond, further names are unknown.

Without a bound one import could read a whole tree. At one million, most model files of transformers ran out of it and
four true findings of them were lost.
"""

PARSED = "parsed"
"""The kind of fact that a file was read; told is what it was, with its ``size`` in characters."""


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
        """Note that a part of a file was looked at (:mod:`devlint.source.dependency_parts`)."""

    @property
    def watched(self) -> bool:
        """Whether something was asked that the tree it is compared with may answer otherwise."""

    def ask(self, file: Path) -> None:
        """An answer rests on a file, and on where its project and its package begin."""

    def remind(self, file: Path) -> None:
        """An answer rests on a file that was asked for before."""

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


class Workspace:
    """The files around, and what has been found out about them. ``memo`` is told of every fact by ``files``."""

    def __init__(self, files: Files, memo: SharedMemo) -> None:
        self._files = files
        self.memo = memo
        self._analyses: dict[Path, ModuleAnalysis | None] = {}
        self._opened: dict[Path, ParsedFile] = {}
        self._modules: dict[Linkage, ModuleAnalysis] = {}
        self._entered: Path | None = None
        self.size = 0
        """Characters of the files that were opened."""

    def rests_on(self, file: Path, part: str) -> None:
        """Note that the findings depend on a part of another file (:mod:`devlint.source.dependency_parts`).

        It is said at each look, and there are few doors to look through: :meth:`analysis_of` and :meth:`member` of
        this class, the module level and the imports of an :class:`Analysis`, and ``FunctionInfo.node``. What is met
        behind them in the same file is a part of what was asked for.
        """
        self._files.rests_on(file, part)

    def enter(self, file: Path, analysis: ModuleAnalysis) -> None:
        """The file that is analysed, so that imports that lead back to it find it."""
        self._analyses[file] = analysis
        self._entered = file

    def register(self, analysis: ModuleAnalysis) -> None:
        """A module whose definitions the others may come to know."""
        self._modules[analysis.linkage] = analysis

    def unregister(self, analysis: ModuleAnalysis) -> None:
        self._modules.pop(analysis.linkage, None)

    def module_of(self, linkage: Linkage) -> ModuleAnalysis | None:
        """The module whose declarations have that linkage; None where it has gone."""
        return self._modules.get(linkage)

    def dissolve(self) -> None:
        """Frees what was analysed; the parsed trees stay in the library."""
        for analysis in self._analyses.values():
            if analysis is not None:
                analysis.dissolve()
        self._analyses.clear()
        self._modules.clear()
        self._opened.clear()
        self._files.forget()
        self.memo.forget_all()

    @property
    def parts(self) -> dict[str, Sequence[Part]]:
        """What was parsed of the files that were looked into, by the path that reports show."""
        return {self._files.shown(file): parsed.parts for file, parsed in self._opened.items()}

    def only_used_inside(self, file: Path, name: str) -> bool:
        """Whether nobody can be seen to use a definition but the package's own file it stands in."""
        return self._files.only_used_inside(file, name)

    @property
    def watched(self) -> bool:
        """Whether something was asked that the tree it is compared with may answer otherwise."""
        return self._files.watched

    def look_from(self, file: Path) -> None:
        """What is asked now is asked for this file."""
        self._files.ask(file)

    def analysis_of(self, file: Path) -> ModuleAnalysis | None:
        """The analysis of a file; None for what cannot be read."""
        if file.suffix != ".py":
            return None
        self.rests_on(file, SIGNS)
        if file in self._analyses:
            if file != self._entered:
                self._files.remind(file)
            return self._analyses[file]
        parsed = self._files.parsed(file)
        found = None
        if parsed is not None:
            self._opened[file] = parsed
            self.size += parsed.size
            path = self._files.shown(file)
            found = ModuleAnalysis(parsed.tree, path, parsed.role, self, file, parsed.index, self.memo)
            self.register(found)
        self._analyses[file] = found
        return found

    def look_up(self, importer: Path, name: str) -> Value | None:
        """What a qualified name stands for that ``importer`` imports; None for what is not the project's."""
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
        return analysis.linkage.from_star(name) if analysis is not None else None


Record = Callable[[str, Any, Any], None]
"""Is told a fact: its kind, what was asked, and what was told."""


class WorkspaceView:
    """A world as the analysis of one file sees it. ``alone``: it serves no other file, and so may know this one."""

    def __init__(self, workspace: Workspace, file: Path, record: Record, alone: bool = False) -> None:
        """``record`` is told of every fact that the analysis rests on, about files in the order they were read."""
        self._workspace = workspace
        self._file = file
        self._record = record
        self._alone = alone
        self._analysis: ModuleAnalysis | None = None
        self._recorded = 0
        self._read = 0
        workspace.memo.begin()

    @property
    def parts(self) -> dict[str, Sequence[Part]]:
        """What was parsed of the other files that were looked into, by the path that reports show."""
        return self._workspace.parts

    @property
    def leads_back(self) -> bool:
        """Whether the files around look into this one: then they must be asked alone."""
        return not self._alone and self._workspace.memo.depends_on(PARSED, str(self._file))

    def enter(self, analysis: ModuleAnalysis) -> None:
        """The analysis of the file, so that imports that lead back to it find it."""
        self._analysis = analysis
        self._workspace.register(analysis)
        if self._alone:
            self._workspace.enter(self._file, analysis)

    def dissolve(self) -> None:
        """Frees the analysis; what was found out of other files stays, unless they were asked alone."""
        self._count()
        if self._analysis is not None:
            self._workspace.unregister(self._analysis)
            self._analysis.dissolve()
            self._analysis = None  # it knows this project, and the two would wait for the collector
        if self._alone:
            self._workspace.dissolve()

    def rests_on(self, file: Path, part: str) -> None:
        """Note that the findings depend on a part of another file."""
        self._workspace.rests_on(file, part)

    def only_used_inside(self, file: Path, name: str) -> bool:
        """Whether nobody can be seen to use a definition but the package's own file it stands in."""
        return self._workspace.only_used_inside(file, name)

    def module_of(self, linkage: Linkage) -> ModuleAnalysis | None:
        """The module whose declarations have that linkage; None where it has gone."""
        return self._workspace.module_of(linkage)

    def look_up(self, importer: Path, name: str) -> Value | None:
        """What a qualified name stands for that ``importer`` imports; None for what is not the project's."""
        return self._workspace.look_up(importer, name) if self._count() < MAX_CHARACTERS_READ else None

    def member(self, module: Path, name: str) -> Value | None:
        """An attribute of a module of the project."""
        return self._workspace.member(module, name) if self._count() < MAX_CHARACTERS_READ else None

    def _count(self) -> int:
        """Characters of other files that the analysis rests on so far."""
        memo = self._workspace.memo
        facts = memo.dependencies
        for kind, asked, told in memo.read(facts & ~self._recorded):
            self._record(kind, asked, told)
            if kind == PARSED:
                self._read += told.size
        self._recorded = facts
        return self._read
