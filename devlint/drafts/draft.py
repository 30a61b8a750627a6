"""The draft of a finding: what a rule yields, its places still nodes of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from devlint.finding import Applicability, Confidence, Severity

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.scope import Scope


@dataclass(frozen=True, slots=True, eq=False)
class DraftStep:
    """A trace step whose place is still a node."""

    node: cst.CSTNode
    scope: Scope
    message: str
    device: str | None = None
    passes_on: bool = True
    """Here the value is handed on; not where a value begins, as a parameter, a factory or an attribute does."""


@dataclass(frozen=True, slots=True)
class Repair:
    """How the code becomes right: in words, with its applicability and, where it can be written down, the changes.

    Without changes it is shown as a suggestion, whatever its applicability.
    """

    applicability: Applicability
    message: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A finding before it has a place in the text. ``node`` is where the repair goes."""

    node: cst.CSTNode
    scope: Scope
    message: str
    confidence: Confidence = Confidence.HIGH
    severity: Severity | None = None
    """None: the rule's own."""
    trace: tuple[DraftStep, ...] = ()
    repair: Repair | None = None
