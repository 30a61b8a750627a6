"""A tensor made on the CPU is sent to other processes by a backend that may carry accelerator tensors only.

## What it does

Finds tensors made without a device that are given to a collective of `torch.distributed` (`all_reduce`, `broadcast`,
`all_gather`, `send` ...), of accelerate (`gather`, `gather_for_metrics`, `reduce`, `pad_across_processes`) or of
Lightning (`self.log(..., sync_dist=True)`), at once or through a function of the same file. It is an error where the
file sets up NCCL and a warning where the backend is not in sight. A tensor that was put on the CPU on purpose is
reported where NCCL is.

The finding stands at the creation.

## Why is this bad

NCCL, the backend of every training run on several GPUs, knows no CPU tensors. The call raises
"No backend type associated with device type cpu", and on the other ranks the job hangs. A run with one process skips
the collective or never fails, so it shows on the cluster first.

## Example

```python
import torch
import torch.distributed as dist


def mean_over_ranks(losses: list[float]) -> float:
    summary = torch.tensor([sum(losses), len(losses)])
    dist.all_reduce(summary)
    return (summary[0] / summary[1]).item()
```

## Use instead

```python
import torch
import torch.distributed as dist


def mean_over_ranks(losses: list[float], device: torch.device) -> float:
    summary = torch.tensor([sum(losses), len(losses)], device=device)
    dist.all_reduce(summary)
    return (summary[0] / summary[1]).item()
```

## When it is right

- The backend carries CPU tensors: `gloo`, `mpi`, "cpu:gloo,cuda:nccl", or none was named, which gives every device one.
- A `group=` is given, and not that of all processes: it may have a backend of its own. The confidence is low, unless
  another tensor of the call is an argument: where that is on an accelerator, no backend takes both.
- The tensor is moved before, also under a condition such as `dist.get_backend() == "nccl"`.
- A branch for the CPU.

## Fix safety

A suggestion: any device of the process will do, that of a `device` or a tensor among the function's arguments. Where
there is none, or the tensor was put on the CPU on purpose, there is no edit. What the collective gives back is on that
device as well.

## How a run confirms it

The collective raises in a run with NCCL. Simulated devices have no backend: there the tensor born at this place reaches
the collective on the CPU while other tensors are on the accelerator.

## Known problems

A backend that is named in another file is not seen. Helpers of other files are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import bare_creation, code_of, device_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import Constant, Container, Instance, Reference, Self, Tensor
from devlint.placement.domain.lattice import CPU, GuardKind, SameAs, guards_of, is_of_parameter, leaves
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.records import dataclass
from devlint.repairs.device_expressions import Definitions, DeviceExpression, repair_creation
from devlint.rules.rule import Rule
from devlint.semantics.collective import DEFAULT_GROUPS, Collective, carries_cpu_tensors, collective
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Argument, Value
    from devlint.placement.domain.events import Begun, Called, Stored

ACCELERATOR = "accelerate.Accelerator"
LIGHTNING = "lightning.LightningModule"
_SETS_BACKEND = ("torch.distributed.init_process_group", "torch.distributed.new_group")


@dataclass(frozen=True, slots=True, eq=False)
class _Sent:
    """A CPU tensor on its way to a collective: the call that sends it, and the one in it where that is a helper's."""

    step: Step
    call: Called
    inner: Called
    grouped: bool
    beside: str = ""
    """What a caller placed that is another tensor of the call, in the source's words."""


