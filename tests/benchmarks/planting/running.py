"""Whether a mutant truly fails: the tests of its release, lifted to the simulated device, before and after planting.

Only releases whose suites ``lifted_suites`` knows how to run. Which tests reach a function is not known beforehand:
those files are run that name its class, or the function itself. A mark is left when the function is entered; what is
not entered is not judged. An index that was written in names the very device that the tests are lifted to, and what is
loaded was never saved on a GPU, so mutants of these kinds cannot fail here and are not run.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lifted_suites import SUITES, Suite, prepared, run
from planting.asking import Answer
from planting.mutant import Mutant
from planting.source import File

NOT_RUN = frozenset({"index", "load"})
_FILES = 2
"""Test files that are run for a mutant, the smallest ones."""


@dataclass(frozen=True)
class Ran:
    """What became of the tests."""

    answer: Answer
    state: Literal["fails", "the same", "not reached"]
    how: str = ""
    """The first test or finding that is new."""


def suite_of(package: str) -> Suite:
    """Raises SystemExit where nobody has said how the tests of a package are run."""
    for suite in SUITES:
        if suite.package == package:
            return suite
    known = ", ".join(suite.package for suite in SUITES)
    raise SystemExit(f"--run: how the tests of {package} are run is not known; lifted_suites.py tells it of {known}")


def ran(answers: list[Answer], suite: Suite, directory: Path) -> Iterator[Ran]:
    """Each of the answers' mutants that tests may reach, run. ``directory`` keeps the suite's environment."""
    directory.mkdir(parents=True, exist_ok=True)
    source = prepared(suite, directory)
    with tempfile.TemporaryDirectory(prefix="devlint-mutants-", dir=directory) as name:
        copy = Path(name) / source.name
        shutil.copytree(source, copy, copy_function=os.link)
        for answer in answers:
            if answer.mutant.kind in NOT_RUN:
                continue
            tests = naming_tests(answer.mutant, source, suite)
            if tests:
                yield _run(answer, replace(suite, tests=tests), source, copy, directory)


def naming_tests(mutant: Mutant, source: Path, suite: Suite) -> tuple[str, ...]:
    """The smallest test files that name the class, or for a function of no class the function."""
    name = mutant.function.split(".")[0]
    files: set[Path] = set()
    for place in suite.tests:
        root = source / place
        files |= {root} if root.is_file() else set(root.rglob("*test*.py"))
    naming = [file for file in files if name in file.read_text(encoding="utf-8", errors="replace")]
    smallest = sorted(naming, key=lambda file: (file.stat().st_size, file))[:_FILES]
    return tuple(str(file.relative_to(source)) for file in smallest)


def _run(answer: Answer, suite: Suite, source: Path, copy: Path, directory: Path) -> Ran:
    mutant = answer.mutant
    released = (source / mutant.path).read_bytes()
    file = File.of(mutant.path, released)
    assert file is not None
    mark = copy.parent / "entered"
    mark.unlink(missing_ok=True)
    try:
        before = _outcome(suite, copy, directory, mutant.path, marked(released, mutant.function, mark))
        if not mark.exists():
            return Ran(answer, "not reached")
        after = _outcome(suite, copy, directory, mutant.path, marked(file.edited(mutant.edits), mutant.function, mark))
    finally:
        write(copy / mutant.path, released)
    new = sorted(after - before)
    return Ran(answer, "fails", new[0]) if new else Ran(answer, "the same")


def _outcome(suite: Suite, copy: Path, directory: Path, path: str, text: bytes) -> frozenset[str]:
    """The tests that do not pass, and the findings of the run."""
    write(copy / path, text)
    report = directory / "mutant.json"
    report.unlink(missing_ok=True)
    outcome = run(suite, copy, directory, 1, "mutant", "--devlint", "--devlint-warn", f"--devlint-report={report}")
    failing = {name for name, state in outcome.states.items() if state in ("failure", "error")}
    findings = json.loads(report.read_text())["findings"] if report.exists() else []
    return frozenset(failing) | {f"{f['code']} {f['path']} {f['scope']} {f['message']}" for f in findings}


def marked(text: bytes, function: str, mark: Path) -> bytes:
    """The text with a statement at the start of a function that leaves a mark. Unchanged where there is no place."""
    file = File.of("", text)
    scope = next((one for one in file.scopes() if one.qualname == function), None) if file is not None else None
    if scope is None:
        return text
    body = scope.node.body
    first = body[1] if len(body) > 1 and ast.get_docstring(scope.node, clean=False) is not None else body[0]
    line = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", []))]) - 1
    lines = text.splitlines(keepends=True)
    indentation = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
    if line < scope.node.lineno or lines[line][: first.col_offset].strip():
        return text
    lines.insert(line, indentation + f"__import__('pathlib').Path({str(mark)!r}).touch()\n".encode())
    return b"".join(lines)


def write(place: Path, text: bytes) -> None:
    """A new file: the old one is a link to the suite's own. Compiled code of the same second would pass for it."""
    place.unlink()
    place.write_bytes(text)
    for compiled in place.parent.glob(f"__pycache__/{place.stem}.*.pyc"):
        compiled.unlink()
