"""``--diff-base``: which findings the base has too."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from devlint.gate.difference import difference_from, is_pointer
from devlint.gate.git import GitError, Repository
from devlint.gate.matching import match
from devlint.gate.sightings import Sighting, could_not_be_analysed, sightings
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.discovery import SUFFIXES
from devlint.source.project import path_in_project, repository_root, shown_path
from devlint.source.tree import Tree, WorkingTree

Analyse = Callable[[list[FileTask], Tree], Iterator[FileReport]]


@dataclass(frozen=True)
class Project:
    """What the comparison has to know of the run: how files are planned, and how they are analysed."""

    task: Callable[[str], FileTask]
    """The task of an absolute path with the configuration as it is now, whether there is such a file or not."""
    excluded: Callable[[str], bool]
    analyse: Analyse


class Comparison:
    """The working tree against the commit where it left a branch."""

    def __init__(self, ref: str, cwd: Path, project: Project) -> None:
        """Raises GitError, whose message names the option."""
        self.ref = ref
        self._cwd = str(cwd)
        self._project = project
        try:
            repository = Repository(cwd)
            self._root = repository.root
            self._difference = difference_from(repository, ref, SUFFIXES)
        except GitError as error:
            raise GitError(f"--diff-base {ref}: {error}") from None
        self.tree = WorkingTree(self._difference.tree)
        """The working tree, for the analysis whose findings are to be compared."""

    def comparable(self, tasks: Iterable[FileTask]) -> tuple[list[FileTask], list[str]]:
        """The files that the base may have too, and what was left out. Raises GitError for one of no repository."""
        kept: list[FileTask] = []
        in_submodules = in_lfs = 0
        for task in tasks:
            root = repository_root(Path(task.path).parent)
            if root is None or not Path(task.path).is_relative_to(self._root):
                where = f"{task.shown_as} is outside of the repository {self._root}"
                raise GitError(f"--diff-base {self.ref}: {where} and cannot be compared")
            if root != self._root:
                in_submodules += 1
            elif task.path in self._difference.pointers or is_pointer(task.path):
                in_lfs += 1
            else:
                kept.append(task)
        counts = ((in_submodules, "in submodules"), (in_lfs, "in Git LFS"))
        return kept, [f"skipped, not to be compared: {_files(count)} {where}" for count, where in counts if count]

    def known(self, tasks: Sequence[FileTask], reports: Sequence[FileReport]) -> tuple[list[Sighting], list[str]]:
        """The findings of some files that the base has too, and what is to be said of the comparison.

        Only files that can differ are analysed a second time. An analysis is determined by the text of its file and the
        answers to what it asks of the tree around it; where neither differs, it comes to the same in the base.
        """
        unnamed = self._other_changed_files(tasks)
        others = list(self._project.analyse(unnamed, self.tree))
        by_name = {task.shown_as: task for task in (*tasks, *unnamed)}
        found = sightings(by_name, (*reports, *others))

        changed = self._difference.changed
        again: list[FileTask] = []
        same: list[FileReport] = []
        for report in (*reports, *others):
            task = by_name[report.shown_as]
            earlier = self._difference.earlier_path(task.path)
            if earlier is None:
                continue
            if task.data is None and earlier == task.path and not (report.touches_compared_tree or earlier in changed):
                same.append(report)
            else:
                again.append(self._earlier(task, earlier))
        again += [self._earlier(self._project.task(path), path) for path in self._gone(by_name.values())]
        analysed = list(self._project.analyse(again, self._difference.tree))

        base = sightings({task.shown_as: task for task in again}, analysed) + sightings(by_name, same)
        partners = match([sighting.key for sighting in found], Counter(sighting.key for sighting in base)).partners
        reported = {task.shown_as for task in tasks}
        known = [
            sighting
            for sighting, partner in zip(found, partners, strict=True)
            if partner is not None and sighting.finding.place.path in reported
        ]
        unreadable = sum(map(could_not_be_analysed, analysed))
        notes = [
            f"submodule {path}: its commit of the base is not here, so what its change brings about counts as new; "
            f"run: git -C {shlex.quote(path)} fetch"
            for path in self._difference.unknown_submodules
        ]
        if unreadable:
            notes.append(
                f"{_files(unreadable)} of the base could not be analysed, and what was found there is not known"
            )
        return known, notes

    def _other_changed_files(self, tasks: Iterable[FileTask]) -> list[FileTask]:
        """Changed files that were not named: code may have moved between them and the named ones."""
        named = {task.path for task in tasks}
        return [
            self._project.task(path)
            for path in sorted(self._difference.changed - named - self._difference.pointers)
            if path.endswith(SUFFIXES) and os.path.isfile(path) and not self._project.excluded(path)
        ]

    def _gone(self, tasks: Iterable[FileTask]) -> Iterator[str]:
        """Files of the base that are no more, renamed ones excepted."""
        there = {self._difference.earlier_path(task.path) for task in tasks}
        for path in sorted((self._difference.changed & self._difference.existed) - there):
            if path.endswith(SUFFIXES) and not os.path.isfile(path) and not self._project.excluded(path):
                yield path

    def _earlier(self, task: FileTask, path: str) -> FileTask:
        """A file of the base, with the settings and the identity of what became of it."""
        in_project = path_in_project(Path(path), self._difference.tree)
        return replace(task, path=path, shown_as=shown_path(path, self._cwd), in_project=str(in_project), data=None)


def _files(number: int) -> str:
    return f"{number:,} {'file' if number == 1 else 'files'}"
