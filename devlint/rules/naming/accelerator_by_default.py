"""Device parameters of a Module's methods that are CUDA by default: part of DEV302.

Where the module is, its parameters say. Whoever leaves the device out gets tensors on CUDA that meet them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Module, Opaque, Self, Tensor
from devlint.placement.domain.lattice import Anchor, SameAs
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.naming.device_candidates import candidates_of, is_known_module
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import Begun, Called, Moved, UndecidedMismatch
    from devlint.placement.domain.scope import Scope

_CUDA = ('"cuda"', 'torch.device("cuda")')


class _Default(NamedTuple):
    parameter: str
    node: cst.CSTNode


@dataclass(slots=True)
class AcceleratorByDefault:
    """The methods of Modules in one file that put things on CUDA if they are told nothing."""

    _defaults: dict[Scope, _Default] = field(default_factory=dict)
    _met: dict[Scope, cst.CSTNode] = field(default_factory=dict)
    """By method: where what is on that device meets the module's own."""
    _placing: set[str | None] = field(default_factory=set)
    """Classes that bring themselves or their parts to where they are told."""

    def begun(self, event: Begun) -> None:
        import libcst as cst

        scope, owner = event.scope, event.owner
        in_use = scope.setting in (Setting.FORWARD, Setting.METHOD) and scope.role is not Role.TEST
        if not in_use or owner is None or not is_known_module(owner) or is_named_for_accelerator(scope.qualname):
            return
        defaults = list(_cuda_by_default(event.node)) if isinstance(event.node, cst.FunctionDef) else []
        if defaults and any(candidate.name == "self" for candidate in candidates_of(event, ())):
            self._defaults[scope] = defaults[-1]

    def moved(self, event: Moved) -> None:
        """`self.net.to(device)`: the method brings the module to where it is told."""
        if isinstance(event.receiver, (Module, Self)) and event.receiver_text.startswith("self"):
            self._placing.add(event.scope.class_name)

    def called(self, event: Called) -> None:
        own = isinstance(event.receiver, (Module, Self))
        if own and event.name in (".to", ".cuda"):
            self._placing.add(event.scope.class_name)
        if _is_of_a_part(event) and any(
            self._is_there(event.scope, argument.value) for argument in event.call.arguments
        ):
            self._met.setdefault(event.scope, event.node)

    def undecided_mismatch(self, event: UndecidedMismatch) -> None:
        if any(self._is_there(event.scope, operand.value) for operand in event.operands):
            self._met.setdefault(event.scope, event.node)

    def _is_there(self, scope: Scope, value: Value) -> bool:
        default = self._defaults.get(scope)
        device = value.device if isinstance(value, (Tensor, Opaque)) else None
        if default is None or not isinstance(device, SameAs):
            return False
        return device.symbol.anchor is Anchor.PARAMETER and device.symbol.name == default.parameter

    def drafts(self) -> list[Draft]:
        return [
            Draft(
                node=self._defaults[scope].node,
                scope=scope,
                message=f"`{self._defaults[scope].parameter}` is CUDA for whoever leaves it out, and what is put there "
                "meets the module's own parameters, wherever those are",
                confidence=Confidence.MEDIUM,
                trace=(DraftStep(node, scope, "they meet here"),),
                repair=Repair(Applicability.SUGGESTION, "ask the parameters where no device is given"),
            )
            for scope, node in self._met.items()
            if scope.class_name not in self._placing
        ]


def takes_cuda_by_default(event: Begun) -> bool:
    """Whether it has a parameter for a device that is CUDA where none is given."""
    import libcst as cst

    named = any(name.endswith("device") for name, _ in event.arguments)
    return named and isinstance(event.node, cst.FunctionDef) and any(_cuda_by_default(event.node))


def _cuda_by_default(node: cst.FunctionDef) -> Iterator[_Default]:
    for one in (*node.params.params, *node.params.kwonly_params):
        name = one.name.value
        if name.endswith("device") and one.default is not None and code_of(one.default).replace("'", '"') in _CUDA:
            yield _Default(name, one.default)


_WITHOUT_PARAMETERS = re.compile("loss|criterion|metric|transform|process|token|sched|sampler|augment|log|callback")


def _is_of_a_part(event: Called) -> bool:
    """`self.encoder(x)`: what is called is no method, but kept by the module."""
    name = event.name.removeprefix(".")
    if not isinstance(event.receiver, Self) or event.receiver.is_super or _WITHOUT_PARAMETERS.search(name.lower()):
        return False
    return event.receiver.info.method(name) is None
