"""Models that are wrapped for all GPUs, whatever device was asked for: part of DEV405.

Because there are several, or in any case: `DataParallel` of a model on the CPU fails where the machine has a GPU, as
does that of a model on another GPU than the first.
Source: `DataParallel.__init__` and `forward` in torch/nn/parallel/data_parallel.py, "module must have its parameters".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import DeviceName, Module
from devlint.placement.domain.lattice import (
    CPU,
    GuardKind,
    Known,
    guards_of,
    is_device_by_name,
    is_of_parameter,
    leaves,
)
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, Moved
    from devlint.placement.domain.lattice import Decided, Device

_WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "encoding.parallel.DataParallelModel")
"""The last is PyTorch-Encoding's, which derives from the first and takes its arguments."""


@dataclass(slots=True)
class WrappedForAll:
    """What functions wrap, and the devices that their callers ask for."""

    _asked: dict[str, tuple[str, cst.CSTNode]] = field(default_factory=dict)
    """By definition: a device that its caller chooses, in the source's words, and where it shows."""
    _wrapped: list[Called] = field(default_factory=list)
    _wrapped_always: list[Called] = field(default_factory=list)
    _on_cpu: dict[str, tuple[str, cst.CSTNode]] = field(default_factory=dict)
    """By definition: what its wrapped model goes to that an option makes the CPU, and where."""
    _on_told: dict[int, str] = field(default_factory=dict)
    """By call: the argument that says where the wrapped model is, in any case."""
    _arguments: dict[str, frozenset[str]] = field(default_factory=dict)
    """By definition: the names of its arguments."""
    _defaults: dict[str, frozenset[str]] = field(default_factory=dict)
    """By definition: the arguments that are true where its caller says nothing."""

    def begun(self, event: Begun) -> None:
        self._defaults[event.scope.qualname] = _true_by_default(event.node)
        self._arguments[event.scope.qualname] = frozenset(name for name, _ in event.arguments)
        for name, value in event.arguments:
            if isinstance(value, DeviceName) and not value.is_type:
                self._asked.setdefault(event.scope.qualname, (name, event.node))

    def moved(self, event: Moved) -> None:
        named = event.named
        wrapper = isinstance(event.receiver, Module) and event.receiver.type_name in _WRAPPERS
        if wrapper and event.method == "to" and named is not None:
            one_arm = event.target == CPU and any(_speaks(arm.guard.text) for arm in event.arms)
            if one_arm or _is_chosen(event.target):
                self._on_cpu.setdefault(event.scope.qualname, (code_of(named.node), event.node))
        chosen = named is not None and isinstance(named.value, DeviceName)
        if chosen and named is not None and not any(isinstance(leaf, Known) for leaf in leaves(event.target)):
            self._asked.setdefault(event.scope.qualname, (code_of(named.node), event.node))

    def called(self, event: Called) -> None:
        if not wraps(event) or event.call.argument("device_ids", 1) is not None:
            return
        counted = _counts_alone(event.arms)
        if counted:
            self._wrapped.append(event)
        elif self._in_any_case(event):
            self._wrapped_always.append(event)
        else:
            return
        given = event.call.argument("module", 0)
        if given is not None and not counted and isinstance(given.value, Module):
            told = _argument_of(given.value.device)
            if told and all(arm.guard.text in self._taken_for_granted(event) for arm in event.arms):
                self._on_told[id(event.node)] = told
        if given is not None and isinstance(given.value, Module) and _is_chosen(given.value.device):
            self._on_cpu.setdefault(event.scope.qualname, (code_of(given.node), given.node))

    def _in_any_case(self, event: Called) -> bool:
        granted = self._taken_for_granted(event)
        return not any(_speaks(arm.guard.text) and arm.guard.text not in granted for arm in event.arms)

    def _taken_for_granted(self, event: Called) -> frozenset[str]:
        return self._defaults.get(event.scope.qualname, frozenset())

    def finish(self) -> Iterator[Draft]:
        for event in self._wrapped_always:
            on_cpu = self._on_cpu.get(event.scope.qualname)
            if on_cpu is not None:
                yield _draft_of_any(event, *on_cpu)
            elif (told := self._on_told.get(id(event.node))) and told in self._arguments.get(event.scope.qualname, ()):
                yield _draft_of_told(event, told)
        for event in self._wrapped:
            asked = self._asked.get(event.scope.qualname)
            if asked is None:
                on_cpu = self._on_cpu.get(event.scope.qualname)
                if on_cpu is not None:
                    yield _draft_of_any(event, *on_cpu)
                continue
            name, node = asked
            yield _draft(
                event,
                f"several GPUs in the machine are enough to wrap the model for all, whatever `{name}` says: "
                "`DataParallel` wants it on the first one, and calling it fails where it is on the CPU or on another",
                f"wrap it only where `{name}` has no index",
                DraftStep(node, event.scope, f"`{name}` is asked for here"),
            )


