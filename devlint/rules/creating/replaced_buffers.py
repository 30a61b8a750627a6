"""Buffers and parameters that a working module replaces by what it makes on the CPU: after that, a part of it is there.

A parameter counts where the method reads the old one before: it grows or shrinks, and what it held is carried over.

A method that hands tensors to numpy as they are can only run where the module is on the CPU: it packs weights, say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import TYPE_CHECKING

import libcst as cst

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step
from devlint.drafts.wording import bare_creation, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Kind, Self, Tensor
from devlint.placement.domain.lattice import CPU, GuardKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import code_of, descend
from devlint.rules.creating.empty_results import holds_nothing
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.domain.events import HostRead, Stored
    from devlint.placement.domain.provenance import Step


_SAYS_WHETHER_BUILT = re.compile(r"initiali[sz]ed|is_init|inited|is_built|_built\b")


@dataclass(slots=True)
class ReplacedBuffers:
    """The buffers and parameters that one file's methods replace."""

    _on_host: set[str] = field(default_factory=set)
    """Methods that read a tensor by numpy which nothing brought to the CPU."""

    def host_read(self, event: HostRead) -> None:
        if event.wants_cpu and event.value.device != CPU:
            self._on_host.add(event.scope.qualname)

    def stored(self, event: Stored) -> Iterable[Draft]:
        """The draft of DEV101 about what is stored under the name of a buffer or a parameter, if there is one."""
        nothing = event.owner is None or event.scope.qualname in self._on_host
        return () if nothing else _drafts(event)


def _drafts(event: Stored) -> Iterator[Draft]:
    step = _over_state(event)
    confidence = _confidence(event) if step is not None else None
    if step is None or confidence is None:
        return
    here = step.scope == event.scope
    kind = "buffer" if isinstance(event.value, Tensor) and event.value.kind is Kind.BUFFER else "parameter"
    yield Draft(
        node=step.node if here else event.node,
        scope=event.scope,
        message=f"{quoted(step.node, f'`{step.name}`')} is created on the CPU and replaces the {kind} "
        f"`{event.target}` while the module works; after that a part of it is on the CPU",
        confidence=confidence,
        severity=Severity.ERROR if confidence is Confidence.HIGH else Severity.WARNING,
        trace=(draft_step(step), DraftStep(event.node, event.scope, f"put in the {kind}'s place here")),
        repair=Repair(Applicability.SUGGESTION, f"create it on the device of the {kind}: `{event.target}.device`"),
    )


def _over_state(event: Stored) -> Step | None:
    """The creation of what a method of a working module, or a helper of it, stores in the place of its state."""
    value, owner = event.value, event.owner
    if not isinstance(value, Tensor) or value.kind not in (Kind.BUFFER, Kind.PARAMETER) or value.device != CPU:
        return None
    if value.dim is Dim.ZERO or (value.kind is Kind.PARAMETER and not _carries_over(event)):
        return None
    if not isinstance(owner, Self) or event.scope.setting not in (Setting.FORWARD, Setting.METHOD):
        return None
    info = owner.info
    if not info.is_module or info.defines("_apply", "to", "cuda"):
        return None
    step = bare_creation(value)
    return None if step is None or holds_nothing(value, step) else step


def _carries_over(event: Stored) -> bool:
    """Whether the method reads the old parameter before it puts the new one there, and nothing in it is moved.

    ``if self.weight is None:`` makes it for the first time.
    """
    name = event.scope.qualname.rpartition(".")[2]
    method = event.owner.info.method(name) if isinstance(event.owner, Self) else None
    if method is None or method.places_itself or any(arm.guard.kind is GuardKind.IS_NONE for arm in event.arms):
        return False
    nodes = list(descend(method.node.body))
    written = {id(target.target) for node in nodes if isinstance(node, cst.Assign) for target in node.targets}
    before = takewhile(lambda node: node is not event.node, nodes)
    new = () if event.value_node is None else descend(event.value_node)
    reads = (node for node in chain(before, new) if isinstance(node, cst.Attribute) and id(node) not in written)
    return any(code_of(node) == event.target for node in reads)


def _confidence(event: Stored) -> Confidence | None:
    """Sure in `forward` and what it calls; likely in what users call, unless the module is built with it."""
    assert isinstance(event.owner, Self)
    info, method = event.owner.info, event.scope.qualname.rpartition(".")[2]
    forward, init = info.method("forward"), info.method("__init__")
    if method == "forward" or (forward is not None and method in forward.own.mentioned):
        return Confidence.HIGH
    builds = init is not None and any(method in one.own.mentioned for one in (init, *info.construction))
    if any(not arm.holds and _SAYS_WHETHER_BUILT.search(arm.guard.text) for arm in event.arms):
        # `if not self.initialized:`, in what is called once, before the module is moved.
        return None
    # `from_config`, which builds the module and then calls the method of it.
    makers = (one for cls in info.order for one in cls.methods.values() if one.is_classmethod)
    builds = builds or any(method in one.names for one in makers)
    return None if method.startswith("_") or builds else Confidence.MEDIUM
