"""The lint result of one text: what the rules report of it, before any setting or comment has a say."""

from __future__ import annotations

from dataclasses import field

from devlint.finding import Finding
from devlint.records import dataclass
from devlint.source.gate import Refusal


@dataclass(frozen=True, slots=True)
class LintResult:
    """Every finding of every rule, unfiltered. Edits count in the text."""

    findings: tuple[Finding, ...] = ()
    refusal: Refusal | None = None
    """Why the text could not be linted; None if it was."""
    scopes: frozenset[str] = field(default=frozenset(), compare=False)
    """The qualified names of the scopes of the file that hold a place of a finding, as far as they are known."""
    leads_back: bool = field(default=False, compare=False)
    """Whether files around this one import it back."""
    touches_compared_tree: bool = False
    """Whether the result depends on a path that may differ in the tree that findings are compared with."""
