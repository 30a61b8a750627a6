"""All findings as a table on the page of a GitHub Actions job, in GitHub's Markdown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import quote

from devlint.finding import Finding
from devlint.pipeline.result import Result
from devlint.reports.document import well_formed
from devlint.reports.gravity import worst_first
from devlint.reports.painting import visible
from devlint.reports.repository import Repository, in_file
from devlint.reports.shortening import ends
from devlint.reports.summary import counted, summary_line
from devlint.reports.verdict import VERDICT_WORDS
from devlint.reports.wording import explanation

MOST_BYTES = 1024 * 1024
"""What GitHub takes for one step; of a longer summary it shows nothing at all."""

_MOST_LINES = 40
_CLOSING = "\n_... and {more}._\n"
_MARKS = {"error": "🔴 error", "warning": "🟠 warning", "note": "🔵 note"}
_CODE = re.compile(r"`([^`]+)`")
_MEANING = re.compile(r"[^A-Za-z0-9 .,;/=%'-]")


def step_summary(result: Result, repository: Repository, blob_url: str, room: int) -> str:
    """The table, the gravest findings first, in at most ``room`` bytes of UTF-8; what did not fit is counted.

    Empty if not even the heading fits.
    """
    heading = "".join(text for text, _ in summary_line(result))
    head = f"### devlint\n\n{_escaped(heading)}\n"
    if result.findings:
        columns = ["", "rule", "place", "finding", *(["verdict"] if result.confirming else [])]
        head += f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    left = room - len(head.encode()) - len(_CLOSING.encode()) - len("1,000,000,000 more findings")
    if left < 0:
        return ""
    rows: list[str] = []
    ordered = worst_first(result.findings)
    for finding in ordered:
        row = _row(finding, repository, blob_url, result.confirming)
        left -= len(row.encode())
        if left < 0:
            break
        rows.append(row)
    more = len(ordered) - len(rows)
    return head + "".join(rows) + (_CLOSING.format(more=counted(more, "more finding")) if more else "")


def blob_url(environment: Mapping[str, str]) -> str:
    """Where GitHub shows the files of the commit that this job runs on; empty outside of a job."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    server, repository, commit = (environment.get(name, "") for name in names)
    return f"{server}/{repository}/blob/{commit}" if server and repository and commit else ""


def room_in_summary(environment: Mapping[str, str]) -> int:
    """How many bytes this step may still add to the job's page; 0 where there is none."""
    file = environment.get("GITHUB_STEP_SUMMARY", "")
    if not file:
        return 0
    try:
        return max(MOST_BYTES - os.stat(file).st_size, 0)
    except FileNotFoundError:
        return MOST_BYTES
    except OSError:
        return 0


def _row(finding: Finding, repository: Repository, blob_url: str, confirming: bool) -> str:
    place = finding.place
    path = repository.path(place.path)
    at = _code(f"{path}:{place.position}")
    if blob_url:
        at = f'<a href="{_escaped(f"{blob_url}/{_quoted(path)}#L{in_file(place).line}")}">{at}</a>'
    told = _prose(finding.message)
    more = [_prose(line) for line in ends(explanation(finding, repository.path), _MOST_LINES)]
    if more:
        told += f"<details><summary>why</summary>{'<br>'.join(more)}</details>"
    cells = [_MARKS[finding.severity.label], _code(finding.code), at, told]
    if confirming:
        cells.append(VERDICT_WORDS[finding.verdict.state] if finding.verdict is not None else "")
    return f"| {' | '.join(cells)} |\n"


def _prose(text: str) -> str:
    """Text in which ``backticks`` mark code; nothing else in it means anything."""
    parts = _CODE.split(text)
    return "".join(_code(part) if index % 2 else _escaped(part) for index, part in enumerate(parts))


def _code(text: str) -> str:
    return f"<code>{_escaped(text)}</code>"


def _escaped(text: str) -> str:
    """Every character that Markdown or HTML could act on as a numeric entity, which both leave alone."""
    return _MEANING.sub(
        lambda match: match[0] if ord(match[0]) > 127 else f"&#{ord(match[0])};", visible(well_formed(text))
    )


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "surrogateescape"))
