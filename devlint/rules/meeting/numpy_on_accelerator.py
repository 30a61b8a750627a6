"""A tensor that is, or may be, on an accelerator is handed to numpy.

## What it does

Finds `.numpy()`, `np.f(t)`, `array[t]`, and calls of matplotlib, scikit-learn or PIL with a tensor that is on an
accelerator, or that is where the caller put it while the same function shows that this may be an accelerator: a sibling
goes through `.cpu()` first, it is an input of `forward` that indexes an array, a method of a Module makes a tensor of
numpy's result again, for the module's callers, or the file hands the function on together with a device, as a metric
does that keeps its tensors there. Without a sibling, `.numpy()` is a warning of a tensor that the function moved to a
device by name, that a module computed in its own method, or that is taken from a graph (`.detach()`, `.data`), of what
was computed in a place that is not known, where several other methods of the class (or functions of the file) write
`.cpu().numpy()`, and of an argument of a public function of a library, where another function of its file brings its
argument of this name to the CPU.

## Why is this bad

numpy reads host memory. The conversion raises
"can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first".

## Example

```python
import numpy as np
import torch


def worst(net: torch.nn.Module, batch: torch.Tensor) -> int:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    scores = net.to(device)(batch.to(device))
    return int(np.argmin(scores.detach().numpy()))
```

## Use instead

```python
import numpy as np
import torch


def worst(net: torch.nn.Module, batch: torch.Tensor) -> int:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    scores = net.to(device)(batch.to(device))
    return int(np.argmin(scores.detach().cpu().numpy()))
```

## When it is right

- The tensor went through `.cpu()` or `.tolist()`, or was made on the CPU.
- The tensor is an argument and nothing in the function mentions accelerators, or a Module only hands arrays or numbers
  back. Then the confidence is low, but where a function asks whether it has a tensor: those come from anywhere.
- A test for an accelerator decides whether the line runs: whoever asks knows on which side there is something to bring.

## Fix safety

`.cpu()` before the conversion is safe where a tensor is certain: it returns the tensor itself where it is on the CPU
already. It is unsafe where the value may be an array. `np.mean` and other reductions get `.cpu().numpy()`, since they
refuse a tensor wherever it is.

## How a run confirms it

The conversion raises a TypeError.

## Known problems

Which functions of other libraries convert tensors is known for numpy and the libraries that build on it by name only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of
from devlint.drafts.wording import code_of, code_with, is_certain, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, TOLD_A_DEVICE, names_a_loader
from devlint.placement.domain.abstract_values import DeviceName, Evidence, Function, Host, Opaque, Tensor
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    GuardKind,
    Known,
    SameAs,
    batch_of,
    describe,
    guards_of,
    is_accelerator,
    is_device_by_name,
    leaves,
)
from devlint.placement.domain.provenance import Provenance, StepKind
from devlint.placement.domain.scope import Setting
from devlint.placement.state.host_reads import ARRAY_INDEX
from devlint.rules.meeting.brought_for_numpy import BroughtForNumpy
from devlint.rules.meeting.expected_elsewhere import ExpectedElsewhere, confidence_by_test
from devlint.rules.rule import Rule
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import Begun, Called, Created, HostRead, Moved


METHOD = ".numpy()"

REDUCTIONS = frozenset(
    f"numpy.{name}" for name in ("all", "amax", "amin", "any", "max", "mean", "min", "prod", "std", "sum", "var")
)
"""Functions that call the argument's own method with numpy's keywords, which a tensor on any device refuses: they need
the array itself. Source: `_wrapreduction` in numpy/_core/fromnumeric.py."""


class NumpyOnAccelerator(Rule):
    code = "DEV403"
    name = "numpy-on-accelerator"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self._undecided: list[HostRead] = []
        self._moved_to_cpu: dict[str, Moved] = {}
        """By definition: a transfer to the CPU of a tensor that the caller placed."""
        self._expected_elsewhere = ExpectedElsewhere()
        self._unknown: list[HostRead] = []
        self._habit = BroughtForNumpy()
        self._of_module: set[str] = set()
        """Methods of a Module that are called once it is where it works."""
        self._run_there: dict[str, Called] = {}
        """By definition: a call that hands it on together with a device."""
        self._for_arrays: set[str] = set()
        """Definitions that hand numpy an argument as it is: others of theirs that are tensors are on the CPU."""
        self._comes_back: list[tuple[Provenance, Created]] = []
        """Tensors made of arrays, by the provenance of the tensor that the array comes from."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._expected_elsewhere.begun(event)
        working = event.scope.setting in (Setting.FORWARD, Setting.METHOD) and event.scope.role is not Role.TEST
        if working and event.owner is not None and event.owner.is_module:
            self._of_module.add(event.scope.qualname)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        values = [argument.value for argument in event.call.arguments]
        if any(isinstance(value, DeviceName) and value.device != CPU and not value.is_type for value in values):
            for value in values:
                if isinstance(value, Function):
                    self._run_there.setdefault(value.info.qualname, event)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        data = event.call.positional[0].value if event.call.positional else None
        if isinstance(data, Host) and data.provenance is not None and event.scope.qualname in self._of_module:
            self._comes_back.append((data.provenance, event))
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        target = event.target
        if event.moves and target is not None:
            self._habit.placed(event.scope, target)
        if isinstance(target, Known) and target.on_cpu:
            device = getattr(event.receiver, "device", None)
            if device is not None and any(isinstance(leaf, SameAs) for leaf in leaves(device)):
                self._moved_to_cpu.setdefault(event.scope.qualname, event)
                self._expected_elsewhere.brought_to_cpu(event)
        return ()

    def host_read(self, event: HostRead) -> Iterable[Draft]:
        if not event.wants_cpu:
            return
        self._expected_elsewhere.read_on_host(event)
        self._habit.read(event)
        if event.reader != METHOD and not event.arms:
            self._for_arrays.add(event.scope.qualname)
        device = event.value.device
        if is_accelerator(device):
            yield _draft(event, Severity.ERROR, _confidence_in_tensor(event), f"is on {describe(device)}")
        elif any(arm.guard.kind is GuardKind.ON_ACCELERATOR for arm in event.arms):
            # `if self.use_cuda: x = x.cpu()`: whoever asked knows on which side there is something to bring.
            return
        elif isinstance(device, Choice) and any(_accelerator(leaf) for leaf in leaves(device)):
            if _follows_the_tensors_own_test(device):
                return
            yield _draft(event, Severity.WARNING, Confidence.MEDIUM, f"is on {describe(device)}")
        elif any(isinstance(leaf, SameAs) for leaf in leaves(device)) and isinstance(event.value, Tensor):
            self._undecided.append(event)
        elif CPU not in leaves(device) and _is_of_a_working_function(event):
            self._unknown.append(event)

    def finish(self) -> Iterable[Draft]:
        for event in self._unknown:
            brought = self._habit.elsewhere(event)
            if brought is not None and _is_computed(event):
                yield _computed_there(event, brought)
            elif event.value.device == UNKNOWN and _is_taken_from_a_graph(event):
                # Nothing in sight says that the model leaves the CPU.
                words = "was taken from a graph, so it is where the model is"
                yield _draft(event, Severity.WARNING, Confidence.LOW, words)
        for event in self._undecided:
            scope = event.scope
            if event.callers_on_cpu:
                yield _draft(event, Severity.WARNING, Confidence.LOW, "is where the caller put it")
                continue
            reentries = (back for provenance, back in self._comes_back if provenance is event.value.provenance)
            back = next((back for back in reentries if back.scope == scope), None)
            if back is not None:
                step = DraftStep(back.node, back.scope, "made a tensor again here", "cpu")
                yield _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller put it", (step,))
                continue
            handed_on = self._run_there.get(scope.qualname)
            if handed_on is not None and _is_tensor(event) and scope.setting is not Setting.HOST:
                step = DraftStep(handed_on.node, handed_on.scope, "the function is handed on with a device here")
                yield _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller put it", (step,))
                continue
            sibling = self._moved_to_cpu.get(scope.qualname)
            if event.reader == ARRAY_INDEX and scope.setting is Setting.FORWARD:
                yield _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the module's inputs are")
                continue
            told_by_sibling = _is_tensor(event) or (sibling is not None and _is_item_beside(event, sibling))
            if sibling is None or not told_by_sibling:
                named = _chosen_here(event)
                if named is not None:
                    yield _draft(event, Severity.WARNING, Confidence.MEDIUM, f"is on {describe(named)}")
                    continue
                if _is_taken_from_a_graph(event):
                    yield _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller's model is")
                    continue
                brought = self._habit.elsewhere(event)
                if brought is not None and _is_of_a_working_function(event) and _is_computed(event):
                    yield _computed_there(event, brought)
                    continue
            if not told_by_sibling or (sibling is not None and _is_moved_itself(event, sibling)):
                continue
            witness = self._expected_elsewhere.witness(event) if sibling is None else None
            if witness is not None:
                words = f"another function brings {quoted(witness.receiver_node, 'its argument')} to the CPU here"
                step = DraftStep(witness.node, witness.scope, words, "cpu", passes_on=False)
                yield _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller put it", (step,))
                continue
            if sibling is None or scope.setting is Setting.HOST:
                likely = Confidence.LOW if scope.qualname in self._for_arrays else confidence_by_test(event)
                yield _draft(event, Severity.WARNING, likely, "is where the caller put it")
                continue
            other = quoted(sibling.receiver_node, "another tensor of the caller")
            step = DraftStep(sibling.node, sibling.scope, "a sibling is brought to the CPU here", "cpu")
            yield _draft(
                event, Severity.WARNING, Confidence.MEDIUM, f"may be on an accelerator, as {other} may", (step,)
            )