class CpuTensorInCollective(Rule):
    code = "DEV406"
    name = "cpu-tensor-in-collective"
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._backends: list[str | None] = []
        """Those the file sets up; None where no name is given. What cannot be read is left out."""
        self._sent: list[_Sent] = []
        self._calls: list[Called] = []
        """Of functions by name with a CPU tensor in them: the function may be a helper."""
        self._positions: dict[str, dict[str, int]] = {}
        """By definition: the keys of its parameters' symbols and their positions."""
        self._definitions = Definitions()
        self._helpers: dict[str, list[tuple[int, str, Called, bool]]] = {}
        """By definition: which of its parameters it sends."""

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return _may_be_collective(name) is not None

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._definitions.note_stored(event)
        return ()

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions.note(event)
        keys = {}
        for position, (name, value) in enumerate(event.arguments):
            device = device_of(value)
            if is_of_parameter(device):
                keys[f"{device.symbol.key}:{name}"] = position
        self._positions[event.scope.qualname] = keys
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        if event.name in _SETS_BACKEND:
            self._note_backend(event)
        if event.on_cpu or _chosen_by_backend(event):
            return ()
        found = _collective(event)
        if found is not None:
            self._note_sent(event, found)
        elif not event.name.startswith("torch.") and any(_on_cpu(a.value) for a in event.call.arguments):
            self._calls.append(event)
        return ()

    def _note_backend(self, event: Called) -> None:
        backend = event.call.argument("backend", 0 if event.name.endswith("init_process_group") else 2)
        if backend is None or (isinstance(backend.value, Constant) and backend.value.value is None):
            if event.name.endswith("init_process_group"):
                self._backends.append(None)
        elif isinstance(backend.value, Constant) and isinstance(backend.value.value, str):
            self._backends.append(backend.value.value)

    def _note_sent(self, event: Called, found: Collective) -> None:
        group = event.call.argument("group", found.group)
        grouped = group is not None and not _is_default_group(group.value)
        keys = self._positions.get(event.scope.qualname, {})
        arguments = tuple(_tensors(event, found))
        for_cpu = group is not None and any(word in code_of(group.node).lower() for word in ("cpu", "gloo"))
        placed = (code_of(argument.node) for argument in arguments if _is_of_caller(argument.value))
        given_too = next(placed, "") if not for_cpu else ""
        for argument in arguments:
            for value in _parts(argument.value):
                step = _on_cpu(value)
                if step is not None:
                    self._sent.append(_Sent(step, event, event, grouped, given_too))
                device = device_of(value)
                if isinstance(value, Tensor) and isinstance(device, SameAs):
                    given = provenance_of(value)
                    name = given.first.name if given is not None and given.first.kind is StepKind.GIVEN else ""
                    position = keys.get(f"{device.symbol.key}:{name}")
                    if position is not None:
                        helper = self._helpers.setdefault(event.scope.qualname, [])
                        helper.append((position, name, event, grouped))

    def finish(self) -> Iterable[Draft]:
        if self._backends and all(carries_cpu_tensors(backend) for backend in self._backends):
            return
        certain = bool(self._backends) and not any(carries_cpu_tensors(backend) for backend in self._backends)
        for sent in (*self._sent, *self._through_helpers()):
            if not sent.step.bare and not certain:
                # Who put it on the CPU on purpose knows a backend that carries it (fixture `carried`).
                continue
            confidence = _confidence(sent, certain)
            yield Draft(
                node=sent.step.node,
                scope=sent.step.scope,
                severity=Severity.ERROR if certain and confidence is Confidence.HIGH else None,
                message=_message(sent, certain),
                confidence=confidence,
                trace=_trace(sent),
                repair=self._repair(sent.step),
            )

    def _repair(self, step: Step) -> Repair:
        """``device=`` of a device or a tensor that the function is handed."""
        expression = self._definitions.device(step.scope, step.node) or self._definitions.first_tensor(
            step.scope, step.node
        )
        if step.kind is StepKind.MADE and expression is not None:
            return repair_creation(step, DeviceExpression(expression.code, Applicability.SUGGESTION))
        return Repair(Applicability.SUGGESTION, _repair(step))

    def _through_helpers(self) -> Iterator[_Sent]:
        for call in self._calls:
            for position, name, inner, grouped in self._helpers.get(call.name, ()):
                argument = call.call.argument(name, position)
                step = _on_cpu(argument.value) if argument is not None else None
                if step is not None:
                    yield _Sent(step, call, inner, grouped)


def _collective(event: Called) -> Collective | None:
    found = _may_be_collective(event.name)
    if not event.name.startswith("."):
        return found
    receiver = event.receiver
    if found is not None and found.asked_by:
        of_lightning = isinstance(receiver, Self) and receiver.info.kind is ClassKind.LIGHTNING
        return found if of_lightning and _is_asked(event, found.asked_by) else None
    known = isinstance(receiver, Instance) and receiver.type_name == ACCELERATOR
    return found if found is not None and (known or _is_named_accelerator(event)) else None


def _may_be_collective(name: str) -> Collective | None:
    """What a name stands for; of a method only if its object is an ``Accelerator`` or a ``LightningModule``."""
    if name.startswith("."):
        return collective(ACCELERATOR + name) or collective(LIGHTNING + name)
    return collective(name)


def _is_asked(event: Called, keyword: str) -> bool:
    """``self.log("loss", loss, sync_dist=True)``: otherwise each process keeps its own."""
    given = event.call.keyword(keyword)
    return given is not None and not (isinstance(given.value, Constant) and given.value.value is False)


