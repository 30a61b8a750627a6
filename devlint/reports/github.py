"""GitHub Actions' annotations: workflow commands on standard output.

Sources: docs.github.com "Workflow commands for GitHub Actions" (the commands), actions/toolkit's ``command.ts`` (what
is escaped) and ``docs/problem-matchers.md`` (ten annotations of a kind a step; what is beyond is silently dropped),
actions/runner's ``ExecutionContext.cs`` (how long a message may be; the rest of a longer one is cut off).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from devlint.finding import Finding, Severity
from devlint.pipeline.result import Result
from devlint.reports.document import Document
from devlint.reports.gravity import gravity, worst_first
from devlint.reports.painting import visible
from devlint.reports.repository import Repository, in_file
from devlint.reports.shortening import clipped, ends
from devlint.reports.step_summary import step_summary
from devlint.reports.summary import counted
from devlint.reports.wording import explanation

ANNOTATIONS_OF_A_KIND = 10
MESSAGE_UNITS = 4_096
"""UTF-16 units of an annotation's message."""

_KINDS = {Severity.NOTE: "notice", Severity.WARNING: "warning", Severity.ERROR: "error"}


def github_document(result: Result, repository: Repository, blob_url: str = "", summary_bytes: int = 0) -> Document:
    """Annotations, the gravest first; what a step cannot show is folded in its log.

    ``blob_url`` is where the commit's files are shown, empty if that is not known; ``summary_bytes`` how much room the
    page of the job still has, 0 if there is none.
    """
    shown: list[Finding] = []
    rest: list[Finding] = []
    used = Counter[str]()
    for finding in worst_first(result.findings):
        kind = _KINDS[gravity(finding)]
        used[kind] += 1
        (shown if used[kind] <= ANNOTATIONS_OF_A_KIND else rest).append(finding)
    lines = [_annotation(finding, repository) for finding in shown]
    remarks: tuple[str, ...] = ()
    if rest:
        lines += _folded(rest, repository)
        remarks = (
            f"{counted(len(rest), 'finding')} more than GitHub annotates ({ANNOTATIONS_OF_A_KIND} of a kind a step): "
            + ("see the job's summary, or the folded lines of the log" if summary_bytes else "see the folded lines"),
        )
    summary = step_summary(result, repository, blob_url, summary_bytes) if summary_bytes else ""
    return Document("".join(line + "\n" for line in lines), remarks, summary)


def _annotation(finding: Finding, repository: Repository) -> str:
    place = in_file(finding.place)
    properties = {"file": repository.path(place.path), "line": str(place.line)}
    properties["endLine"] = str(max(place.end_line, place.line))
    if place.column and place.end_line <= place.line:
        # GitHub takes columns only within one line, and drops the whole region otherwise.
        properties |= {"col": str(place.column), "endColumn": str(max(place.end_column, place.column))}
    properties["title"] = f"{finding.code} {finding.name}"
    message = _message(finding.message, explanation(finding, repository.path))
    named = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_KINDS[gravity(finding)]} {named}::{_data(message)}"


def _message(message: str, more: Sequence[str]) -> str:
    """All lines if they fit; else the message and as much from the beginning and the end of the others."""
    head = clipped(visible(message), MESSAGE_UNITS // 4)
    count = len(more)
    more = [visible(line) for line in more]
    text = "\n".join([head, *more])
    while count and len(text.encode("utf-16-le", "surrogatepass")) > 2 * MESSAGE_UNITS:
        count //= 2
        kept = ends(more, count)
        text = "\n".join([head, *kept[: count // 2], "...", *kept[count // 2 :]])
    return text


def _folded(findings: Sequence[Finding], repository: Repository) -> list[str]:
    """Lines of the log, which must not be taken for commands: these begin with ``::``, or hold ``##[``."""
    lines = [f"::group::{_data(counted(len(findings), 'more finding'))}"]
    for finding in findings:
        place = finding.place
        text = f"{finding.severity.label} {finding.code} {repository.path(place.path)}:{place.position}: "
        lines.append(visible(text + finding.message).replace("##[", "# # ["))
    return [*lines, "::endgroup::"]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
