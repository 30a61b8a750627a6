"""Names that parameters of one kind have as a rule: a convention for what nothing else is known of."""

from __future__ import annotations

from devlint.placement.declarations.parameter_evidence import Held


def by_name(name: str, held: Held) -> Held:
    return held
