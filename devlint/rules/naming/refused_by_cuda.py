"""`.cuda(device)`, `torch.cuda.set_device(device)` where the device may be the CPU, which they refuse: part of DEV302.

Sources: `THPVariable_cuda` in tools/autograd/templates/python_variable_methods.cpp, "Invalid device, must be cuda
device"; `Module.cuda` calls it for each tensor. `_get_device_index` in torch/cuda/_utils.py, "Expected a cuda device".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from devlint.drafts.changes import TransferTo
from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Constant, DeviceName, Host, Instance, Module, Opaque, Self, Tensor
from devlint.placement.domain.device_names import names_the_cpu
from devlint.placement.domain.events import Moved
from devlint.placement.domain.lattice import CPU, Anchor, Known, SameAs, may_be_cpu
from devlint.placement.syntax.device_words import is_named_for_accelerator, speaks_of_devices
from devlint.placement.syntax.nodes import dotted
from devlint.rules.naming.noted_places import HARMLESS
from devlint.semantics import process_setting
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Argument, Value
    from devlint.placement.domain.events import Begun, Called, Created, Stored
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
    _taken: dict[Kept, tuple[cst.CSTNode, Scope]] = field(default_factory=dict)
    """Where it is given to what takes any device: `.to(device)`, `torch.zeros(n, device=device)`."""
    _for_cuda: set[Scope] = field(default_factory=set)
    """Definitions that cannot do without it: they call `torch.cuda`."""
    _models: set[Kept] = field(default_factory=set)
    """Devices that whole modules are brought to by `.cuda(device)`: everything is meant to be on an accelerator."""

    def begun(self, event: Begun) -> None:
        self._definitions[event.scope] = event.node

    def stored(self, event: Stored) -> None:
        if names_the_cpu(event.value):
            self._on_cpu.setdefault(_kept(event.scope, event.target), (event.node, event.scope))

    def created(self, event: Created) -> None:
        if event.named is not None:
            self._take(event.scope, event.named)

    def moved(self, event: Moved) -> None:
        if event.method == "to" and event.named is not None:
            self._take(event.scope, event.named)
        own = isinstance(event.receiver, (Instance, Self))
        if event.method == "cuda" and event.named is not None and not (_is_asked(event) or own):
            spelled = code_of(event.named.node)
            if isinstance(event.receiver, Module):
                self._models.add(_kept(event.scope, spelled))
            repair = Repair(Applicability.UNSAFE, f"write `.to({spelled})`", (TransferTo(event.call.node, spelled),))
            self._calls.append(_Told(event, "`.cuda(...)`", event.named, "`.to(...)` takes it as well", repair))

    def _take(self, scope: Scope, named: Argument) -> None:
        self._taken.setdefault(_kept(scope, code_of(named.node)), (named.node, scope))

    def called(self, event: Called) -> None:
        if event.name.startswith("torch.cuda.") and not (event.guarded or event.name.startswith(_WITHOUT_CUDA)):
            self._for_cuda.add(event.scope)
        for argument in event.call.arguments:
            if argument.keyword == "device" and not event.name.startswith("torch.cuda."):
                self._take(event.scope, argument)
        setting = process_setting(event.name) if refuses_the_cpu(event.name) else None
        told = event.call.argument(setting[1], 0) if setting is not None else None
        if told is not None and not (_is_asked(event) or event.on_cpu):
            repair = Repair(Applicability.SUGGESTION, f'ask for `{code_of(told.node)}.type == "cuda"` before')
            self._calls.append(_Told(event, f"`{event.name}`", told, "it raises", repair))

    def drafts(self) -> list[Draft]:
        return [draft for event in self._calls if (draft := self._draft_of(event)) is not None]

    def _draft_of(self, told: _Told) -> Draft | None:
        event, named = told.event, told.named
        spelled = code_of(named.node)
        way: tuple[DraftStep, ...] = ()
        # What the code itself sets to the CPU is there, whatever else the package does.
        premise: Premise | None = None
        set_to_cpu = self._on_cpu.get(_kept(event.scope, spelled))
        if falls_back(named.value):
            when = "where there is no accelerator"
        elif set_to_cpu is not None and not _is_known(named.value) and self._is_in_an_arm(*set_to_cpu):
            when, way = "in one arm", (DraftStep(*set_to_cpu, "set here", "cpu"),)
        elif self._is_default(named.value, spelled, event.scope):
            when, premise = "by default", Premise.CALLERS_CHOOSE
        elif not isinstance(event, Moved) or event.scope in self._for_cuda or _is_for_accelerators(event):
            return None
        elif _is_of_value(named.value):
            when, premise = "where the caller works on the CPU", Premise.CALLERS_CHOOSE
        elif (taken := self._taken_elsewhere(event.scope, named)) is not None:
            premise = Premise.CALLERS_CHOOSE
            when, way = "if the caller says so", (DraftStep(*taken, "given here to what takes any device"),)
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
            premise=premise,
        )

    def _taken_elsewhere(self, scope: Scope, named: Argument) -> tuple[cst.CSTNode, Scope] | None:
        """Where it is given to what takes the CPU too, if somebody else decides what it is."""
        spelled = _BUILT.sub(r"\1", code_of(named.node))
        # An index may be kept under any name; what is called a device is taken for one.
        is_device = spelled.rpartition(".")[2].lower().endswith("device")
        if _kept(scope, spelled) in self._models:
            return None
        if not is_device or _is_known(named.value) or isinstance(named.value, (Host, Constant)):
            return None
        return self._taken.get(_kept(scope, spelled))

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
        return name in on_cpu_by_default(function)


def on_cpu_by_default(function: cst.FunctionDef | cst.Lambda) -> frozenset[str]:
    """The parameters that are the CPU for whoever gives none: ``device="cpu"``."""
    parameters = (*function.params.params, *function.params.kwonly_params)
    given = ((one.name.value, one.default) for one in parameters if one.default is not None)
    return frozenset(name for name, default in given if code_of(default).replace("'", '"') in _ON_CPU)


_WITHOUT_CUDA = (*HARMLESS, "torch.cuda.is_available", "torch.cuda.device_count")
"""Calls that do nothing where there is no CUDA."""

_OF_OPTIONS = re.compile(r"(?:args|opts?|options|cfg|config|hparams|flags|FLAGS|params)\.")

_BUILT = re.compile(r"^torch\.device\((.*)\)$")
_ON_CPU = ('"cpu"', 'torch.device("cpu")')


_WITHOUT = re.compile(r"(?<!not )\b(?:\w+\.)*(?:no_cuda|no_gpu|cpu_only)\b")


def _is_asked(event: Moved | Called) -> bool:
    """Whether a condition keeps it from machines without an accelerator: `if rank == -1 or args.no_cuda:` does not."""
    speaking = [one for one in event.arms if speaks_of_devices(one.guard.text)]
    without = bool(speaking) and all(one.holds and _WITHOUT.search(one.guard.text) for one in speaking)
    return event.guarded and not without


def refuses_the_cpu(name: str) -> bool:
    """Whether it is a function that takes CUDA devices alone: ``torch.cuda.set_device``."""
    return name.startswith("torch.cuda.") and process_setting(name) is not None


def _kept(scope: Scope, target: str) -> Kept:
    """An attribute of `self` is kept for the whole class, one of the program's options for the file."""
    own = target.startswith("self.") and scope.class_name is not None
    if _OF_OPTIONS.match(target):
        return "", target
    return (scope.class_name or "" if own else scope.qualname), target


