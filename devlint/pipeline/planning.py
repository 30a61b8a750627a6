"""From the path of a file to the task of analysing it; what its directory has a say in is found out once for all."""

from __future__ import annotations

import os
from pathlib import Path

from devlint.configuration.config import Configuration, Settings
from devlint.pipeline.task import FileTask, Gate
from devlint.records import dataclass
from devlint.source.project import identity_root, shown_path, standing_root
from devlint.source.tree import WorkingTree


@dataclass(frozen=True, slots=True)
class _Directory:
    """What the tasks of a directory's files have in common; the texts are put before a file's name."""

    settings: Settings
    shown: str
    identity: str
    in_project: str


class Planner:
    """Tasks of one run, made from absolute paths."""

    def __init__(self, configuration: Configuration, cwd: Path, ignore_noqa: bool) -> None:
        self._configuration = configuration
        self._cwd = str(cwd)
        self._ignore_noqa = ignore_noqa
        self._tree = WorkingTree()  # a new one: what an earlier run saw may have changed since
        self._directories: dict[str, _Directory] = {}
        self._gates: dict[tuple[int, frozenset[str]], Gate] = {}

    def task(self, path: str, data: bytes | None = None) -> FileTask:
        """Raises ConfigurationError."""
        parent, name = os.path.split(path)
        directory = self._directories.get(parent)
        if directory is None:
            directory = self._directories[parent] = self._directory(parent)
        settings = directory.settings
        return FileTask(
            path=path,
            shown_as=directory.shown + name,
            identity=directory.identity + name,
            in_project=directory.in_project + name,
            gate=self._gate(settings, path),
            data=data,
            cwd=self._cwd,
            src=settings.src,
        )

    def _directory(self, directory: str) -> _Directory:
        path = Path(directory)
        return _Directory(
            settings=self._configuration.for_directory(directory),
            shown=_prefix(shown_path(directory, self._cwd), "/"),
            identity=_prefix(_below(path, identity_root(path, self._tree)).replace(os.sep, "/"), "/"),
            in_project=_prefix(_below(path, standing_root(path, self._tree)), os.sep),
        )

    def _gate(self, settings: Settings, path: str) -> Gate:
        """Files of the same settings share one."""
        enabled = settings.enabled_for(path)
        key = (id(settings), enabled)
        if key not in self._gates:
            self._gates[key] = Gate(
                enabled=enabled,
                named=settings.selection.named,
                min_severity=settings.min_severity,
                min_confidence=settings.min_confidence,
                bare_noqa=settings.bare_noqa,
                ignore_noqa=self._ignore_noqa,
                fixable=settings.fixable,
            )
        return self._gates[key]


def _below(directory: Path, root: Path) -> str:
    """The way to a directory from one at or above it; ``relative_to`` takes many times as long."""
    return str(directory)[len(str(root)) :].lstrip(os.sep) or "."


def _prefix(directory: str, separator: str) -> str:
    return "" if directory == "." else directory if directory.endswith(separator) else directory + separator