def _computed_there(event: HostRead, brought: HostRead) -> Draft:
    words = "a tensor is brought to the CPU for numpy here"
    step = DraftStep(brought.node, brought.scope, words, "cpu", passes_on=False)
    return _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where it was computed", (step,))


def _is_tensor(event: HostRead) -> bool:
    """What is only handed to numpy may as well be an array, and metadata of a batch stays on the host."""
    value = event.value
    return isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN and event.reader == METHOD


def _is_item_beside(event: HostRead, sibling: Moved) -> bool:
    """In `forward`: an item of the very argument another item of which is brought to the CPU, by subscript.

    Or an item of a dict of tensors, by its annotation, beside any tensor that is brought to the CPU.
    """
    import libcst as cst

    one, other = event.expression, sibling.receiver_node
    return (
        event.scope.setting is Setting.FORWARD
        and event.reader == METHOD
        and isinstance(one, cst.Subscript)
        and (_is_annotated(event) or (isinstance(other, cst.Subscript) and one.value.deep_equals(other.value)))
    )


def _is_annotated(event: HostRead) -> bool:
    """Whether the value is an item of an argument whose annotation says that it is a dict of tensors."""
    import libcst as cst

    provenance = provenance_of(event.value)
    given = provenance.first.node if provenance is not None else None
    item = event.expression.value if isinstance(event.expression, cst.Subscript) else None
    if not isinstance(given, cst.Param) or given.annotation is None or not isinstance(item, cst.Name):
        return False
    return item.value == given.name.value and code_of(given.annotation.annotation).endswith("Tensor]")


