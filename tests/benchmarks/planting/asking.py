"""What devlint says of a mutant: at its places, in the mutated text, and not in the text as released."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from linting import Finding, lint
from planting.mutant import Mutant
from planting.source import File

from devlint import lint_source

Explain = Callable[[Path, str, bytes, int], str | None]
"""Why nothing is known at a line: release, path in it, its text, line. None where it cannot be said."""


def unexplained(release: Path, path: str, text: bytes, line: int) -> str | None:
    """devlint has no command yet that explains what it does not know."""
    return None


@dataclass(frozen=True)
class Answer:
    """What became of one mutant."""

    mutant: Mutant
    found: bool
    codes: tuple[str, ...]
    cause: str | None
    """Of a lost one, where something can be said."""

    def record(self, release: str) -> dict[str, Any]:
        mutant = self.mutant
        return {
            "release": release, "kind": mutant.kind, "path": mutant.path, "line": mutant.line,
            "function": mutant.function, "before": mutant.before, "caller": mutant.caller, "found": self.found,
            "codes": list(self.codes), "cause": self.cause,
            "edits": [[edit.start, edit.end, edit.text] for edit in mutant.edits],
        }  # fmt: skip


class Asker:
    """Lints the texts of one release. Texts of one file are linted one after the other in this process."""

    def __init__(self, release: Path, explain: Explain = unexplained) -> None:
        self._release = release
        self._explain = explain
        self._copy: Path | None = None
        self.released = cache(self._released)

    def _released(self, path: str) -> tuple[Finding, ...]:
        return self._lint(path, (self._release / path).read_bytes())

    def suits(self, mutant: Mutant) -> bool:
        """Whether there is no finding yet where the mutant's would be."""
        return not any(
            span.holds(finding["path"], finding["line"])
            for path in {span.path for span in mutant.original}
            for finding in self.released(path)
            for span in mutant.original
            if finding["confidence"] != "low"
        )

    def ask(self, mutant: Mutant) -> Answer:
        file = File.of(mutant.path, (self._release / mutant.path).read_bytes())
        assert file is not None
        text = file.edited(mutant.edits)
        said = self._said(mutant, text)
        own = self._own(mutant, said)
        shown = {finding["code"] for finding in own if finding["confidence"] != "low"}
        if shown:
            return Answer(mutant, True, tuple(sorted(shown)), None)
        return Answer(mutant, False, (), self._cause(mutant, text, said, own))

    def _cause(self, mutant: Mutant, text: bytes, said: list[Finding], below: list[Finding]) -> str | None:
        if below:
            return "below the gate: " + ", ".join(sorted({f"{f['code']} {f['confidence']}" for f in below}))
        elsewhere = self._new(mutant, said)
        if elsewhere:
            return "elsewhere: " + ", ".join(f"{f['code']} {f['path']}:{f['line']}" for f in elsewhere[:3])
        return self._explain(self._release, mutant.path, text, mutant.line)

    def _own(self, mutant: Mutant, said: list[Finding]) -> list[Finding]:
        """The findings at the mutant's places, and the new ones whose trace leads through them."""

        def is_there(place: dict[str, Any]) -> bool:
            return any(span.holds(place["path"], place["line"]) for span in mutant.counted)

        new = [finding for finding in self._new(mutant, said) if any(is_there(step) for step in finding["trace"])]
        return [finding for finding in said if is_there(finding) or finding in new]

    def _new(self, mutant: Mutant, said: list[Finding]) -> list[Finding]:
        """What is not said of the text as released, at whatever confidence."""
        paths = {span.path for span in mutant.counted}
        known = {finding["fingerprint"] for path in paths for finding in self.released(path)}
        return [finding for finding in said if finding["fingerprint"] not in known]

    def _said(self, mutant: Mutant, text: bytes) -> list[Finding]:
        """The findings of every confidence; those above low are what the default gate shows."""
        if mutant.caller is None:
            return list(self._lint(mutant.path, text))
        # What one file asks of another is read from the disk.
        copy = self._mutable_copy()
        place = copy / mutant.path
        released = place.read_bytes()
        try:
            _write(place, text)
            said = lint(copy, (mutant.path, mutant.caller), 1, ("--min-confidence", "low"))
            return [finding for finding in said.findings if _is_of_code(finding)]
        finally:
            _write(place, released)

    def _lint(self, path: str, text: bytes) -> tuple[Finding, ...]:
        settings = {"min-confidence": "low"}
        found = lint_source(text, self._release / path, settings=settings, isolated=True, cwd=self._release)
        as_json = (
            {
                "code": f.code, "confidence": f.confidence.label, "path": f.place.path, "line": f.place.line,
                "fingerprint": f.fingerprint, "message": f.message,
                "trace": [{"path": step.place.path, "line": step.place.line} for step in f.trace],
            }
            for f in found
        )  # fmt: skip
        return tuple(finding for finding in as_json if _is_of_code(finding))

    def _mutable_copy(self) -> Path:
        if self._copy is None:
            self._copy = Path(tempfile.mkdtemp(prefix="devlint-mutants-")) / self._release.name
            shutil.copytree(self._release, self._copy, copy_function=os.link)
        return self._copy

    def close(self) -> None:
        if self._copy is not None:
            shutil.rmtree(self._copy.parent)
            self._copy = None


def _write(place: Path, text: bytes) -> None:
    """A new file: the old one may be a link to the release's own."""
    place.unlink()
    place.write_bytes(text)


def _is_of_code(finding: Finding) -> bool:
    """Not about comments, syntax or unreadable files."""
    return not finding["code"].startswith("DEV9")
