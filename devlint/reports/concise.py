"""One line a finding, for grep and for editors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from devlint.finding import Finding
from devlint.reports.painting import Line, visible
from devlint.reports.text import header
from devlint.reports.verdict import VERDICT_STYLES, VERDICT_WORDS, run_words


def concise_lines(findings: Iterable[Finding]) -> Iterator[Line]:
    """The header line of each finding, and the verdict where there is one."""
    for finding in findings:
        verdict = finding.verdict
        if verdict is None:
            yield header(finding)
            continue
        words = " ".join(word for word in (VERDICT_WORDS[verdict.state], run_words(verdict)) if word)
        yield [*header(finding), (f" ({visible(words)})", VERDICT_STYLES[verdict.state])]
