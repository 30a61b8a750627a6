"""The other files of a project: found by their imports, analysed when one of their names is queried.

A :class:`Workspace` holds the analyses of other files. It serves successive analyses, with the results that an empty
one would give (:mod:`devlint.placement.interpreter.memo`). A :class:`WorkspaceView` is the workspace as the analysis of
one file sees it: it limits how much is read, and records what the findings depend on.
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
from devlint.placement.domain.abstract_values import ProjectModule, Reference, Value
from devlint.placement.interpreter.memo import SharedMemo
from devlint.placement.project.module_analysis import ModuleAnalysis
from devlint.source.dependency_parts import PROGRAM, SIGNS, name_part
from devlint.source.outline import Outline
from devlint.source.part import Part
from devlint.source.role import Role

MAX_CHARACTERS_READ = 4_000_000
"""Characters of other files that one analysis may depend on, about 100,000 lines; beyond that, names are unknown.

Without a bound one import could read a whole tree. At one million, most model files of transformers exceeded it and
lost four true findings.
"""

PARSED = "parsed"
"""The kind of fact that a file was parsed; its value is the parsed file, with its ``size`` in characters."""

COUNTED = "counted"
"""How many characters were read when the last file was read and when the first was not, 0 if there was none."""


class ParsedFile(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def tree(self) -> cst.Module: ...
    @property
    def outline(self) -> Outline | None: ...
    @property
    def parts(self) -> Sequence[Part]: ...
    @property
    def index(self) -> FileIndex: ...
    @property
    def role(self) -> Role: ...
    @property
    def size(self) -> int:
        """In characters."""


class Files(Protocol):
    """The file system, as far as name resolution needs it. All paths are absolute."""

    def parsed(self, file: Path) -> ParsedFile | None:
        """The parsed file; None if it cannot be read or is not Python."""

    def rests_on(self, file: Path, part: str) -> None:
        """Record that a part of a file was read (:mod:`devlint.source.dependency_parts`)."""

    @property
    def watched(self) -> bool:
        """Whether the analysis used a fact that may differ in the tree it is compared with."""

    def ask(self, file: Path) -> None:
        """Record a dependency on a file, and on the roots of its project and its package."""

    def remind(self, file: Path) -> None:
        """Record a dependency on a file that an earlier query depended on."""

    def locate(self, importer: Path, name: str) -> Path | None:
        """The file, or directory of a package without ``__init__``, of a dotted module name; None if there is none."""

    def mentioned_elsewhere(self, file: Path, name: str) -> bool:
        """Whether another file of the package has the word or sign ``name``, or the file is in no package.

        A name that no other file has is not exported either.
        """

    def is_in_package(self, file: Path) -> bool:
        """Whether a file is in a package: else nothing is known of the files around it."""

    def is_package(self, module: Path) -> bool:
        """Whether a located module is a directory without ``__init__``."""

    def shown(self, file: Path) -> str:
        """The path of a file in reports."""

    def forget(self) -> None:
        """Drop everything that served to answer queries; no more will follow."""


class Workspace:
    """The other files and their analyses. ``files`` records every fact it reads in ``memo``."""

    def __init__(self, files: Files, memo: SharedMemo) -> None:
        self._files = files
        self.memo = memo
        self._analyses: dict[Path, ModuleAnalysis | None] = {}
        self._opened: dict[Path, ParsedFile] = {}
        self._modules: dict[Linkage, ModuleAnalysis] = {}
        self._entered: Path | None = None
        self.led_back = False
        """Whether an import led back to the analysed file."""
        self.size = 0
        """Number of characters in the files opened."""

    def rests_on(self, file: Path, part: str) -> None:
        """Record that the findings depend on a part of another file (:mod:`devlint.source.dependency_parts`).

        Recorded at each read. The entry points are :meth:`analysis_of` and :meth:`member` of this class, the module
        level and the imports of a :class:`ModuleAnalysis`, and ``FunctionInfo.node``. Whatever else is read in the same
        file belongs to a part that was recorded there.
        """
        self._files.rests_on(file, part)

    def enter(self, file: Path, analysis: ModuleAnalysis) -> None:
        """Set the analysed file, so that imports that lead back to it find its analysis."""
        self._analyses[file] = analysis
        self._entered = file

    def register(self, analysis: ModuleAnalysis) -> None:
        """Register a module whose definitions other modules may reach."""
        self._modules[analysis.linkage] = analysis

    def unregister(self, analysis: ModuleAnalysis) -> None:
        self._modules.pop(analysis.linkage, None)

    def module_of(self, linkage: Linkage) -> ModuleAnalysis | None:
        """The module whose declarations have that linkage; None if it was dropped."""
        return self._modules.get(linkage)

    def dissolve(self) -> None:
        """Drop the analyses; the parsed trees stay in the library."""
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
        """The parsed parts of the files that were read, by the path in reports."""
        return {self._files.shown(file): parsed.parts for file, parsed in self._opened.items()}

    def quoted(self, path: str) -> ParsedFile:
        """A file that was read, by its path in reports: what is said of it depends on the whole of its text."""
        file = next(file for file in self._opened if self._files.shown(file) == path)
        self.rests_on(file, PROGRAM)
        return self._opened[file]

    def mentioned_elsewhere(self, file: Path, name: str) -> bool:
        """Whether another file of the package has the word or sign ``name``, or the file is in no package."""
        return self._files.mentioned_elsewhere(file, name)

    def is_in_package(self, file: Path) -> bool:
        """Whether a file is in a package."""
        return self._files.is_in_package(file)

    def has_module(self, importer: Path, name: str) -> bool:
        """Whether a module of that name is in the project, also one that is no Python."""
        return self._files.locate(importer, name) is not None

    def lacks_module(self, importer: Path, name: str) -> bool:
        """Whether a package of the project, in whose directory alone its modules are, has none of that full name.

        Of another package that is named like one here nobody knows what it holds.
        """
        if self.has_module(importer, name):
            return False
        parts = name.split(".")
        own = [self._files.locate(importer, ".".join(parts[:count])) for count in range(1, len(parts))]
        if not own or own[0] is None or own[0].parent not in importer.parents:
            return False
        return all(one is not None and one.name == "__init__.py" and not self._has_further_paths(one) for one in own)

    def _has_further_paths(self, package: Path) -> bool:
        analysis = self.analysis_of(package)
        self.rests_on(package, PROGRAM)
        return analysis is None or not _PATHS.isdisjoint(analysis.index.read_names)

    @property
    def watched(self) -> bool:
        """Whether the analysis used a fact that may differ in the tree it is compared with."""
        return self._files.watched

    def look_from(self, file: Path) -> None:
        """Set the file on whose behalf the following queries are made."""
        self._files.ask(file)

    def analysis_of(self, file: Path) -> ModuleAnalysis | None:
        """The analysis of a file; None if the file cannot be read."""
        if file.suffix != ".py":
            return None
        self.rests_on(file, SIGNS)
        if file in self._analyses:
            if file == self._entered:
                self.led_back = True
            else:
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
        """The value of a qualified name that ``importer`` imports; None if it is not the project's."""
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
            if found == Reference(name) and locate(name) is not None:
                # `from package import submodule` in the package's own `__init__`: the import leads back to itself.
                break
            if found is not None:
                return found
        whole = locate(name)
        return None if whole is None else ProjectModule(whole)

    def _member_path(self, module: Path, parts: list[str]) -> Value | None:
        value: Value = ProjectModule(module)
        for part in parts:
            if isinstance(value, Reference) and self._files.locate(module, value.name.split(".")[0]) is not None:
                # A module of the project that is being imported, by way of its package: what it holds is not known.
                return None
            inner = self.member(value.file, part) if isinstance(value, ProjectModule) else static_attribute(value, part)
            if inner is None:
                return None
            value = inner
        return value

    def member(self, module: Path, name: str) -> Value | None:
        """An attribute of a module: a name it binds or imports, a submodule, or a name from a star import."""
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


