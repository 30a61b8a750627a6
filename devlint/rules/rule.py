"""What a rule is, and the draft of a finding it yields."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from devlint.finding import Applicability, Confidence, Severity

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.events import Met
    from devlint.placement.scope import Scope
    from devlint.rules.changes import Change


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


class Rule:
    """Base of all rules. A fresh instance serves one file, so a rule may remember what it saw there.

    Handlers are methods named after the event in snake case (``created``, ``moved``, ``device_named``, ``host_read``,
    ``class_walked`` ...), taking the event and yielding drafts. ``claim`` is asked about each clash in the order of
    :data:`devlint.rules.causes.CAUSE_ORDER`; the first rule that yields has it, the others never see it.
    ``finish`` is called once after the file's last event.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]

    def claim(self, event: Met) -> Iterable[Draft]:
        return ()

    def finish(self) -> Iterable[Draft]:
        return ()
