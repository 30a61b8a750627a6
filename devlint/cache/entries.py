"""An entry of the cache: one lint result with its dependencies, as the packs hold it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from devlint.cache.reading import BROKEN, parsed
from devlint.cache.rows import Row, finding_row, read_finding
from devlint.cache.verbatim import files_placed_in, quotes_comment
from devlint.pipeline.path_symbols import relative, symbolic
from devlint.pipeline.task import FileReport, FileTask, Record
from devlint.source.dependencies import Extent, RecordedFile


@dataclass(frozen=True, slots=True)
class Entry:
    """Paths are counted from the base of the file's project, with forward slashes."""

    parsed: tuple[tuple[str, RecordedFile], ...]
    """The files whose programs were read."""
    exact: frozenset[str]
    """Those of them of which every byte is a dependency, not only the program."""
    extent: Extent
    """How much of other files was read."""
    located: tuple[tuple[str, str, str | None], ...]
    packages: tuple[tuple[str, bool], ...]
    mentions: tuple[tuple[str, str, str], ...]
    outcome: Row
    """The lint result."""
    scopes: tuple[str, ...] = ()
    """The scopes of the file in which it has findings."""
    leads_back: bool = False
    """Whether files around it import it back."""

    @classmethod
    def of(cls, record: Record, task: FileTask) -> Entry:
        base, dependencies = task.base, record.dependencies

        def name(path: str) -> str:
            return relative(path, base)

        # In an order of their own: what a process had read before has no say in it.
        parsed = tuple(sorted((name(path), state) for path, state in dependencies.parsed.items()))
        own = relative(task.path, base)
        all_of_them = quotes_comment(record.findings)
        exact = {file for file, _ in parsed} if all_of_them else set(files_placed_in(record.findings)) - {own}
        refusal = record.refusal
        return cls(
            parsed=parsed,
            exact=frozenset(exact),
            extent=record.extent,
            located=tuple(
                (name(directory), module, None if found is None else name(found))
                for (directory, module), found in sorted(dependencies.located.items())
            ),
            packages=tuple(sorted((name(path), found) for path, found in dependencies.packages.items())),
            mentions=tuple(
                (name(path), word, name(found) if found else "")
                for (path, word), found in sorted(dependencies.mentions.items())
            ),
            outcome=[
                [finding_row(finding) for finding in record.findings],
                None if refusal is None else [refusal.syntax, refusal.message, refusal.line, refusal.column],
                record.has_directives,
            ],
            scopes=tuple(sorted(record.scopes)),
            leads_back=record.leads_back,
        )

    @classmethod
    def read(cls, text: str) -> Entry:
        """Raises ValueError, TypeError or LookupError for a text that is none of ours."""
        found: dict[str, Any] = parsed(text)
        return cls(
            parsed=tuple(
                (file, RecordedFile(digest, in_project, size, tuple(parts), fingerprint))
                for file, digest, in_project, size, parts, fingerprint in found["parsed"]
            ),
            exact=frozenset(found["exact"]),
            extent=Extent(*found["extent"]),
            located=tuple((directory, module, where) for directory, module, where in found["located"]),
            packages=tuple((path, bool(answer)) for path, answer in found["packages"]),
            mentions=tuple((path, word, where) for path, word, where in found["mentions"]),
            outcome=found["outcome"],
            scopes=tuple(map(str, found["scopes"])),
            leads_back=bool(found["leads_back"]),
        )

    def written(self) -> str:
        return json.dumps(
            {
                "parsed": [[file, *state] for file, state in self.parsed],
                "exact": sorted(self.exact),
                "extent": self.extent,
                "located": self.located,
                "packages": self.packages,
                "mentions": self.mentions,
                "outcome": self.outcome,
                "scopes": self.scopes,
                "leads_back": self.leads_back,
            },
            separators=(",", ":"),
        )

    @property
    def is_empty(self) -> bool:
        """Whether the report is empty under all settings."""
        findings, refusal, has_directives = self.outcome
        return not (findings or refusal or has_directives)

    def findings(self) -> Iterable[Any]:
        return map(read_finding, self.outcome[0])


def key_of(task: FileTask, digest: str) -> str:
    """The key of a file's entries: its content, its place in its project, its import roots."""
    about = f"{digest}\0{relative(task.path, task.base)}\0{source_roots(task)}"
    return hashlib.blake2b(about.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def source_roots(task: FileTask) -> str:
    return "\0".join(relative(str(root), task.base) for root in task.src)


def answered(
    tasks: list[FileTask], answer: Callable[[FileTask], FileReport | None]
) -> tuple[list[FileReport], list[FileTask]]:
    """The reports that ``answer`` has, and the tasks that are left; what it cannot read it knows nothing of."""
    reports: list[FileReport] = []
    unknown: list[FileTask] = []
    for task in tasks:
        try:
            report = answer(task)
        except BROKEN:
            report = None
        if report is not None:
            reports.append(report)
        else:
            unknown.append(replace(task, recorded=True))
    return reports, unknown


def report_of(entry: Entry, digest: str, task: FileTask) -> FileReport:
    """The report that an entry comes to under the settings of a task; its paths are symbols."""
    if entry.is_empty:
        return FileReport(symbolic(task).shown_as)
    from devlint.pipeline.file_report import recorded_report
    from devlint.pipeline.lint_result import LintResult
    from devlint.source.gate import Refusal

    refusal = entry.outcome[1]
    result = LintResult(tuple(entry.findings()), Refusal(*refusal) if refusal else None)
    return recorded_report(result, digest, task)
