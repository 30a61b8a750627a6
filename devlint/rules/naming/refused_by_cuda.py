"""`.cuda(device)`, `torch.cuda.set_device(device)` where the device may be the CPU, which they refuse: part of DEV302.

Sources: `THPVariable_cuda` in tools/autograd/templates/python_variable_methods.cpp, "Invalid device, must be cuda
device"; `Module.cuda` calls it for each tensor. `_get_device_index` in torch/cuda/_utils.py, "Expected a cuda device".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.changes import TransferTo
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import DeviceName, Instance, Opaque, Self
from devlint.placement.domain.device_names import names_the_cpu
from devlint.placement.domain.lattice import CPU, Anchor, Known, SameAs, may_be_cpu
from devlint.semantics import process_setting
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Argument, Value
    from devlint.placement.domain.events import Begun, Called, Moved, Stored
    from devlint.placement.domain.scope import Scope

Kept = tuple[str, str]
"""A class or a definition, and what it keeps a device under, in the source's words."""


class _Told(NamedTuple):
    """A call that takes CUDA devices alone, and what it is told."""

    event: Moved | Called
    what: str
    named: Argument
    consequence: str
    repair: Repair


@dataclass(slots=True)
class RefusedByCuda:
    """The calls of `.cuda(device)` in one file, and what is the CPU on a machine without an accelerator."""

    _definitions: dict[Scope, cst.CSTNode] = field(default_factory=dict)
    _on_cpu: dict[Kept, tuple[cst.CSTNode, Scope]] = field(default_factory=dict)
    """Where it is set to the CPU."""
    _calls: list[_Told] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        self._definitions[event.scope] = event.node

    def stored(self, event: Stored) -> None:
        if names_the_cpu(event.value):
            self._on_cpu.setdefault(_kept(event.scope, event.target), (event.node, event.scope))

    def moved(self, event: Moved) -> None:
        own = isinstance(event.receiver, (Instance, Self))
        if event.method == "cuda" and event.named is not None and not (event.guarded or own):
            spelled = code_of(event.named.node)
            repair = Repair(Applicability.UNSAFE, f"write `.to({spelled})`", (TransferTo(event.call.node, spelled),))
            self._calls.append(_Told(event, "`.cuda(...)`", event.named, "`.to(...)` takes it as well", repair))

    def called(self, event: Called) -> None:
        setting = process_setting(event.name) if event.name.startswith("torch.cuda.") else None
        told = event.call.argument(setting[1], 0) if setting is not None else None
        if told is not None and not (event.guarded or event.on_cpu):
            repair = Repair(Applicability.SUGGESTION, f'ask for `{code_of(told.node)}.type == "cuda"` before')
            self._calls.append(_Told(event, f"`{event.name}`", told, "it raises", repair))

    def drafts(self) -> list[Draft]:
        return [draft for event in self._calls if (draft := self._draft_of(event)) is not None]

    def _draft_of(self, told: _Told) -> Draft | None:
        event, named = told.event, told.named
        spelled = code_of(named.node)
        way: tuple[DraftStep, ...] = ()
        set_to_cpu = self._on_cpu.get(_kept(event.scope, spelled))
        if _falls_back(named.value):
            when = "where there is no accelerator"
        elif set_to_cpu is not None and not _is_known(named.value) and self._is_in_an_arm(*set_to_cpu):
            when, way = "in one arm", (DraftStep(*set_to_cpu, "set here", "cpu"),)
        elif self._is_default(named.value, spelled, event.scope):
            when = "by default"
        else:
            return None
        name = quoted(named.node, "its device")
        return Draft(
            node=event.node,
            scope=event.scope,
            message=f"{told.what} refuses the CPU, which {name} is {when}; {told.consequence}",
            confidence=Confidence.LOW if event.scope.role in (Role.TEST, Role.BENCHMARK) else Confidence.MEDIUM,
            trace=(*way, DraftStep(event.node, event.scope, "raises here where it is the CPU")),
            repair=told.repair,
        )

    def _is_in_an_arm(self, store: cst.CSTNode, scope: Scope) -> bool:
        import libcst as cst

        from devlint.placement.syntax.nodes import descend

        definition = self._definitions.get(scope)
        branches = (node for node in descend(definition) if isinstance(node, cst.If)) if definition is not None else ()
        return any(node is store for branch in branches for node in descend(branch))

    def _is_default(self, value: Value, name: str, scope: Scope) -> bool:
        """Whether the value is an argument that is the CPU for whoever gives none."""
        import libcst as cst

        function = self._definitions.get(scope)
        if not isinstance(function, cst.FunctionDef) or not isinstance(value, DeviceName):
            return False
        if not isinstance(value.device, SameAs) or value.device.symbol.anchor is not Anchor.PARAMETER:
            return False
        parameters = (*function.params.params, *function.params.kwonly_params)
        default = next((one.default for one in parameters if one.name.value == name), None)
        return default is not None and code_of(default).replace("'", '"') in _ON_CPU


_ON_CPU = ('"cpu"', 'torch.device("cpu")')


def _kept(scope: Scope, target: str) -> Kept:
    """An attribute of `self` is kept for the whole class."""
    own = target.startswith("self.") and scope.class_name is not None
    return (scope.class_name or "" if own else scope.qualname), target


def _falls_back(value: Value) -> bool:
    """Whether a test of what the machine has chose it, or it is the CPU in some arm."""
    if not isinstance(value, DeviceName):
        return False
    return value.chosen_by_probe or (may_be_cpu(value.device) and value.device != CPU)


def _is_known(value: Value) -> bool:
    return isinstance(value, (DeviceName, Opaque)) and isinstance(value.device, Known)
