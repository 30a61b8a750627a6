"""Every edit that is offered, by itself: an editor applies one at a time, also those that `--fix` leaves to people."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from devlint.finding import Confidence, Finding, Severity
from devlint.fixes.applying import apply_edits
from tests.fixes.conftest import Known
from tests.fixture_expectations import fixtures_of, lint_text, name_in_family

REVEALED: dict[tuple[str, str], str] = {
    ("DEV101", "DEV302"): "what goes where the other operand is names the accelerator that it was put on",
    ("DEV101", "DEV308"): "the device parameter of the function is ignored still, and nothing else speaks of it now",
    ("DEV101", "DEV312"): "what goes where the other operand is needs the accelerator that it was put on",
    ("DEV101", "DEV401"): "what an object makes where it is told is on the CPU where it is told that",
    ("DEV104", "DEV101"): "once the module has left the CPU, an input that one arm makes there stands alone",
    ("DEV104", "DEV312"): "what goes where the others are needs the accelerator that they name",
    ("DEV104", "DEV302"): "what goes to the input's device now stands beside an accelerator that is named",
    ("DEV201", "DEV302"): "a transfer that is kept names the accelerator",
    ("DEV204", "DEV302"): "a transfer of the items names the accelerator",
    ("DEV206", "DEV302"): "a part that is moved as the others are names the accelerator that they name",
    ("DEV208", "DEV302"): "what goes to the other operand's device now stands beside an accelerator that is named",
    ("DEV301", "DEV302"): "without its index it is the current accelerator, whatever the caller is on",
    ("DEV301", "DEV312"): "without its index it is the current accelerator, which nothing asks for",
    ("DEV302", "DEV302"): "one more place goes where it is told, which leaves those that name CUDA in a file alone",
    ("DEV402", "DEV302"): "an operand that is brought over names the accelerator in a file that goes where it is told",
    ("DEV307", "DEV312"): "a context needs an accelerator as what it stands for did",
    ("DEV301", "DEV310"): "without its index it is the current accelerator, behind a guard about the type",
    ("DEV306", "DEV301"): "what is chosen in the body has the index that it had",
    ("DEV306", "DEV302"): "what is chosen in the body is named there",
    ("DEV403", "DEV101"): "what numpy gives back is on the CPU, and now the input need not be",
    ("DEV405", "DEV302"): "a model that goes where its inputs are names the accelerator that they were put on",
    ("DEV405", "DEV301"): "the index that the other operand has is written a second time",
    ("DEV501", "DEV101"): "once what is kept moves along, what a base class makes beside it stands alone",
    ("DEV603", "DEV301"): "the index that the tensor has is written a second time",
}
"""A finding's code, and that of one that its edit brings to light: of another repair."""

FAMILIES = ("rules", "seeds", "idioms", "found", "lookalikes")


def of_scope(findings: list[Finding]) -> Counter[tuple[str, str]]:
    return Counter((finding.code, finding.scope) for finding in findings)


def gating(findings: list[Finding]) -> list[Finding]:
    return [f for f in findings if f.severity > Severity.NOTE and f.confidence > Confidence.LOW]


@pytest.mark.parametrize("folder", sorted({path.parent for path in fixtures_of(*FAMILIES)}), ids=lambda path: path.name)
def test_each_edit_compiles_and_takes_its_finding_away(folder: object, known: Known) -> None:
    """Edits of definitions that have nothing to do with each other are made at once. If they do not all do what they
    should then, each is made by itself.
    """
    for path in fixtures_of(*FAMILIES):
        if path.parent == folder:
            text, name = path.read_text("utf-8"), name_in_family(path)
            check_edits(text, Path(name), known.findings(text, name))


def check_edits(text: str, path: Path, before: list[Finding]) -> None:
    edited = [finding for finding in before if finding.fix is not None and finding.fix.edits]
    for finding in edited:
        compile(made(text, [finding]), told(path, finding), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    parts = Parts(text) if len(edited) > 1 else None
    for group in grouped(edited, parts):
        if parts is not None and len(group) > 1 and as_they_should(group, before, linted(text, group, path), parts):
            continue
        for finding in group:
            after = linted(text, [finding], path)
            assert same(finding, after) < same(finding, before), told(path, finding)
            revealed = of_scope(gating(after)) - of_scope(before)
            assert all((finding.code, code) in REVEALED for code, _ in revealed), (told(path, finding), revealed)


def told(path: Path, finding: Finding) -> str:
    assert finding.fix is not None
    return f"{path}:{finding.place.line} {finding.code}: {finding.fix.message}"


def made(text: str, findings: list[Finding]) -> str:
    """The text with the edits of these findings."""
    edits = [edit for finding in findings if finding.fix is not None for edit in finding.fix.edits]
    return apply_edits(text.encode(), edits).decode()


def linted(text: str, findings: list[Finding], path: Path) -> list[Finding]:
    return lint_text(made(text, findings), path.as_posix())


def same(finding: Finding, among: list[Finding]) -> int:
    key = (finding.code, finding.scope, finding.message)
    return sum((other.code, other.scope, other.message) == key for other in among)


class Parts:
    """A module's definitions, in parts that do not name each other."""

    def __init__(self, text: str) -> None:
        data = text.encode()
        starts = [0, *itertools.accumulate(len(line) for line in data.splitlines(keepends=True))]
        self._spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                assert node.end_lineno is not None
                self._spans[node.name].append((starts[first - 1], starts[node.end_lineno]))
        self._part = {name: name for name in self._spans}
        for name, spans in self._spans.items():
            for start, end in spans:
                for other in self._part.keys() & set(re.findall(r"\w+", data[start:end].decode())):
                    joined, into = self._part[name], self._part[other]
                    self._part = {each: into if part == joined else part for each, part in self._part.items()}

    def of(self, scope: str) -> str | None:
        """The part that a scope is in; None for what is outside of definitions."""
        return self._part.get(scope.partition(".")[0])

    def edited(self, finding: Finding) -> str | None:
        """The part that the finding is in and that its edits change alone."""
        assert finding.fix is not None
        part = self.of(finding.scope)
        spans = [span for name, spans in self._spans.items() if self._part[name] == part for span in spans]
        inside = all(any(start <= edit.start <= edit.end <= end for start, end in spans) for edit in finding.fix.edits)
        return part if inside else None


def grouped(findings: list[Finding], parts: Parts | None) -> Iterator[list[Finding]]:
    """Groups of findings of different parts, whose edits are made at once."""
    by_part: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        part = parts.edited(finding) if parts is not None else None
        if part is None:
            yield [finding]
        else:
            by_part[part].append(finding)
    for group in itertools.zip_longest(*by_part.values()):
        yield [finding for finding in group if finding is not None]


def as_they_should(group: list[Finding], before: list[Finding], after: list[Finding], parts: Parts) -> bool:
    """Whether each finding is gone, and all that is new is what an edit of its own part may reveal."""
    by_part = {parts.of(finding.scope): finding for finding in group}
    revealed = of_scope(gating(after)) - of_scope(before)
    return all(same(finding, after) < same(finding, before) for finding in group) and all(
        (part := parts.of(scope)) in by_part and (by_part[part].code, code) in REVEALED for code, scope in revealed
    )
