"""Buffers and parameters that a working module replaces by what it makes on the CPU: after that, a part of it is there.

A parameter counts where the method reads the old one before: it grows or shrinks, and what it held is carried over.

What builds the module as well, ``self._make_mask()``, counts where a method for users does it again.

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
from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.domain.abstract_values import Constant, Kind, Self, Tensor, Value
from devlint.placement.domain.lattice import CPU, GuardKind
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import code_of, descend
from devlint.records import replace
from devlint.rules.creating.empty_results import holds_nothing
from devlint.semantics import Dim

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, HostRead, Stored
    from devlint.placement.domain.provenance import Step


_SAYS_WHETHER_BUILT = re.compile(r"initiali[sz]ed|is_init|inited|is_built|_built\b")
_SAYS_WHETHER_THERE = re.compile(r"\bhasattr\(")
_BEFORE_THE_WORK = re.compile(
    r"_|init|build|load|setup|set_up|prepare|configure|compile|fuse|merge|deploy|reset_param|from_"
)
"""Names of methods that are called, as a rule, before a module is moved."""


@dataclass(slots=True)
class ReplacedBuffers:
    """The buffers and parameters that one file's methods replace."""

    _on_host: set[str] = field(default_factory=set)
    """Methods that read a tensor by numpy which nothing brought to the CPU."""
    _registered: set[tuple[str, str]] = field(default_factory=set)
    """Buffers that constructors register, by class and name."""

    def host_read(self, event: HostRead) -> None:
        if event.wants_cpu and event.value.device != CPU:
            self._on_host.add(event.scope.qualname)

    def stored(self, event: Stored) -> Iterable[Draft]:
        """The draft of DEV101 about what is stored under the name of a buffer or a parameter, if there is one."""
        nothing = event.owner is None or event.scope.qualname in self._on_host
        if nothing or not _is_state(event):
            return ()
        return _drafts(event, event.value, event.owner, event.target)

    def called(self, event: Called) -> Iterable[Draft]:
        """The same of ``self.register_buffer("mask", mask)``, where the module has such a buffer before."""
        if event.name != ".register_buffer" or event.scope.qualname in self._on_host:
            return ()
        name, made = event.call.argument("name", 0), event.call.argument("tensor", 1)
        owner, key = event.receiver, name.value if name is not None else None
        if not isinstance(key, Constant) or made is None or not isinstance(owner, Self):
            return ()
        if event.scope.setting is Setting.CONSTRUCTION:
            self._registered.add((event.scope.class_name or "", str(key.value)))
        if not isinstance(made.value, Tensor) or not self._is_there_before(owner.info, event, str(key.value)):
            return ()
        return _drafts(event, replace(made.value, kind=Kind.BUFFER), owner, f"self.{key.value}")

    def _is_there_before(self, info: ClassInfo, event: Called, name: str) -> bool:
        """Whether the constructor registers a buffer of the name, itself or by the method at hand."""
        if any(arm.guard.kind is GuardKind.IS_NONE or _SAYS_WHETHER_THERE.search(arm.guard.text) for arm in event.arms):
            return False
        method = event.scope.qualname.rpartition(".")[2]
        by_itself = any(method in one.own.mentioned for one in (*info.constructors, *info.construction))
        return by_itself or any((one.qualname, name) in self._registered for one in info.order)


def _drafts(event: Stored | Called, value: Value, owner: Value | None, target: str) -> Iterator[Draft]:
    step = _over_state(event, value, owner)
    confidence = _confidence(event, owner.info) if step is not None and isinstance(owner, Self) else None
    if step is None or confidence is None:
        return
    here = step.scope == event.scope
    kind = "buffer" if isinstance(value, Tensor) and value.kind is Kind.BUFFER else "parameter"
    yield Draft(
        node=step.node if here else event.node,
        scope=event.scope,
        message=f"{quoted(step.node, f'`{step.name}`')} is created on the CPU and replaces the {kind} "
        f"`{target}` while the module works; after that a part of it is on the CPU",
        confidence=confidence,
        severity=Severity.ERROR if confidence is Confidence.HIGH else Severity.WARNING,
        trace=(draft_step(step), DraftStep(event.node, event.scope, f"put in the {kind}'s place here")),
        repair=Repair(Applicability.SUGGESTION, f"create it on the device of the {kind}: `{target}.device`"),
    )


def _over_state(event: Stored | Called, value: Value, owner: Value | None) -> Step | None:
    """The creation of what a method of a working module, or a helper of it, puts in the place of its state."""
    if not isinstance(value, Tensor) or value.device != CPU or value.dim is Dim.ZERO:
        return None
    if not isinstance(owner, Self) or event.scope.setting not in (Setting.FORWARD, Setting.METHOD):
        return None
    info = owner.info
    if not info.is_module or info.defines("_apply", "to", "cuda"):
        return None
    step = bare_creation(value)
    return None if step is None or holds_nothing(value, step) else step


def _is_state(event: Stored) -> bool:
    """Whether a buffer is stored, or a parameter that the method reads before."""
    kind = event.value.kind if isinstance(event.value, Tensor) else None
    return kind is Kind.BUFFER or (kind is Kind.PARAMETER and _carries_over(event))


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


def _confidence(event: Stored | Called, info: ClassInfo) -> Confidence | None:
    """Sure in `forward` and what it calls; likely in what users call, unless the module is built with it."""
    method = event.scope.qualname.rpartition(".")[2]
    forward = info.method("forward")
    if method == "forward" or (forward is not None and method in forward.own.mentioned):
        return Confidence.HIGH
    if any(not arm.holds and _SAYS_WHETHER_BUILT.search(arm.guard.text) for arm in event.arms):
        # `if not self.initialized:`, in what is called once, before the module is moved.
        return None
    if method.startswith("_") or _builds(info, method):
        return Confidence.MEDIUM if _is_done_later(info, method) else None
    return Confidence.MEDIUM


def _builds(info: ClassInfo, method: str) -> bool:
    """Whether the constructor calls it, or `from_config`, which builds the module and then calls the method of it."""
    init = info.method("__init__")
    building = () if init is None else (init, *info.construction)
    makers = (one for cls in info.order for one in cls.methods.values() if one.is_classmethod)
    return any(method in one.own.mentioned for one in building) or any(method in one.names for one in makers)


def _is_done_later(info: ClassInfo, method: str) -> bool:
    """Whether a method for users calls it, whoever else does: `update_resolution` makes a new mask."""
    users = (one for cls in info.order for one in cls.methods.values() if method in one.own.mentioned)
    return any(not _BEFORE_THE_WORK.match(one.name) and not _builds(info, one.name) for one in users)
