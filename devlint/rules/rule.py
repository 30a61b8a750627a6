"""What a rule is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from devlint.finding import Severity

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.domain.events import Met


class Rule:
    """Base of all rules. A fresh instance serves one file, so a rule may remember what it saw there.

    Handlers are methods named after the event in snake case (``created``, ``moved``, ``device_named``, ``host_read``,
    ``class_walked`` ...), taking the event and yielding drafts. ``claim`` is asked about each clash in the order of
    :data:`devlint.drafts.causes.CAUSE_ORDER`; the first rule that yields has it, the others never see it.
    ``finish`` is called once after the file's last event.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]

    def claim(self, event: Met) -> Iterable[Draft]:
        return ()

    def finish(self) -> Iterable[Draft]:
        return ()
