"""Every fixture, fixed: what becomes of it, that it compiles, that there is no more to do and nothing new to report.

``fixtures/fixed`` holds for each folder of fixtures what ``--fix --unsafe-fixes`` does to its programs: the fixes, with
the line that each was found at, and the difference that they make together. ``python -m tests.fixes.test_fixtures``
writes these files anew.
"""

from __future__ import annotations

import ast
import difflib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devlint.finding import Applicability, Confidence, Finding, Severity
from tests.fixes.conftest import Known
from tests.fixes.fixing import FixedText, fix_text, lint
from tests.fixture_expectations import FIXTURES, fixtures_of, name_in_family

FOLDERS: dict[str, list[Path]] = defaultdict(list)
for fixture in fixtures_of("rules", "seeds", "idioms", "found", "lookalikes"):
    parts = fixture.relative_to(FIXTURES).parts
    FOLDERS[parts[1] if parts[0] == "rules" else parts[0]].append(fixture)

REVEALED = {
    ("replaced_buffers.py", "DEV101", "Packed.pack"),
    ("built_with_arguments.py", "DEV401", "scaled"),
    ("types_of_tensors.py", "DEV401", "dtypes"),
    ("what_is_overridden.py", "DEV101", "Constraint.means"),
    ("computed_in_slices.py", "DEV302", "spread"),
    ("stored_after_the_move.py", "DEV302", "WithDtype.__init__"),
    ("boxes_of_torchvision.py", "DEV302", "left_on_the_host"),
    ("host_round_trips.py", "DEV302", "matched_without_a_copy"),
}
"""What could not be reached before: the line that failed on an accelerator stood in front of it, an object now makes
its tensors where it is told, which is the CPU, what is made there is brought to the CPU by a type, or what is mended
leaves a place that names CUDA alone in its file."""


def fixed(path: Path, findings: Callable[[str, str], list[Finding]] = lint) -> FixedText:
    text, name = path.read_text("utf-8"), name_in_family(path)
    return fix_text(text, name, unsafe=True, before=findings(text, name))


def told(path: Path, done: FixedText) -> Iterator[str]:
    """What was done to one fixture, empty for nothing."""
    if not done.applied:
        return
    name = path.relative_to(FIXTURES).as_posix()
    yield f"=== {name}\n"
    for finding in done.applied:
        assert finding.fix is not None
        yield f"{finding.code} {finding.fix.applicability.value}: {finding.fix.message}\n"
    before, after = (text.splitlines(keepends=True) for text in (path.read_text("utf-8"), done.text))
    yield from (line for line in difflib.unified_diff(before, after, n=0) if not line.startswith(("---", "+++")))


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_fixed_programs(folder: str, known: Known) -> None:
    shown = ""
    for path in FOLDERS[folder]:
        done = fixed(path, known.findings)
        shown += "".join(told(path, done))
        assert not done.problem, (path, done.problem)
        compile(done.text, str(path), "exec", ast.PyCF_ONLY_AST)
        new = [
            (finding.code, finding.scope, finding.message)
            for finding in done.after
            if (finding.code, finding.scope) in done.new
            and (path.name, finding.code, finding.scope) not in REVEALED
            and finding.severity > Severity.NOTE
            and finding.confidence > Confidence.LOW
        ]
        assert not new, path
        for finding in done.before:
            if finding.fix is not None and not finding.fix.edits:
                assert finding.fix.applicability is Applicability.SUGGESTION, finding
        if done.applied:
            again = fix_text(done.text, path.name, unsafe=True, before=done.after)
            assert [finding.message for finding in again.applied] == [], path
    expected = FIXTURES / "fixed" / f"{folder}.diff"
    assert shown == (expected.read_text("utf-8") if expected.exists() else "")


def test_nothing_is_expected_of_folders_that_are_gone() -> None:
    assert {path.stem for path in (FIXTURES / "fixed").iterdir()} <= FOLDERS.keys()


if __name__ == "__main__":
    (FIXTURES / "fixed").mkdir(exist_ok=True)
    for folder, paths in FOLDERS.items():
        text = "".join(line for path in paths for line in told(path, fixed(path)))
        expected = FIXTURES / "fixed" / f"{folder}.diff"
        if text:
            expected.write_text(text, "utf-8")
        else:
            expected.unlink(missing_ok=True)
