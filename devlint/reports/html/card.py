"""One finding on the page."""

from __future__ import annotations

from devlint.finding import Finding, Operand, Verdict
from devlint.reports.html.changes import changed_lines
from devlint.reports.html.devices import kind_of
from devlint.reports.html.drawing import Drawings
from devlint.reports.html.markup import plain, prose
from devlint.reports.source_lines import SourceLines
from devlint.reports.verdict import VERDICT_WORDS, first_line, operand_words, run_words
from devlint.reports.wording import advice


def card(finding: Finding, number: int, drawings: Drawings | None, source: SourceLines) -> str:
    """The article of a finding; without ``drawings`` its code is not shown."""
    severity, place = finding.severity.label, finding.place
    state = finding.verdict.state.value if finding.verdict is not None else ""
    scope = f" in <code>{plain(finding.scope)}</code>" if finding.scope else ""
    runtime = '<span class="origin">seen by a run only</span>' if finding.origin == "runtime" else ""
    drawing = drawings.figure(finding) if drawings is not None else ""
    return (
        f'<article class="finding {severity} {state}" id="f{number}"'
        f' data-code="{plain(finding.code)}" data-severity="{severity}" data-verdict="{state}">\n'
        f'<header><a class="self" href="#f{number}" title="link to this finding">'
        f'<span class="badge {severity}">{severity}</span>'
        f' <span class="id">{plain(finding.code)}</span> <span class="rule">{plain(finding.name)}</span></a>'
        f'<span class="where">{plain(place.position)}{scope}</span>{runtime}</header>\n'
        f'<p class="message">{prose(finding.message)}</p>\n'
        f"{drawing}{_verdict(finding.verdict)}{_advice(finding, source)}"
        f'<p class="more"><a href="#rule-{plain(finding.code)}">why is this bad?</a></p>'
        "</article>\n"
    )


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    told = ", ".join(part for part in (run_words(verdict), verdict.reason) if part)
    error = f"<pre>{plain(first_line(verdict.error))}</pre>" if verdict.error else ""
    operands = "".join(map(_operand, verdict.operands))
    return (
        f'<div class="verdict {verdict.state.value}"><p><b>{VERDICT_WORDS[verdict.state]}</b> {prose(told)}</p>'
        f"{error}{f'<ul>{operands}</ul>' if operands else ''}</div>\n"
    )


def _operand(operand: Operand) -> str:
    return f'<li class="{kind_of(operand.device)}">{prose(operand_words(operand))}</li>'


def _advice(finding: Finding, source: SourceLines) -> str:
    items = [f"<dt>{word}</dt><dd>{prose(text)}</dd>" for word, text in advice(finding)]
    if not items:
        return ""
    changes = changed_lines(finding.fix, finding.place.path, source) if finding.fix is not None else []
    lines = "".join(f'<span class="{_SIGNS[sign]}">{sign} {plain(line)}</span>' for sign, line in changes)
    diff = f'<div class="diff" tabindex="0">{lines}</div>' if lines else ""
    return f'<dl class="advice">{"".join(items)}</dl>{diff}\n'


_SIGNS = {"-": "gone", "+": "come"}
