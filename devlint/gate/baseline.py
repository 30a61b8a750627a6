"""``--baseline``: which findings a baseline knows, which of its entries stand for nothing any more."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.configuration.codes import all_codes
from devlint.gate.baseline_file import read_baseline, write_baseline
from devlint.gate.matching import Key, match
from devlint.gate.sightings import Sighting, could_not_be_analysed, sightings, sightings_below_the_gate
from devlint.gate.wanted import BaselineUse
from devlint.pipeline.task import FileReport, FileTask
from devlint.source.project import shown_path


@dataclass(frozen=True)
class Coverage:
    """What a run looked at, and so which entries of a baseline it can judge."""

    roots: tuple[Path, ...]
    """The directories that paths of entries may be relative to."""
    directories: tuple[str, ...]
    """The named directories, absolute."""
    enabled: Callable[[str], frozenset[str]]
    """The codes that are on in a file, by its absolute path."""
    analysed: Mapping[str, FileTask]
    """The files that were analysed, by their identity."""
    failed: frozenset[str]
    """The identities of those where that did not succeed."""

    def judges(self, key: Key) -> bool:
        """Whether this run would have found what an entry stands for."""
        if key.path in self.failed:
            return False
        task = self.analysed.get(key.path)
        if task is not None:
            return self._ran(key.code, task.gate.enabled)
        covered = [path for path in self.places(key) if path.startswith(self._prefixes)]
        return any(self._ran(key.code, self.enabled(path)) for path in covered)

    def places(self, key: Key) -> list[str]:
        """The absolute paths that an entry may speak of."""
        return [os.path.normpath(root / key.path) for root in self.roots]

    @property
    def _prefixes(self) -> tuple[str, ...]:
        return tuple(directory.rstrip(os.sep) + os.sep for directory in self.directories)

    @staticmethod
    def _ran(code: str, enabled: frozenset[str]) -> bool:
        return code in enabled or code not in all_codes()


@dataclass(frozen=True)
class Outcome:
    """What a baseline says of a run. ``known`` are the findings it has; ``notes`` are for the user."""

    known: list[Sighting]
    notes: list[str]


class Baseline:
    """One file of known findings in the course of a run."""

    def __init__(self, file: Path, cwd: Path, use: BaselineUse) -> None:
        """Raises BaselineError; where it is to be written there need be no file yet."""
        self.file = file
        self._use = use
        self._shown = shown_path(str(file), str(cwd))
        if use is BaselineUse.WRITE and not os.path.lexists(file):
            self._entries: Counter[Key] = Counter()
        else:
            self._entries = read_baseline(file, self._shown)

    def judge(
        self,
        tasks: Sequence[FileTask],
        reports: Sequence[FileReport],
        coverage: Coverage,
        look_at: Callable[[list[str]], list[Sighting]],
    ) -> Outcome:
        """Hold the findings of some files against the entries, and write what is to be written. Raises BaselineError.

        ``look_at`` analyses further files, by their absolute paths: an entry of a file that was not named may stand for
        a finding there still, or for one that has moved into a named file.
        """
        by_name = {task.shown_as: task for task in tasks}
        found = sightings(by_name, reports)
        if self._use is BaselineUse.WRITE:
            return self._rewritten(found, coverage)
        unnamed = self._files_to_look_at(found, coverage)
        others = look_at(unnamed) if unnamed else []
        everything = sorted((*found, *others), key=lambda sighting: sighting.order)
        matched = match([sighting.key for sighting in everything], self._entries)
        pairs = list(zip(everything, matched.partners, strict=True))
        own = {id(sighting) for sighting in found}
        known = [sighting for sighting, partner in pairs if partner is not None and id(sighting) in own]
        hidden = sightings_below_the_gate(by_name, reports)
        left = match([sighting.key for sighting in hidden], matched.left).left
        stale = Counter({key: count for key, count in left.items() if coverage.judges(key)})
        if self._use is BaselineUse.PRUNE:
            return self._pruned(pairs, matched.left - stale, stale, known)
        notes = [f"{self._shown}: {_entries(stale.total())} no finding any more; `devlint baseline prune` removes"]
        return Outcome(known, [f"{note} {'it' if stale.total() == 1 else 'them'}" for note in notes if stale])

    def _files_to_look_at(self, found: list[Sighting], coverage: Coverage) -> list[str]:
        """Files that were not analysed and have entries which may be those of findings not known by their keys."""
        partners = match([sighting.key for sighting in found], self._entries).partners
        pairs = zip((sighting.key for sighting in found), partners, strict=True)
        wanted = {(key.code, key.text) for key, partner in pairs if partner != key}
        entries = [key for key in self._entries if (key.code, key.text) in wanted and key.path not in coverage.analysed]
        return sorted({path for key in entries for path in coverage.places(key) if os.path.isfile(path)})

    def _rewritten(self, found: list[Sighting], coverage: Coverage) -> Outcome:
        """Everything found becomes known; entries that the run cannot judge stay."""
        if not coverage.analysed and not os.path.lexists(self.file):
            return Outcome([], [f"{self._shown} is not written: nothing was looked at"])
        kept = Counter({key: count for key, count in self._entries.items() if not coverage.judges(key)})
        findings = Counter(sighting.key for sighting in found)
        made = not os.path.lexists(self.file)
        changed = write_baseline(self.file, findings | kept)
        files = len({key.path for key in findings})
        told = f"{len(found)} finding{'s' * (len(found) != 1)} in {files} file{'s' * (files != 1)}"
        more = f", and {kept.total()} of what was not looked at" if kept else ""
        verb = "now has" if changed else "already has"
        use = f"; use it with `--baseline {self._shown}` or `baseline` in the configuration" if made else ""
        return Outcome(found, [f"{self._shown} {verb} {told}{more}{use}"])

    def _pruned(
        self,
        pairs: list[tuple[Sighting, Key | None]],
        left: Counter[Key],
        stale: Counter[Key],
        known: list[Sighting],
    ) -> Outcome:
        """Entries of findings that have moved are written where these are now."""
        moved = sum(partner is not None and partner != sighting.key for sighting, partner in pairs)
        write_baseline(self.file, left + Counter(sighting.key for sighting, partner in pairs if partner is not None))
        note = f"{self._shown}: {stale.total()} of {_plural(self._entries.total())} removed"
        return Outcome(known, [note + (f", {moved} followed to where the code is now" if moved else "")])


def coverage_of(
    tasks: Iterable[FileTask],
    reports: Iterable[FileReport],
    roots: Iterable[Path],
    directories: Iterable[str],
    enabled: Callable[[str], frozenset[str]],
) -> Coverage:
    """What a run looked at."""
    by_name = {task.shown_as: task for task in tasks}
    failed = {by_name[report.shown_as].identity for report in reports if could_not_be_analysed(report)}
    return Coverage(
        tuple(roots), tuple(directories), enabled, {task.identity: task for task in by_name.values()}, frozenset(failed)
    )


def _entries(number: int) -> str:
    return f"{_plural(number)} {'stands' if number == 1 else 'stand'} for"


def _plural(number: int) -> str:
    return f"{number} {'entry' if number == 1 else 'entries'}"
