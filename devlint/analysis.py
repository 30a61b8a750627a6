"""One file, from its bytes to what is said of it. Runs in a worker process."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import PurePath

from devlint.codes import SYNTAX_ERROR, UNREADABLE_FILE, UNUSED_SUPPRESSION, all_codes
from devlint.deadline import OutOfTime
from devlint.finding import Applicability, Confidence, Finding, Place, Severity
from devlint.linting import Said, budget, lint_text, refused
from devlint.silencing import silence
from devlint.source.asked import Asked
from devlint.source.decoding import Source, Unreadable, as_notebook, content_digest, read_source
from devlint.source.gate import Refusal
from devlint.source.reading import reason
from devlint.source.screen import may_hold_findings
from devlint.source.suppression import read_suppressions, speak_of_devlint
from devlint.source.tree import WORKING_TREE, Tree
from devlint.symbols import shown, symbolic
from devlint.task import FileReport, FileTask, Gate, Record


def analyse_file(task: FileTask, tree: Tree = WORKING_TREE) -> FileReport:
    """Read, judge and filter one file of a tree.

    Whatever goes wrong with it becomes its DEV902; only an interrupt gets out.
    """
    return shown(_analyse(symbolic(task), tree), task)


def recorded_report(findings: list[Finding], refusal: Refusal | None, digest: str, task: FileTask) -> FileReport:
    """The symbolic report on a file of which it is known already what the rules said.

    Raises ValueError if the file is not the one with that digest.
    """
    inner = symbolic(task)
    if refusal is not None:
        return _refused(inner, refusal)
    try:
        source = read_source(task.path, _read(task))
    except Unreadable as error:
        raise ValueError(error.message) from None
    if source.digest.hex() != digest:
        raise ValueError("the file has changed")
    return _reported(findings, None, source, inner)


def _analyse(task: FileTask, tree: Tree) -> FileReport:
    asked = Asked() if task.recorded else None
    data = source = None
    try:
        data = _read(task, tree)
        source = read_source(task.path, data)
    except Unreadable as error:
        report = failed(task, error.message, error.line)
        if asked is None or data is None:
            return report
        refusal = Refusal(False, error.message, error.line, 1)
        return replace(report, record=Record(content_digest(data).hex(), (), refusal, False, asked, 0, report))
    try:
        screened = not may_hold_findings(source)
        said = Said(refusal=refused(source.text)) if screened else lint_text(source.text, task, tree, asked)
        raw = list(said.findings)
        if (notebook := as_notebook(source)) is not None:
            raw += (
                _own_finding(SYNTAX_ERROR, task.shown_as, cell.message, cell.line, cell.column)
                for cell in notebook.broken
            )
        report = replace(_reported(raw, said.refusal, source, task), watched=said.watched)
        if asked is None:
            return report
        asked.settle()
        speaks = speak_of_devlint(read_suppressions(source.text, source.pieces))
        record = Record(
            source.digest.hex(), tuple(raw), said.refusal, speaks, asked, budget() if asked.parsed else 0, report
        )
        return replace(report, record=record)
    except (KeyboardInterrupt, SystemExit, OutOfTime):
        raise
    except RecursionError:
        return failed(task, "its code is nested too deeply", detail=_detail())
    except MemoryError:
        return failed(task, "there was not enough memory")
    except BaseException as error:  # a panic of native code is no Exception
        import traceback

        kind = traceback.format_exception_only(error)[-1].strip()
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{PurePath(where.filename).name}:{where.lineno}"
        return failed(task, f"devlint itself failed on it ({kind}, at {place}); please report this", detail=_detail())


def _reported(raw: list[Finding], refusal: Refusal | None, source: Source, task: FileTask) -> FileReport:
    """What the rules said, as the settings of the task want it."""
    report = _filtered(raw, source, task) if refusal is None else _refused(task, refusal)
    return _placed(report, source)


def silence_findings(findings: list[Finding], task: FileTask) -> FileReport:
    """Findings made elsewhere, held to the comments, the selection and the thresholds of their one file."""
    try:
        source = read_source(task.path, _read(task))
    except Unreadable:
        return FileReport(task.shown_as, tuple(findings))
    lines = source.text.splitlines()
    quoted = [replace(finding, snippet=finding.snippet or _quoted(finding.place, lines)) for finding in findings]
    report = _filtered(quoted, source, task)
    return replace(report, findings=tuple(f for f in report.findings if f.code != UNUSED_SUPPRESSION))


def _quoted(place: Place, lines: list[str]) -> str:
    """The text of a place with its white space collapsed."""
    text = " ".join(lines[place.line - 1 : place.end_line]) if place.line != place.end_line else ""
    if not text and 0 < place.line <= len(lines):
        text = lines[place.line - 1][place.column - 1 : max(place.end_column, place.column + 1) - 1]
    return " ".join(text.split())


def failed(task: FileTask, message: str, line: int = 1, column: int = 1, detail: str = "") -> FileReport:
    """The report on a file that could not be analysed."""
    finding = _own_finding(UNREADABLE_FILE, task.shown_as, f"cannot be analysed: {message}", line, column)
    return FileReport(task.shown_as, _fingerprinted([finding], task.identity), detail=detail)


def fingerprint(code: str, identity: str, scope: str, snippet: str, ordinal: int) -> str:
    """The identity of a finding: it survives line shifts, reformatting and another selection of rules."""
    import hashlib

    key = "\0".join((code, identity, scope, snippet, str(ordinal)))
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _read(task: FileTask, tree: Tree = WORKING_TREE) -> bytes:
    if task.data is not None:
        return task.data
    try:
        return tree.read(task.path)
    except OSError as error:
        raise Unreadable(reason(error)) from None


def _refused(task: FileTask, refusal: Refusal) -> FileReport:
    if not refusal.syntax:
        return failed(task, refusal.message, refusal.line, refusal.column)
    finding = _own_finding(SYNTAX_ERROR, task.shown_as, refusal.message, refusal.line, refusal.column)
    return FileReport(task.shown_as, _fingerprinted([finding], task.identity))


def _own_finding(code: str, path: str, message: str, line: int, column: int) -> Finding:
    about = all_codes()[code]
    place = Place(path, line, column, line, column + 1)
    return Finding(code, about.name, about.severity, Confidence.HIGH, message, place)


def _placed(report: FileReport, source: Source) -> FileReport:
    """The report with its places in this file as people tell them: by cell in a notebook."""
    notebook = as_notebook(source)
    if notebook is None:
        return report

    def told(place: Place) -> Place:
        return notebook.placed(place) if place.path == report.shown_as else place

    return replace(
        report,
        findings=tuple(
            replace(
                finding,
                place=told(finding.place),
                related_lines=tuple(told(Place(report.shown_as, n, 1, n, 1)).line for n in finding.related_lines),
                trace=tuple(replace(step, place=told(step.place)) for step in finding.trace),
            )
            for finding in report.findings
        ),
    )


def _filtered(raw: list[Finding], source: Source, task: FileTask) -> FileReport:
    gate = task.gate
    numbered = _fingerprinted([_with_original_edits(finding, source) for finding in raw], task.identity)
    suppressions = [] if gate.ignore_noqa else read_suppressions(source.text, source.pieces)
    silenced = silence(numbered, suppressions, source.text, task.shown_as, gate.enabled, gate.bare_noqa)
    unused = _fingerprinted([_with_original_edits(finding, source) for finding in silenced.unused], task.identity)
    shown: list[Finding] = []
    below: dict[str, list[Finding]] = {"severity": [], "confidence": []}
    for finding in (*silenced.kept, *unused):
        if finding.code in gate.enabled:
            hidden = hidden_by(finding, gate)
            if hidden:
                below[hidden].append(finding)
            else:
                shown.append(_as_fixable(finding, gate))
    return FileReport(
        task.shown_as,
        tuple(sorted(shown, key=lambda finding: finding.sort_key)),
        suppressed=sum(finding.code in gate.enabled for finding in silenced.suppressed),
        below_severity=len(below["severity"]),
        below_confidence=len(below["confidence"]),
        below_gate=(*below["severity"], *below["confidence"]),
        digest=source.digest if any(finding.fix and finding.fix.edits for finding in shown) else b"",
    )


def hidden_by(finding: Finding, gate: Gate) -> str:
    """The threshold below which a finding is; empty for none."""
    if finding.confidence < gate.min_confidence:
        return "confidence"
    if gate.min_severity is not None:
        return "severity" if finding.severity < gate.min_severity else ""
    if finding.severity >= Severity.WARNING:
        return ""
    own_severity = all_codes()[finding.code].severity
    return "" if own_severity is Severity.NOTE and finding.code in gate.named else "severity"


def _as_fixable(finding: Finding, gate: Gate) -> Finding:
    if finding.fix is None or gate.fixable is None or finding.code in gate.fixable:
        return finding
    return replace(finding, fix=replace(finding.fix, applicability=Applicability.SUGGESTION))


def _with_original_edits(finding: Finding, source: Source) -> Finding:
    """The same finding with edits into the file's bytes instead of its text."""
    if finding.fix is None or not finding.fix.edits:
        return finding
    edits = tuple(edit if edit.path else source.original(edit) for edit in finding.fix.edits)
    return finding if edits == finding.fix.edits else replace(finding, fix=replace(finding.fix, edits=edits))


def _fingerprinted(findings: list[Finding], identity: str) -> tuple[Finding, ...]:
    """Each finding with its fingerprint; like ones of one scope are told apart by their order in the file."""
    seen = Counter[tuple[str, str, str]]()
    numbered: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        key = (finding.code, finding.scope, finding.snippet)
        numbered.append(replace(finding, fingerprint=fingerprint(finding.code, identity, *key[1:], seen[key])))
        seen[key] += 1
    return tuple(numbered)


def _detail() -> str:
    import traceback

    return "".join(traceback.format_exception(*sys.exc_info()))
