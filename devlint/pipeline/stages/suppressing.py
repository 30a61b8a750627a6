"""Stage: suppression comments applied to findings, and the comments that suppress nothing (DEV900)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from devlint.configuration.codes import ALWAYS_ON, UNUSED_SUPPRESSION, all_codes
from devlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity
from devlint.pipeline.task import FileTask
from devlint.records import dataclass
from devlint.source.decoding import Source
from devlint.source.suppression import Selector, Suppression, read_suppressions


@dataclass(frozen=True, slots=True)
class Suppressed:
    """The findings of a file, divided. ``unused`` are the DEV900 findings, not yet selected."""

    kept: list[Finding]
    suppressed: list[Finding]
    unused: list[Finding]


def suppress(findings: Iterable[Finding], source: Source, task: FileTask) -> Suppressed:
    """Apply the suppression comments of a file to all its findings, unless the task says to ignore them."""
    gate = task.gate
    comments = [] if gate.ignore_noqa else read_suppressions(source.text, source.segments)
    return suppress_by(comments, findings, source.text, task.shown_as, gate.enabled, gate.bare_noqa)


def suppress_by(
    suppressions: list[Suppression],
    findings: Iterable[Finding],
    text: str,
    path: str,
    enabled: frozenset[str],
    bare_noqa: bool = False,
) -> Suppressed:
    """Apply suppression comments to all findings of a file.

    Also findings below the gate count as a use of a comment: a stricter run must not call it unused. A comment is
    judged for codes that are ``enabled`` only.
    """
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    used: set[tuple[int, str]] = set()
    for finding in findings:
        matches = [] if finding.code in ALWAYS_ON else _matches(finding, suppressions, bare_noqa)
        used.update(matches)
        (suppressed if matches else kept).append(finding)
    unused: list[Finding] = []
    meant = [one for one in suppressions if any(_selects(by.code, UNUSED_SUPPRESSION) for by in one.selectors)]
    for suppression in suppressions:
        idle = _judge(suppression, used, text, path, enabled)
        if idle is not None:
            (suppressed if _matches(idle, meant, False) else unused).append(idle)
    return Suppressed(kept, suppressed, unused)


def _matches(finding: Finding, suppressions: list[Suppression], bare_noqa: bool) -> list[tuple[int, str]]:
    """The comments, by their place and selector, that suppress a finding."""
    lines = (finding.place.line, *finding.related_lines)
    found: list[tuple[int, str]] = []
    for suppression in suppressions:
        if suppression.covers(lines):
            found.extend(
                (suppression.start, selector.code)
                for selector in suppression.selectors
                if _selects(selector.code, finding.code)
            )
            if bare_noqa and suppression.kind == "noqa" and not suppression.selectors:
                found.append((suppression.start, ""))
    return found


def _selects(selector: str, code: str) -> bool:
    """Whether a comment's code or prefix stands for ``code``. A comment that covers all rules cannot hide its own
    idleness: DEV900 has to be meant.
    """
    if code == UNUSED_SUPPRESSION:
        return selector.startswith("DEV9") and code.startswith(selector)
    return selector == "ALL" or code.startswith(selector)


def _judge(
    suppression: Suppression, used: set[tuple[int, str]], text: str, path: str, enabled: frozenset[str]
) -> Finding | None:
    """The DEV900 finding for what of a comment suppresses nothing."""
    label = f"# noqa: {_codes(suppression)}" if suppression.kind == "noqa" else f"# devlint: {suppression.kind}"
    if not suppression.selectors:
        if suppression.kind == "noqa":
            return None
        message = f"`{label}` names no code and silences nothing"
        return _finding(suppression, None, message, f"name the codes: `{label}[DEV101]`", None, path, text)
    idle = [
        selector
        for selector in suppression.selectors
        if (suppression.start, selector.code) not in used and _is_judged(selector, suppression, enabled)
    ]
    if not idle:
        return None
    names = ", ".join(selector.code for selector in idle)
    edits = (_removal(suppression, idle, text),)
    if len(idle) == len(suppression.selectors):
        where = "in this file" if suppression.kind == "file-ignore" else "here"
        message, help = f"suppression of {names} silences nothing {where}", "remove the comment"
        return _finding(suppression, None, message, help, Fix(Applicability.SAFE, help, edits), path, text)
    message, help = f"{names} in this suppression silences nothing", f"remove {names} from the comment"
    return _finding(suppression, idle[0], message, help, Fix(Applicability.SAFE, help, edits), path, text)


def _codes(suppression: Suppression) -> str:
    return ", ".join(selector.code for selector in suppression.selectors)


def _is_judged(selector: Selector, suppression: Suppression, enabled: frozenset[str]) -> bool:
    """Whether this run can tell that a selector is idle: all its codes ran, or it is devlint's and matches none."""
    if selector.code == UNUSED_SUPPRESSION:
        return False
    if selector.code == "ALL":
        return set(all_codes()) - {UNUSED_SUPPRESSION} <= enabled
    codes = {code for code in all_codes() if code.startswith(selector.code)}
    if not codes:
        return suppression.kind != "noqa" or selector.code.startswith("DEV")
    return codes <= enabled


def _removal(suppression: Suppression, idle: list[Selector], text: str) -> Edit:
    """The edit that removes idle codes, or the whole comment when nothing of it is left."""
    left = [selector for selector in suppression.selectors if selector not in idle]
    if left:
        start, end = suppression.selectors[0].start, suppression.selectors[-1].end
        return _edit(text, start, end, ", ".join(text[selector.start : selector.end] for selector in left))
    start = suppression.start
    line_end = _line_end(text, start)
    rest = text.find("#", start + 1, line_end)
    if rest >= 0:
        return _edit(text, start, rest, "")
    if suppression.own_line:
        line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        newline = re.compile(r"\r\n|\r|\n").match(text, line_end)
        return _edit(text, line_start, newline.end() if newline else line_end, "")
    return _edit(text, len(text[:start].rstrip(" \t\f")), line_end, "")


def _line_end(text: str, start: int) -> int:
    match = re.compile(r"[\r\n]").search(text, start)
    return match.start() if match else len(text)


def _edit(text: str, start: int, end: int, replacement: str) -> Edit:
    first = len(text[:start].encode())
    return Edit(first, first + len(text[start:end].encode()), replacement)


def _finding(
    suppression: Suppression, selector: Selector | None, message: str, help: str, fix: Fix | None, path: str, text: str
) -> Finding:
    if selector is None:
        start, end = suppression.start, suppression.end
    else:
        start, end = selector.start, selector.end
    column = suppression.column + start - suppression.start
    place = Place(path, suppression.line, column, suppression.line, column + end - start)
    return Finding(
        code=UNUSED_SUPPRESSION,
        name="unused-suppression",
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message=message,
        place=place,
        snippet=" ".join(text[start:end].split()),
        help=help,
        fix=fix,
    )