_ON_THE_CPU_AS_A_RULE = (Role.TEST, Role.SCRIPT, Role.NOTEBOOK, Role.BENCHMARK)
"""Roles of files whose functions are called by themselves: on the CPU, more often than not."""


def _chosen_here(event: HostRead) -> Device | None:
    """The place of a tensor, where the code at hand chose it: it names a device, or is a method of a module that moves.

    Where a caller's tensor is, the caller knows; it may always be the CPU.
    """
    if event.reader != METHOD or event.scope.role is Role.TEST or event.scope.setting is Setting.HOST:
        return None
    if _is_part_of_an_input(event):
        return None
    for leaf in leaves(event.value.device):
        if not isinstance(leaf, SameAs):
            continue
        of_module = leaf.symbol.anchor is Anchor.MODULE and event.scope.setting in (Setting.FORWARD, Setting.METHOD)
        if of_module or is_device_by_name(leaf) or _was_brought(event.value, leaf):
            return leaf
    return None


def _was_brought(value: Tensor | Opaque, device: Device) -> bool:
    """`torch.tensor(rows).to(x.device)`: it came from the CPU, and was brought to what else is at hand."""
    steps = tuple(value.provenance or ())
    moved = next((n for n, step in enumerate(steps) if step.kind is StepKind.MOVED and step.device == device), None)
    return moved is not None and any(step.device == CPU for step in steps[moved + 1 :])


def _is_part_of_an_input(event: HostRead) -> bool:
    """`batch.meta["spacing"].numpy()`: of what an argument holds beside its tensors, much stays on the host."""
    import libcst as cst

    step = event.value.provenance.step if event.value.provenance is not None else None
    given = step is not None and step.kind is StepKind.GIVEN and isinstance(step.node, cst.Param)
    return given and not _is_tensor(event)


