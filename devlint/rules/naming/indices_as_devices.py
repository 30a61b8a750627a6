"""`y.cuda(x.get_device())`, `device=x.get_device()`: -1 where x is on the CPU, which is no device; part of DEV302.

Source: `Device index must not be negative`, torch/csrc/Device.cpp and torch/csrc/utils/python_arg_parser.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.lattice import is_accelerator
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.source.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devlint.placement.domain.events import IndexAsDevice


def index_drafts(event: IndexAsDevice) -> Iterator[Draft]:
    import libcst as cst

    node, scope = event.node, event.scope
    asked = event.name.node
    if event.guarded or is_accelerator(event.name.device) or is_named_for_accelerator(scope.qualname):
        return
    if not isinstance(asked, cst.Call) or not isinstance(asked.func, cst.Attribute):
        return
    tensor = code_of(asked.func.value)
    written_here = node is asked
    repair = Repair(
        Applicability.UNSAFE if written_here else Applicability.SUGGESTION,
        f"take `{tensor}.device`, which is one everywhere",
        (Replace(node, f"{tensor}.device"),) if written_here else (),
    )
    yield Draft(
        node=node,
        scope=scope,
        message=f"`{tensor}.get_device()` is -1 where `{tensor}` is on the CPU, and that is no device: it raises there",
        confidence=Confidence.LOW if scope.role in (Role.TEST, Role.BENCHMARK) else Confidence.MEDIUM,
        trace=(DraftStep(asked, scope, "its number is asked for here"), DraftStep(node, scope, "raises here")),
        repair=repair,
    )
