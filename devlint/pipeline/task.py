"""The task and the report of one file: plain data that crosses between processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.finding import Confidence, Finding, Severity
from devlint.records import dataclass

if TYPE_CHECKING:
    from devlint.pipeline.earlier_uses import EarlierUses
    from devlint.source.dependencies import Dependencies, Extent, RecordedFile
    from devlint.source.gate import Refusal
    from devlint.source.kept_programs import Shelf
    from devlint.source.program import Program


@dataclass(frozen=True, slots=True)
class Gate:
    """What of a file's findings is shown."""

    enabled: frozenset[str]
    named: frozenset[str] = frozenset()
    """The enabled codes that a selector named: notes of these are shown unless ``min_severity`` is given."""
    min_severity: Severity | None = None
    min_confidence: Confidence = Confidence.MEDIUM
    bare_noqa: bool = False
    ignore_noqa: bool = False
    fixable: frozenset[str] | None = None
    """The codes whose fixes may be applied, None for all; those of others are shown as suggestions."""


@dataclass(frozen=True, slots=True)
class FileTask:
    """One file to analyse. ``data`` is its content where it is not to be read from ``path``."""

    path: str
    """Absolute."""
    shown_as: str
    """The path in findings."""
    identity: str
    """The path that does not depend on the working directory: part of each fingerprint."""
    in_project: str
    """The path as the project sees it, which decides the file's role."""
    gate: Gate
    data: bytes | None = None
    cwd: str = ""
    """Absolute; the paths of other files in findings are relative to it."""
    src: tuple[Path, ...] = ()
    """Configured roots of imports, absolute."""
    recorded: bool = False
    """Whether the report is to carry its record, for a cache."""
    likely: frozenset[str] = field(default=frozenset(), compare=False)
    """The qualified names of scopes in which an earlier text of the file had findings: where to look for them first."""
    leads_back: bool = field(default=False, compare=False)
    """Whether files around an earlier text imported it back: then they are read in a workspace of their own at once."""
    may_wait: bool = field(default=False, compare=False)
    """Whether a file that turns out to need such a workspace is to be handed out again, after all others."""
    uses: EarlierUses | None = field(default=None, compare=False)
    """What an earlier text of the file showed of its names, for whoever lints one text after the other."""
    shelf: Shelf | None = None
    """Where the programs of other files are kept beyond this process."""
    known: Mapping[str, RecordedFile] = field(default_factory=dict, compare=False)
    """Other files as the last analysis read them that was recorded: what still holds of it."""
    program: Program | None = field(default=None, compare=False)
    """The program of the file, if it was read before; of another text than the file's it is of no use."""

    @property
    def base(self) -> str:
        """The directory from which ``in_project`` is counted, absolute; the tree around the file is named from it."""
        return self.path[: -len(self.in_project)].rstrip(os.sep) or os.sep


@dataclass(frozen=True, slots=True)
class FileReport:
    """The report on one file. Findings are in order and carry their fingerprints."""

    shown_as: str
    findings: tuple[Finding, ...] = ()
    suppressed: int = 0
    below_severity: int = 0
    below_confidence: int = 0
    below_gate: tuple[Finding, ...] = ()
    """What was counted below the gate."""
    touches_compared_tree: bool = False
    """Whether the report depends on a path that may differ in the tree that findings are compared with."""
    digest: bytes = b""
    """Of the analysed content, if a finding has a fix: its edits are offsets into that content alone."""
    detail: str = ""
    """The traceback behind a DEV902 that is devlint's own fault."""
    record: Record | None = None
    """The lint result with its dependencies; None if the task asks for none, or the analysis was cut short."""


@dataclass(frozen=True, slots=True)
class Record:
    """A lint result and everything that it depends on, for a cache.

    Paths in it are symbols (:mod:`devlint.pipeline.path_symbols`).
    """

    digest: str
    """Of the file's content."""
    findings: tuple[Finding, ...]
    """Every finding of every rule, before selection and suppression; edits count in the text."""
    refusal: Refusal | None
    """Why the text could not be linted; None if it was."""
    has_directives: bool
    """Whether the file has a suppression comment for devlint: then another selection may report it as unused."""
    dependencies: Dependencies
    extent: Extent
    """How much of other files was read."""
    report: FileReport
    """The report under the settings of this run."""
    scopes: frozenset[str] = frozenset()
    """The qualified names of the scopes of the file that hold a place of a finding, as far as they are known."""
    leads_back: bool = False
    """Whether files around this one import it back."""

    @property
    def is_empty(self) -> bool:
        """Whether the report is empty under all settings."""
        return not (self.findings or self.refusal or self.has_directives)