def _is_taken_from_a_graph(event: HostRead) -> bool:
    """`t.detach()[0].numpy()`, `t.data.numpy()`: what is taken from a graph was computed where the model is."""
    import libcst as cst

    if not _is_of_a_working_function(event):
        return False
    node = event.expression
    while True:
        match node:
            case (
                cst.Call(func=cst.Attribute(attr=cst.Name(value="detach"))) | cst.Attribute(attr=cst.Name(value="data"))
            ):
                return True
            case cst.Call(func=cst.Attribute(value=value)) | cst.Subscript(value=value):
                node = value
            case _:
                return False


def _is_computed(event: HostRead) -> bool:
    """Whether it is what a call gives, or was computed: not an argument as it came, or an item of one."""
    import libcst as cst

    provenance = event.value.provenance
    return isinstance(event.expression, cst.Call) or (
        provenance is not None and provenance.step.kind is StepKind.COMPUTED
    )


def _is_of_a_working_function(event: HostRead) -> bool:
    """Whether `.numpy()` reads what may be on an accelerator, in a function that is not run on the host as a rule."""
    on_host = event.scope.role in _ON_THE_CPU_AS_A_RULE or event.scope.setting is Setting.HOST
    return event.reader == METHOD and not on_host and not _is_as_a_loader_gave_it(event.value)


def _is_as_a_loader_gave_it(value: Tensor | Opaque) -> bool:
    """Whether it came with a batch, nobody moved it, and no model was run on it: it is on the CPU, graph or not."""
    batch = batch_of(value.device)
    if batch is None or not names_a_loader(batch.source):
        return False
    return value.provenance is None or value.provenance.find(StepKind.COMPUTED, StepKind.MOVED) is None


def _confidence_in_tensor(event: HostRead) -> Confidence:
    """What an unknown callable makes of tensors may be a number or an array: a metric's score."""
    value = event.value
    if any(step.note == CONVENTIONS[TOLD_A_DEVICE] for step in value.provenance or ()):
        return Confidence.MEDIUM
    told = isinstance(value, Tensor) or value.tensorlike or event.reader == METHOD
    return Confidence.HIGH if told else Confidence.LOW


def _follows_the_tensors_own_test(device: Choice) -> bool:
    """`x.cpu() if x.is_cuda and origin == "cpu" else x`: a tensor's own place was asked, and is no free choice.

    What the question was joined with may be what sent it there in the first place (fixture `there_and_back`).
    """
    guards = (guard.text for guard in guards_of(device))
    return any(".is_cuda" in text and (" and " in text or " or " in text) for text in guards)


def _is_moved_itself(event: HostRead, sibling: Moved) -> bool:
    """`if x.pointer is not None: x = x.cpu()`: one arm of the value is the very copy that was brought to the CPU.

    Whoever asked knows in which case there is something to bring.
    """
    provenance = event.value.provenance
    chosen = isinstance(event.value.device, Choice) and provenance is not None
    return chosen and provenance is not None and any(step.node is sibling.node for step in provenance)


def _accelerator(device: Device) -> bool:
    return isinstance(device, Known) and not device.on_cpu


def _draft(
    event: HostRead, severity: Severity, confidence: Confidence, where: str, also: tuple[DraftStep, ...] = ()
) -> Draft:
    node = event.expression if event.expression is not None else event.node
    provenance = provenance_of(event.value)
    steps = tuple(draft_step(step) for step in reversed(tuple(provenance))) if provenance is not None else ()
    copied = ".cpu().numpy()" if event.reader in REDUCTIONS else ".cpu()"
    repair = Repair(
        Applicability.SAFE if is_certain(event.value) else Applicability.UNSAFE,
        f"read it from the CPU: `{code_with(node, copied)}`",
        suffixed(node, copied),
    )
    what = quoted(node, "the tensor")
    if event.expression is None:
        what = f"an item in {quoted(node, 'the call')}"
        repair = Repair(Applicability.SUGGESTION, "collect copies on the host: `.cpu()`, or `.item()` of one number")
    return Draft(
        node=event.node,
        scope=event.scope,
        severity=severity,
        message=f"{what} {where}; `{event.reader}` reads host memory and raises",
        confidence=confidence,
        trace=(*steps, *also, DraftStep(event.node, event.scope, "read on the host here")),
        repair=repair,
    )