def falls_back(value: Value) -> bool:
    """Whether a test of what the machine has chose it, or it is the CPU in some arm.

    Where there is none, it is None as often as not, and nobody sets that (fixture `set_back`).
    """
    if not isinstance(value, DeviceName) or value.or_none:
        return False
    return value.chosen_by_probe or (may_be_cpu(value.device) and value.device != CPU)


def _is_for_accelerators(event: Moved) -> bool:
    """A definition that is named for one, and an object of a class that says what it does there, `Params4bit(w)`."""
    import libcst as cst

    made = event.receiver_node.func if isinstance(event.receiver_node, cst.Call) else None
    last = (dotted(made) or "").rpartition(".")[2] if made is not None else ""
    ours = isinstance(event.receiver, (Tensor, Module)) or not last[:1].isupper()
    return is_named_for_accelerator(event.scope.qualname) or not ours


def _is_of_value(value: Value) -> bool:
    """The `.device` of an argument, or that of the module itself: wherever the caller put it."""
    if not isinstance(value, DeviceName) or not isinstance(value.device, SameAs):
        return False
    return value.of_tensor or value.by_convention or value.device.symbol.anchor is Anchor.MODULE


def _is_known(value: Value) -> bool:
    return isinstance(value, (DeviceName, Opaque)) and isinstance(value.device, Known)
