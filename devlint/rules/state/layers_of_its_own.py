"""Layers that a module builds, keeps in a plain container and moves where it uses them: part of DEV502.

They are where they should be, and no optimizer finds them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Container, Module
from devlint.placement.domain.provenance import StepKind

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.class_facts import AttributeFact

_WITHOUT_TRAINING = frozenset(("requires_grad", "requires_grad_", "no_grad", "inference_mode", "eval"))


def freezes(definition: cst.CSTNode) -> bool:
    """Whether it says of something that it is not to be trained."""
    from devlint.placement.syntax.nodes import names_in

    return any(name in _WITHOUT_TRAINING or "freeze" in name or "frozen" in name for name in names_in(definition))


def are_layers_of_its_own(fact: AttributeFact, modules: Collection[Module]) -> bool:
    """Several layers that the constructor builds: one alone may be hidden on purpose.

    Fixture `brought_and_untrained`.
    """
    value = fact.value
    if not isinstance(value, Container) or (value.rest is None and len(value.items) < 2):
        return False
    built = (one.provenance.first for one in modules if one.provenance is not None and one.holds_state)
    return [step.kind for step in built if step.scope == fact.scope].count(StepKind.MADE) == len(modules)