_PATHS = frozenset({"__path__", "extend_path", "declare_namespace", "meta_path"})
"""Names by which the ``__init__`` of a package finds modules elsewhere."""

Record = Callable[[str, Any, Any], None]
"""Records a fact: its kind, key and value."""


class WorkspaceView:
    """The workspace as the analysis of one file sees it.

    ``alone``: it serves no other file, so it may hold this one.
    """

    def __init__(
        self, workspace: Workspace, file: Path, record: Record, alone: bool = False, until_led_back: bool = False
    ) -> None:
        """``record`` gets every fact that the analysis depends on; facts about files in the order of reading.

        ``until_led_back``: :class:`devlint.placement.interpreter.memo.Depends` is raised where another file imports
        this one.
        """
        self._workspace = workspace
        self._file = file
        self._record = record
        self._alone = alone
        self._analysis: ModuleAnalysis | None = None
        self._recorded = 0
        self._read = 0
        self._most_read = 0
        """When something was read further."""
        self._least_refused = 0
        """When something was not, for the first time."""
        workspace.memo.begin((PARSED, str(file)) if until_led_back else None)

    @property
    def parts(self) -> dict[str, Sequence[Part]]:
        """The parsed parts of the other files that were read, by the path in reports."""
        return self._workspace.parts

    def quoted(self, path: str) -> ParsedFile:
        """A file that was read, by its path in reports: what is said of it depends on the whole of its text."""
        return self._workspace.quoted(path)

    @property
    def leads_back(self) -> bool:
        """Whether other files import this one: then they need a workspace of their own (``alone``)."""
        return self._workspace.led_back or self._workspace.memo.depends_on(PARSED, str(self._file))

    def enter(self, analysis: ModuleAnalysis) -> None:
        """Set the analysis of the file, so that imports that lead back to it find it."""
        self._analysis = analysis
        self._workspace.register(analysis)
        if self._alone:
            self._workspace.enter(self._file, analysis)

    def dissolve(self) -> None:
        """Drop the analysis; those of other files stay, unless the workspace is its own (``alone``)."""
        self._count()
        self._record(COUNTED, (self._most_read, self._least_refused), True)
        if self._analysis is not None:
            self._workspace.unregister(self._analysis)
            self._analysis.dissolve()
            self._analysis = None  # The analysis refers to this view; the cycle would wait for the garbage collector.
        if self._alone:
            self._workspace.dissolve()

    def rests_on(self, file: Path, part: str) -> None:
        """Record that the findings depend on a part of another file."""
        self._workspace.rests_on(file, part)

    def mentioned_elsewhere(self, file: Path, name: str) -> bool:
        """Whether another file of the package has the word or sign ``name``, or the file is in no package."""
        return self._workspace.mentioned_elsewhere(file, name)

    def is_in_package(self, file: Path) -> bool:
        """Whether a file is in a package."""
        return self._workspace.is_in_package(file)

    def has_module(self, importer: Path, name: str) -> bool:
        """Whether a module of that name is in the project, also one that is no Python."""
        return self._workspace.has_module(importer, name)

    def lacks_module(self, importer: Path, name: str) -> bool:
        """Whether a package of the project certainly has no module of that full name."""
        return self._workspace.lacks_module(importer, name)

    def module_of(self, linkage: Linkage) -> ModuleAnalysis | None:
        """The module whose declarations have that linkage; None if it was dropped."""
        return self._workspace.module_of(linkage)

    def look_up(self, importer: Path, name: str) -> Value | None:
        """The value of a qualified name that ``importer`` imports; None if it is not the project's."""
        return self._workspace.look_up(importer, name) if self._reads_on() else None

    def member(self, module: Path, name: str) -> Value | None:
        """An attribute of a module of the project."""
        return self._workspace.member(module, name) if self._reads_on() else None

    def _reads_on(self) -> bool:
        """Whether the analysis has read less than it may."""
        read = self._count()
        if read < MAX_CHARACTERS_READ:
            self._most_read = read
            return True
        self._least_refused = self._least_refused or read
        return False

    def _count(self) -> int:
        """Characters of other files that the analysis depends on so far."""
        memo = self._workspace.memo
        facts = memo.dependencies
        for kind, asked, told in memo.read(facts & ~self._recorded):
            self._record(kind, asked, told)
            if kind == PARSED:
                self._read += told.size
        self._recorded = facts
        return self._read
