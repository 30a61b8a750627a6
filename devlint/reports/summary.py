"""What a run comes to, in one line, and counted by rule."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from devlint.finding import Applicability, Finding, Severity, VerdictState
from devlint.pipeline.result import Hidden, Result
from devlint.reports.painting import SEVERITY_STYLES, Line
from devlint.reports.verdict import VERDICT_STYLES, VERDICT_WORDS


def summary_line(result: Result) -> Line:
    """``2 errors and 1 warning in 3 files (0.42 s); hidden: 1 suppressed``."""
    counts = result.by_severity
    line: Line = []
    for severity in sorted(counts, reverse=True):
        if line:
            line.append((" and " if severity is min(counts) else ", ", ""))
        line.append((counted(counts[severity], severity.label), SEVERITY_STYLES[severity.label]))
    if result.fixed:
        left: Line = [("; left: ", ""), *line] if line else [("; no problem left", "")]
        line = [("Fixed ", "bold green"), (counted(result.fixed, "finding"), ""), *left]
    if not line and result.not_run:
        line.append(("Nothing was settled", "bold yellow"))
    elif not line:
        new = " new" if result.hidden.baselined or result.hidden.in_base else ""
        line.append((f"No{new} device-placement problem found", "bold green"))
    line.append((f" in {counted(result.files, 'file')} ({result.seconds:.2f} s)", ""))
    if result.confirming:
        line += _verdict_pieces(result)
    if result.hidden.total:
        line.append((f"; hidden: {', '.join(hidden_words(result.hidden))}", "dim"))
    return line


def _verdict_pieces(result: Result) -> Line:
    """``: 2 confirmed, 1 not reached``."""
    counts = result.by_verdict
    pieces: Line = [(": " if counts else "", "")]
    for state in VerdictState:
        if counts[state]:
            pieces.append((", " if len(pieces) > 1 else "", ""))
            pieces.append((f"{counts[state]} {VERDICT_WORDS[state]}", VERDICT_STYLES[state]))
    return pieces


def fixable_line(findings: Iterable[Finding]) -> Line:
    """``3 fixable with --fix (1 more with --unsafe-fixes)``; empty if there is nothing to apply."""
    safe, unsafe = _fixable(findings)
    if safe:
        more = f" ({unsafe:,} more with --unsafe-fixes)" if unsafe else ""
        return [(f"{safe:,} fixable with --fix{more}", "cyan")]
    return [(f"{unsafe:,} fixable with --fix --unsafe-fixes", "cyan")] if unsafe else []


def fixed_line(result: Result, would: bool, unsafe: bool) -> Line:
    """``Would fix 2 findings in 3 files (0.42 s); 1 more with --unsafe-fixes``."""
    number = result.fixed or 0
    if number:
        done = f"{'Would fix' if would else 'Fixed'} {counted(number, 'finding')}"
    else:
        done = "Nothing to fix"
    line: Line = [(done, "bold"), (f" in {counted(result.files, 'file')} ({result.seconds:.2f} s)", "")]
    _, more = _fixable(result.findings)
    if more and not unsafe:
        line.append((f"; {more:,}{' more' if number else ''} with --unsafe-fixes", "dim"))
    return line


def _fixable(findings: Iterable[Finding]) -> tuple[int, int]:
    """How many findings have a safe fix, and how many an unsafe one."""
    counts = Counter(finding.fix.applicability for finding in findings if finding.fix is not None and finding.fix.edits)
    return counts[Applicability.SAFE], counts[Applicability.UNSAFE]


def hidden_words(hidden: Hidden) -> list[str]:
    """What was hidden and why, each with its number."""
    pairs = (
        (hidden.suppressed, "suppressed by comments"),
        (hidden.baselined, "in the baseline"),
        (hidden.in_base, "already in the base"),
        (hidden.below_severity, "below the least severity"),
        (hidden.below_confidence, "below the least confidence"),
    )
    return [f"{number} {words}" for number, words in pairs if number]


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def statistics_lines(findings: Iterable[Finding]) -> Iterator[Line]:
    """A table of the rules by how often they spoke; ``[*]`` where every finding has a safe fix, ``[-]`` where some."""
    rows = _statistics(findings)
    any_fix = any(fixable for *_, fixable in rows)
    for code, name, severity, count, fixable in rows:
        mark = "" if not any_fix else "[*] " if fixable == count else "[-] " if fixable else "[ ] "
        yield [
            (str(count), "bold"),
            ("\t", ""),
            (code, SEVERITY_STYLES[severity.label]),
            ("\t", ""),
            (mark, "cyan"),
            (name, ""),
        ]


def statistics_json(findings: Iterable[Finding]) -> str:
    """The same table as a JSON array."""
    rows = [
        {
            "code": code,
            "name": name,
            "severity": severity.label,
            "count": count,
            "fixable": fixable == count,
            "fixable_count": fixable,
        }
        for code, name, severity, count, fixable in _statistics(findings)
    ]
    return json.dumps(rows, indent=2) + "\n"


def _statistics(findings: Iterable[Finding]) -> list[tuple[str, str, Severity, int, int]]:
    """Code, name, gravest severity, count and count with a safe fix; the most frequent first."""
    counts, fixable = Counter[str](), Counter[str]()
    names: dict[str, str] = {}
    gravest: dict[str, Severity] = {}
    for finding in findings:
        counts[finding.code] += 1
        names[finding.code] = finding.name
        gravest[finding.code] = max(finding.severity, gravest.get(finding.code, finding.severity))
        fix = finding.fix
        fixable[finding.code] += fix is not None and bool(fix.edits) and fix.applicability is Applicability.SAFE
    return [
        (code, names[code], gravest[code], counts[code], fixable[code])
        for code in sorted(counts, key=lambda code: (-counts[code], code))
    ]