def _draft_of_any(event: Called, name: str, node: cst.CSTNode) -> Draft:
    return _draft(
        event,
        "`DataParallel` wants the model on the first GPU wherever there is one; calling it fails where the CPU was "
        "chosen on such a machine",
        "wrap it only where the GPU was chosen",
        DraftStep(node, event.scope, f"`{name}` may be the CPU here" if name else "on the CPU here"),
    )


def _draft_of_told(event: Called, told: str) -> Draft:
    return _draft(
        event,
        f"`DataParallel` wants the model on the first GPU wherever there is one, but it is on `{told}`; calling it "
        "fails where that is another GPU, or the CPU",
        f"give it the GPUs to use, `device_ids=[{told}]`, where there are any",
    )


def _draft(event: Called, message: str, repair: str, *trace: DraftStep) -> Draft:
    in_tests = event.scope.role in (Role.TEST, Role.BENCHMARK)
    return Draft(
        node=event.node,
        scope=event.scope,
        severity=Severity.WARNING,
        message=message,
        confidence=Confidence.LOW if in_tests else Confidence.MEDIUM,
        trace=trace,
        repair=Repair(Applicability.SUGGESTION, repair),
    )


def _argument_of(device: Device) -> str:
    """The argument that names a device; empty for one that is known or says nothing."""
    return device.symbol.name if is_of_parameter(device) and is_device_by_name(device) else ""


def _true_by_default(node: cst.CSTNode) -> frozenset[str]:
    import libcst as cst

    params = (*node.params.params, *node.params.kwonly_params) if isinstance(node, cst.FunctionDef) else ()
    return frozenset(one.name.value for one in params if one.default is not None and code_of(one.default) == "True")


def _is_chosen(device: Device) -> bool:
    """Whether an option decides between the CPU and an accelerator: what the machine has is taken for granted."""
    known = [leaf for leaf in leaves(device) if isinstance(leaf, Known)]
    by_option = all(guard.kind is not GuardKind.FIRST_ITERATION for guard in guards_of(device))
    return CPU in known and known != [CPU] * len(known) and by_option


def wraps(event: Called) -> bool:
    """Whether it wraps: a `DataParallel`, or a class of the project that is one and takes its arguments."""
    if event.name in _WRAPPERS:
        return True
    made = event.result.info if isinstance(event.result, Module) else None
    if made is None or made.name != event.name.rpartition(".")[2]:
        return False
    return made.method("__init__") is None and any(base in _WRAPPERS for one in made.order for base in one.bases)


def _counts_alone(arms: tuple[Decided, ...]) -> bool:
    """Whether the number of GPUs decides, and nothing else that speaks of a device."""
    counting = [arm for arm in arms if "device_count()" in arm.guard.text]
    others = [arm for arm in arms if arm not in counting]
    plain = all(arm.guard.text.replace("torch.cuda.device_count()", "").strip(" ()><=01") == "" for arm in counting)
    return bool(counting) and plain and not any(_speaks(arm.guard.text) for arm in others)


def _speaks(text: str) -> bool:
    return any(word in text.lower() for word in ("device", "cuda", "gpu", "parallel"))
