"""How a definition deals with a machine without an accelerator: it leaves, or it catches what is raised there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.draft import Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability
from devlint.placement.syntax.device_words import speaks_of_devices
from devlint.semantics import probe_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    import libcst as cst

    from devlint.placement.domain.events import Begun
    from devlint.placement.domain.lattice import Decided


_LEAVE = frozenset({"exit", "_exit", "skip", "skipTest", "quit"})
"""Functions that do not return."""


def speak_of_devices(arms: Iterable[Decided]) -> bool:
    """Whether a condition that speaks of devices decides what these arms lead to."""
    return any(speaks_of_devices(decided.guard.text) for decided in arms)


def asking(kind: str) -> Repair:
    """For a call under half of the test that stands elsewhere; ``kind``: what it raises without, ``CUDA``."""
    return Repair(Applicability.SUGGESTION, f"ask `{probe_for(kind)}()` here as well")


def untried(definition: cst.CSTNode) -> frozenset[int]:
    """The nodes of a definition, by identity, that stand outside the body of a `try` that catches something."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    nodes = list(descend(definition))
    tries = (node for node in nodes if isinstance(node, cst.Try) and node.handlers)
    tried = {id(node) for one in tries for node in descend(one.body)}
    return frozenset(map(id, nodes)) - tried


def leaves_without(definition: cst.CSTNode) -> bool:
    """Whether it asserts something about devices, or a test for them decides that it raises, returns or exits."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    for node in descend(definition):
        if isinstance(node, cst.Assert) and speaks_of_devices(code_of(node.test)):
            return True
        if isinstance(node, cst.If) and speaks_of_devices(code_of(node.test)):
            arms = (node.body, *((node.orelse.body,) if isinstance(node.orelse, cst.Else) else ()))
            if any(_is_way_out(inner) for arm in arms for inner in descend(arm)):
                return True
    return False


def is_skipped_without(begun: Begun) -> bool:
    """Whether a test, or the class it is in, is marked for machines with an accelerator: ``@requires_cuda``."""
    import libcst as cst

    nodes = (begun.node, begun.owner.node if begun.owner is not None else None)
    marks = (mark for node in nodes if isinstance(node, (cst.FunctionDef, cst.ClassDef)) for mark in node.decorators)
    return any(speaks_of_devices(code_of(mark.decorator)) for mark in marks)


def _is_way_out(node: cst.CSTNode) -> bool:
    import libcst as cst

    if isinstance(node, (cst.Raise, cst.Return)):
        return True
    return isinstance(node, cst.Call) and code_of(node.func).rpartition(".")[2] in _LEAVE
