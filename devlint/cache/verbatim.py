"""Which other files a lint result quotes: of these every byte is a dependency, not only their program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from devlint.finding import Finding
from devlint.pipeline.path_symbols import SYMBOL


def files_placed_in(findings: Iterable[Finding]) -> Iterator[str]:
    """The names of the files that a finding has a place in, or that an edit would change."""
    for finding in findings:
        places = [finding.place.path, *(step.place.path for step in finding.trace)]
        places += [edit.path for edit in (finding.fix.edits if finding.fix else ()) if edit.path]
        for path in places:
            match = SYMBOL.fullmatch(path)
            if match is not None:
                yield match[1]


def quotes_comment(findings: Iterable[Finding]) -> bool:
    """Whether the text of a finding may hold a comment, by the sign of one."""
    return any(
        "#" in text
        for finding in findings
        for text in (
            finding.message,
            finding.help,
            finding.snippet,
            finding.fix.message if finding.fix else "",
            *(step.message for step in finding.trace),
        )
    )