def _is_named_accelerator(event: Called) -> bool:
    """`self.accelerator.gather(...)`: `gather` alone is a tensor's method too."""
    import libcst as cst

    function = event.call.node.func
    return isinstance(function, cst.Attribute) and code_of(function.value).rsplit(".", 1)[-1] == "accelerator"


def _is_default_group(group: Value) -> bool:
    """`group=None`, `group=dist.group.WORLD`: the processes that the backend was set up for."""
    if isinstance(group, Reference):
        return group.name in DEFAULT_GROUPS
    return isinstance(group, Constant) and group.value is None


def _tensors(event: Called, found: Collective) -> Iterator[Argument]:
    for name, position in found.tensors:
        argument = event.call.argument(name, position)
        if argument is not None:
            yield argument


def _parts(value: Value) -> tuple[Value, ...]:
    if not isinstance(value, Container):
        return (value,)
    return value.items if value.rest is None else (*value.items, value.rest)


def _is_of_caller(value: Value) -> bool:
    """Whether it is an argument that is a tensor, where the caller placed it."""
    device = device_of(value) if isinstance(value, Tensor) else None
    return is_of_parameter(device)


def _on_cpu(value: Value) -> Step | None:
    """Where a tensor was made or put that is on the CPU, for certain or in one arm beside the caller's in the other."""
    if not isinstance(value, Tensor) or value.provenance is None or CPU not in leaves(value.device):
        return None
    step = bare_creation(value)
    if value.device != CPU:
        others = (leaf for leaf in leaves(value.device) if leaf != CPU)
        by_device = any(guard.kind is GuardKind.ON_ACCELERATOR for guard in guards_of(value.device))
        if by_device or not all(isinstance(leaf, SameAs) for leaf in others):
            return None
        return None if value.provenance.find(StepKind.STORED) is not None else step
    # Read from an attribute, it may have been replaced since.
    return step if step is not None and value.provenance.find(StepKind.STORED) is None else _placed(value)


def _placed(value: Tensor) -> Step | None:
    """The creation with `device="cpu"`, or the move to the CPU."""
    for step in provenance_of(value) or ():
        if step.kind is StepKind.STORED:
            return None
        if step.kind in (StepKind.MOVED, StepKind.MADE):
            return step
    return None


def _chosen_by_backend(event: Called) -> bool:
    """`if backend == "gloo":` is a branch for tensors on the CPU."""
    if not event.arms:
        return False
    texts = [d.guard.text.lower() for d in event.arms if d.holds]
    return any("gloo" in text or "cpu" in text for text in texts)


def _confidence(sent: _Sent, certain: bool) -> Confidence:
    unknown_backend = sent.grouped and not sent.beside
    if unknown_backend or sent.step.scope.role is Role.TEST or sent.call.scope.setting is Setting.HOST:
        return Confidence.LOW
    if certain:
        # accelerate chooses its own backend.
        return Confidence.HIGH if sent.inner.name.startswith("torch.") else Confidence.MEDIUM
    return Confidence.MEDIUM


def _message(sent: _Sent, certain: bool) -> str:
    made = quoted(sent.step.node, f"`{sent.step.name}`")
    call = quoted(sent.call.call.node.func, "a collective")
    verb = "is created on" if sent.step.kind is StepKind.MADE else "is on"
    if certain:
        return f"{made} {verb} the CPU and sent by {call}; NCCL, set up here, carries accelerator tensors only"
    if sent.beside:
        return (
            f"{made} {verb} the CPU and sent by {call} beside `{sent.beside}`; it fails where that is on an accelerator"
        )
    return f"{made} {verb} the CPU and sent by {call}; it fails with NCCL, which carries accelerator tensors only"


def _trace(sent: _Sent) -> tuple[DraftStep, ...]:
    first = DraftStep(sent.step.node, sent.step.scope, f"`{sent.step.name}`: put on the CPU here", "cpu")
    steps = [first, DraftStep(sent.call.node, sent.call.scope, "sent to the other processes here")]
    if sent.inner is not sent.call:
        steps[1] = DraftStep(sent.call.node, sent.call.scope, "handed on here")
        steps.append(DraftStep(sent.inner.node, sent.inner.scope, "sent to the other processes here"))
    return tuple(steps)


def _repair(step: Step) -> str:
    factory = step.factory
    if step.kind is StepKind.MOVED or factory is None or not factory.takes_device or factory.legacy:
        return "move it to the process's accelerator with `.to(device)` before it is sent"
    return f"pass `device=` to `{step.name}`: the device of the process, or that of a tensor at hand"
