"""Rounds of fixing, with a linter of a few lines in the place of the real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from devlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity
from devlint.fixes.rounds import MAX_ROUNDS, FixedFile, Wanted, settle
from devlint.pipeline.task import FileReport, FileTask, Gate

Look = Callable[[str, bytes, Mapping[str, bytes]], list[Edit]]
"""What a linter wants to change in a file's bytes, given what other files are."""


def run(texts: dict[str, bytes], look: Look, wanted: Wanted | None = None) -> tuple[list[FixedFile], dict[str, int]]:
    """The files after fixing, and how many findings are left in each."""
    tasks = [FileTask(f"/{name}", name, name, name, Gate(frozenset()), data) for name, data in texts.items()]

    def lint(tasks: list[FileTask], others: Mapping[str, bytes]) -> Iterator[FileReport]:
        for task in tasks:
            assert task.data is not None
            findings = [_finding(task.shown_as, edit) for edit in look(task.shown_as, task.data, others)]
            yield FileReport(task.shown_as, tuple(findings))

    reports = {report.shown_as: report for report in lint(tasks, {})}
    files = settle(tasks, reports, wanted or Wanted(), lint)
    return files, {name: len(report.findings) for name, report in reports.items()}


def _finding(name: str, edit: Edit) -> Finding:
    fix = Fix(Applicability.SAFE, "do it", (edit,))
    return Finding("DEV101", "n", Severity.ERROR, Confidence.HIGH, "m", Place(name, 1, 1, 1, 2), fix=fix)


def _each(word: bytes, new: str) -> Look:
    def look(name: str, data: bytes, others: Mapping[str, bytes]) -> list[Edit]:
        at = data.find(word)
        return [Edit(at, at + len(word), new)] if at >= 0 else []

    return look


def test_a_file_is_looked_at_again_until_nothing_changes() -> None:
    (file,), left = run({"a.py": b"old, old, old\n"}, _each(b"old", "new"))
    assert file.after == b"new, new, new\n"
    assert (len(file.applied), left) == (3, {"a.py": 0})


def test_fixes_in_conflict_are_made_one_after_the_other() -> None:
    def look(name: str, data: bytes, others: Mapping[str, bytes]) -> list[Edit]:
        words = {b"x": Edit(0, 3, "y+y"), b"a": Edit(2, 5, "b+b")}
        return [edit for word, edit in words.items() if data[edit.start : edit.end] == word + b"+" + word]

    (file,), left = run({"a.py": b"x+x\n"}, look)
    assert (file.after, left["a.py"]) == (b"y+y\n", 0)


def test_a_fix_that_brings_back_its_finding_is_given_up() -> None:
    rounds = 0

    def look(name: str, data: bytes, others: Mapping[str, bytes]) -> list[Edit]:
        nonlocal rounds
        rounds += 1
        return [Edit(0, 0, "x = ")]

    (file,), left = run({"a.py": b"x\n"}, look)
    assert (file.after, file.applied) == (b"x\n", [])
    assert "do not come to an end" in file.problem
    assert left == {"a.py": 1}
    assert rounds <= MAX_ROUNDS + 2


def test_a_file_that_would_not_compile_is_left_as_a_whole() -> None:
    def look(name: str, data: bytes, others: Mapping[str, bytes]) -> list[Edit]:
        if data.startswith(b"x = 1"):
            return [Edit(4, 5, "2")]
        return [Edit(4, 5, "(")] if data.startswith(b"x = 2") else []

    files, left = run({"a.py": b"x = 1\n", "b.py": b"x = 3\n"}, look)
    (file,) = files
    assert (file.after, file.changed) == (b"x = 1\n", False)
    assert "would not compile" in file.problem
    assert left["a.py"] == 1


def test_a_fix_that_changes_nothing_ends_the_rounds() -> None:
    (file,), left = run({"a.py": b"x = 1\n"}, lambda name, data, others: [Edit(4, 5, "1")])
    assert not file.changed
    assert (file.problem, left) == ("", {"a.py": 1})


def test_other_files_are_looked_at_again_after_a_change() -> None:
    def look(name: str, data: bytes, others: Mapping[str, bytes]) -> list[Edit]:
        if name == "a.py":
            return [Edit(4, 5, "2")] if data == b"x = 1\n" else []
        return [Edit(4, 5, "3")] if others.get("/a.py") == b"x = 2\n" and data == b"y = 1\n" else []

    files, _ = run({"a.py": b"x = 1\n", "b.py": b"y = 1\n"}, look)
    assert [file.after for file in files] == [b"x = 2\n", b"y = 3\n"]


def test_only_what_is_wanted_is_fixed() -> None:
    files, left = run({"a.py": b"old\n"}, _each(b"old", "new"), Wanted(selects=lambda findings: []))
    assert (files, left) == ([], {"a.py": 1})
