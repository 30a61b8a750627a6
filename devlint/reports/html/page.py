"""The whole page."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from functools import cache
from importlib import resources
from itertools import groupby

from devlint import __version__
from devlint.configuration.codes import all_codes
from devlint.finding import Finding, Severity, VerdictState
from devlint.pipeline.result import Result
from devlint.reports.gravity import worst_first
from devlint.reports.html.card import card
from devlint.reports.html.devices import KINDS, kind_of
from devlint.reports.html.drawing import Drawings
from devlint.reports.html.markup import markdown, plain, prose
from devlint.reports.source_lines import SourceLines
from devlint.reports.summary import counted, hidden_words
from devlint.reports.verdict import VERDICT_WORDS
from devlint.rules.registry import RuleInfo

DRAWN = 2_000
"""Beyond as many findings only the gravest are drawn: a browser should still open the page."""


def html_document(result: Result, source: SourceLines) -> str:
    """One self-contained page, ASCII only, the same for the same result."""
    style, script = _asset("style.css"), _asset("script.js")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{plain(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_title(result)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{_head(result)}{_filters(result)}"
        f'<div class="columns">{_contents(result)}<main>{_notices(result)}{_entries(result)}{_files(result, source)}'
        f"{_rules(result)}</main></div>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="ascii")


def _hash(text: str) -> str:
    """What the page's own policy lets run, and nothing else."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('ascii')).digest()).decode('ascii')}'"


def _title(result: Result) -> str:
    counts = result.by_severity
    told = ", ".join(counted(counts[severity], severity.label) for severity in sorted(counts, reverse=True))
    return f"devlint: {told or 'nothing found'}"


def _head(result: Result) -> str:
    counts, verdicts = result.by_severity, result.by_verdict
    tiles = [_tile(severity.label, counted(counts[severity], severity.label)) for severity in reversed(Severity)]
    if result.confirming:
        tiles += [_tile(state.value, f"{verdicts[state]:,} {VERDICT_WORDS[state]}") for state in VerdictState]
    seen = {kind_of(step.device) for finding in result.findings for step in finding.trace}
    legend = "".join(f'<li class="{kind}">{words}</li>' for kind, words in KINDS.items() if kind in seen - {"none"})
    return (
        '<header class="top"><h1>devlint</h1>'
        f"<p>{counted(result.files, 'file')} in {result.seconds:.2f} s, devlint {plain(__version__)}</p>"
        f'<ul class="tiles">{"".join(tiles)}</ul>'
        + (f'<ul class="legend" aria-label="Colours of devices">{legend}</ul>' if legend else "")
        + "</header>\n"
    )


def _tile(name: str, words: str) -> str:
    number, _, rest = words.partition(" ")
    return f'<li class="{name}"><b>{number}</b> {rest}</li>'


def _filters(result: Result) -> str:
    """Shown by the script, which alone can use it."""
    if len(result.findings) < 2:
        return ""
    severities = [severity.label for severity in sorted(result.by_severity, reverse=True)]
    boxes = [_box("severity", label, label) for label in severities] if len(severities) > 1 else []
    boxes += [_box("verdict", state.value, VERDICT_WORDS[state]) for state in VerdictState if result.by_verdict[state]]
    codes = Counter((finding.code, finding.name) for finding in result.findings)
    options = "".join(
        f'<option value="{plain(code)}">{plain(code)} {plain(name)} ({count})</option>'
        for (code, name), count in sorted(codes.items())
    )
    rules = f'<option value="">{"all " if len(codes) > 1 else ""}{counted(len(codes), "rule")}</option>'
    return (
        '<form class="filters" hidden aria-label="Filters">'
        f'<select name="code" aria-label="Rule">{rules}{options}</select>'
        f'{"".join(boxes)}<input name="words" type="search" placeholder="path, message, code ..." aria-label="Search">'
        '<output name="count"></output></form>\n'
    )


def _box(name: str, value: str, words: str) -> str:
    return f'<label class="{value}"><input type="checkbox" name="{name}" value="{value}" checked> {words}</label>'


def _contents(result: Result) -> str:
    if not result.findings:
        return ""
    items = []
    for number, (path, group) in enumerate(groupby(result.findings, key=_path), 1):
        members = list(group)
        gravest = max(finding.severity for finding in members).label
        directory, slash, name = path.rpartition("/")
        items.append(
            f'<li><a href="#file{number}"><span class="count {gravest}">{len(members)}</span>'
            f'<span class="path"><span class="dir">{_breakable(directory + slash)}</span>{_breakable(name)}</span>'
            "</a></li>"
        )
    return (
        f'<nav aria-label="Files"><h2>{counted(len(items), "file")} with findings</h2><ol>{"".join(items)}</ol></nav>\n'
    )


def _breakable(path: str) -> str:
    """A path that may be broken where a reader would."""
    return re.sub(r"([/_])", r"\1<wbr>", plain(path))


def _notices(result: Result) -> str:
    told = [f"{path}: no such file or directory" for path in result.missing]
    told += [text for text in (result.nothing, result.not_run) if text]
    told += [f"hidden: {words}" for words in hidden_words(result.hidden)]
    if len(result.findings) > DRAWN:
        told.append(f"only the gravest {DRAWN:,} of {len(result.findings):,} findings are shown with their code")
    if not result.findings and result.exit_code == 0 and not result.nothing:
        told.insert(0, "No device-placement problem found.")
    return "".join(f'<p class="notice">{plain(text)}</p>\n' for text in told)


def _entries(result: Result) -> str:
    if not result.entries:
        return ""
    rows = "".join(
        f"<tr><td><code>{plain(entry.entry)}</code></td>"
        f"<td>{plain(entry.device)}{' (simulated)' if entry.simulated else ''}</td>"
        f'<td class="{plain(entry.state)}">{plain(entry.state)}</td><td>{plain(entry.reason or "")}</td></tr>'
        for entry in result.entries
    )
    head = "<thead><tr><th>entry</th><th>device</th><th>state</th><th>reason</th></tr></thead>"
    return f'<section class="entries"><h2>What was run</h2><table>{head}<tbody>{rows}</tbody></table></section>\n'


def _files(result: Result, source: SourceLines) -> str:
    drawings = Drawings(source)
    drawn = {id(finding) for finding in worst_first(result.findings)[:DRAWN]}
    number = 0
    made: list[str] = []
    for file, (path, group) in enumerate(groupby(result.findings, key=_path), 1):
        cards: list[str] = []
        for finding in group:
            number += 1
            cards.append(card(finding, number, drawings if id(finding) in drawn else None, source))
        heading = f"<h2>{plain(path)} <span>{counted(len(cards), 'finding')}</span></h2>"
        made.append(f'<section class="file" id="file{file}">{heading}\n{"".join(cards)}</section>\n')
    return "".join(made)


def _path(finding: Finding) -> str:
    return finding.place.path


def _rules(result: Result) -> str:
    about = all_codes()
    codes = sorted({finding.code for finding in result.findings} & set(about))
    if not codes:
        return ""
    pages = "".join(_rule(about[code]) for code in codes)
    return f'<section class="rules"><h2>The rules</h2>\n{pages}</section>\n'


def _rule(rule: RuleInfo) -> str:
    """A rule's page to open; the summary, its first paragraph, is what is seen before."""
    _, _, more = rule.page.partition("\n\n")
    heading = f"<b>{rule.code}</b> {plain(rule.name)}: {prose(rule.summary)}"
    return f'<details id="rule-{rule.code}"><summary>{heading}</summary>\n{markdown(more)}</details>\n'
