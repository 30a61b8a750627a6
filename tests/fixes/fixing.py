"""Fixes of a text, as ``--fix`` makes them, without files and processes around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

import libcst as cst

from devlint.finding import Finding
from devlint.fixes.rounds import FixedFile, Wanted, settle
from devlint.pipeline.task import FileReport, FileTask, Gate
from devlint.rules.engine import lint_module
from devlint.source.role import role_of


@dataclass(frozen=True)
class FixedText:
    """What came of a text: its findings before and after, at every severity and confidence."""

    before: list[Finding]
    after: list[Finding]
    text: str
    applied: list[Finding]
    problem: str

    @property
    def new(self) -> Counter[tuple[str, str]]:
        """By code and scope: how many findings there are more than before."""
        return _by_scope(self.after) - _by_scope(self.before)


def _by_scope(findings: list[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.code, finding.scope) for finding in findings)


def lint(text: str, path: str) -> list[Finding]:
    return lint_module(cst.parse_module(text), text, path, role_of(PurePath(path), text))


def fix_text(text: str, path: str, unsafe: bool, before: list[Finding] | None = None) -> FixedText:
    """Fix until nothing changes. The text is ASCII or UTF-8. ``before``: its findings, where they are known."""
    task = FileTask(f"/{path}", path, path, path, Gate(frozenset()), text.encode())

    def look(tasks: list[FileTask], texts: Mapping[str, bytes]) -> Iterator[FileReport]:
        for each in tasks:
            assert each.data is not None
            yield FileReport(path, tuple(lint(each.data.decode(), path)))

    before = lint(text, path) if before is None else before
    reports = {path: FileReport(path, tuple(before))}
    files = settle([task], reports, Wanted(unsafe), look)
    file = files[0] if files else FixedFile(task, text.encode(), text.encode())
    return FixedText(before, list(reports[path].findings), file.after.decode(), file.applied, file.problem)
