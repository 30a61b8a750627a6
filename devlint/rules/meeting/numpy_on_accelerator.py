"""A tensor that is, or may be, on an accelerator is handed to numpy.

## What it does

Finds `.numpy()`, `np.f(t)`, `array[t]`, and calls of matplotlib, scikit-learn or PIL with a tensor that is on an
accelerator, or that is where the caller put it while the same function shows that this may be an accelerator: a sibling
goes through `.cpu()` first, it is an input of `forward` that indexes an array, a method of a Module makes a tensor of
numpy's result again, for the module's callers, or the file hands the function on together with a device, as a metric
does that keeps its tensors there. Without a sibling, `.numpy()`, or numpy's own reading of what torch or a module made,
is a warning of a tensor that the function moved to a device by name, or that a module computed in its own method.
`.numpy()` alone is one of a tensor that is taken from a graph (`.detach()`, `.data`) or that an operation of autograd
is called with, of what was computed in a place that is not known, where several other methods of the class (or
functions of the file) write `.cpu().numpy()`, of what methods of an object keep where another one brings what it keeps
to the CPU for numpy, and of an argument of a public function of a library, where another function of its file brings
its argument of this name to the CPU; and of an argument, or an item of one, to whose device the same function brings
what it makes. A call is told of that hands what is on an accelerator, or what the code at hand put or computed in its
place, to a function of another file, or of its own file where nothing is told of the read itself (an argument that may
be an array), which gives it to numpy in each call, or in those that say `method="tree"`, or of what all that shows it
of a tensor at hand shows it; a helper whose
caller in the file has brought its argument to a device, a step that a base class or a trainer of a library calls with
what it has brought there; and a method of what a model computed that its object keeps, where the object keeps a device
that it was told, as well. In a file that never moves anything, and never says where something is made, all that rests
on a caller has low confidence, but for parameters and buffers.

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
- A method reads what its own object has computed, and moves that object, `self.to(device)`, further down: low.
- The docstring of the function says that it works on the CPU, or that what is not there raises, or the constructor of
  the object keeps what it was given on the CPU, and nothing shows that the tensor is elsewhere: low.
- The function brings another tensor to the CPU for an operation of torch on both, as in
  `torch.index_select(x, 0, order.cpu())`: low.
- `np.mean` and other reductions call the method of what is no array, and a tensor's refuses what they pass, wherever it
  is (fixture `reduced_by_numpy`).
- A test for an accelerator decides whether the line runs: whoever asks knows on which side there is something to bring.

## Fix safety

`.cpu()` before the conversion is safe where a tensor is certain: it returns the tensor itself where it is on the CPU
already. It is unsafe where the value may be an array.

## How a run confirms it

The conversion raises a TypeError.

## Known problems

Which functions of other libraries convert tensors is known for numpy and the libraries that build on it by name only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.trace import draft_step, provenance_of
from devlint.drafts.wording import code_with, is_certain, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.forward_like_methods import is_handed_a_placed_batch
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import DeviceName, Function, Host, Self, Tensor
from devlint.placement.domain.device_names import names_the_cpu
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Choice,
    GuardKind,
    Known,
    SameAs,
    describe,
    exclude,
    is_accelerator,
    is_set_as_device,
    leaves,
)
from devlint.placement.domain.provenance import Provenance, placing_step
from devlint.placement.domain.scope import Setting
from devlint.placement.state.host_reads import ARRAY_INDEX, METHOD
from devlint.rules.meeting.brought_beside import BroughtBeside, is_brought_beside
from devlint.rules.meeting.brought_for_numpy import BroughtForNumpy
from devlint.rules.meeting.device_asked import DeviceAsked
from devlint.rules.meeting.expected_elsewhere import ExpectedElsewhere, confidence_by_test, takes_any_tensor
from devlint.rules.meeting.handed_to_readers import HandedToReaders
from devlint.rules.meeting.reads_by_numpy import (
    accelerator,
    are_kept,
    chosen_here,
    confidence_in_tensor,
    follows_the_tensors_own_test,
    is_as_a_loader_gave_it,
    is_computed,
    is_item_beside,
    is_listed_by_a_model,
    is_moved_itself,
    is_moved_object,
    is_of_a_working_function,
    is_of_its_objects_model,
    is_state_of_a_model,
    is_taken_from_a_graph,
    is_tensor,
    is_tensor_beside,
    reads_a_tensor,
)
from devlint.rules.meeting.reads_in_callees import draft_of
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, Created, HostRead, Moved, ReadInCallee, Stored


class NumpyOnAccelerator(Rule):
    code = "DEV403"
    name = "numpy-on-accelerator"
    severity = Severity.ERROR
    error_when_confirmed = True
    of_callers_tensors = True
    wakes_at = any_of(host_read=always, read_in_callee=always)

    def __init__(self) -> None:
        self._undecided: list[HostRead] = []
        self._moved_to_cpu: dict[str, list[Moved]] = {}
        """By definition: the transfers to the CPU of tensors that the caller placed."""
        self._expected_elsewhere = ExpectedElsewhere()
        self._unknown: list[HostRead] = []
        self._habit = BroughtForNumpy()
        self._of_module: set[str] = set()
        """Methods of a Module that are called once it is where it works."""
        self._of_trainers: set[str] = set()
        """Those that the trainer of a library calls, which has a device whether the file speaks of one or not."""
        self._of_autograd: set[str] = set()
        """Methods of operations of autograd, which are called with tensors of a graph."""
        self._of_wrappers: set[str] = set()
        """Methods `numpy` of objects with a `cpu` of their own: they ask of their callers what a tensor's does."""
        self._run_there: dict[str, Called] = {}
        """By definition: a call that hands it on together with a device."""
        self._for_arrays: set[str] = set()
        """Definitions that hand numpy an argument as it is: others of theirs that are tensors are on the CPU."""
        self._speaks_of_devices = False
        """Whether the file moves something, or says where something is made."""
        self._read_in_callees: set[cst.CSTNode] = set()
        """Reads of functions of other files that are told of already."""
        self._handed_within: list[tuple[ReadInCallee, Draft]] = []
        """Calls of functions of the file itself, whose reads are told of where they stand if that alone tells."""
        self._comes_back: list[tuple[Provenance, Created]] = []
        """Tensors made of arrays, by the provenance of the tensor that the array comes from."""
        self._device_asked = DeviceAsked()
        self._beside = BroughtBeside()
        self._handed = HandedToReaders(self._beside, self._habit, self._device_asked)
        self._brought_there: dict[str, Moved] = {}
        """By definition: the first transfer to a place that is not the CPU."""
        self._brought_by_object: dict[str, Moved] = {}
        """By class: the first transfer of its methods to a place that is not the CPU."""
        self._told: dict[str, Stored] = {}
        """By class: the device that its objects are told, and keep."""
        self._bodies: dict[str, cst.CSTNode] = {}
        """By definition."""
        self._goes_later: set[int] = set()
        """Reads, by identity, in a method that moves its own object further down, and has brought nothing over yet."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._expected_elsewhere.begun(event)
        self._bodies[event.scope.qualname] = event.node
        if event.owner is not None and event.scope.qualname.endswith(".numpy") and event.owner.defines("cpu"):
            # `found.cpu().numpy()` is how one reads it (fixture `wrapped_tensors`).
            self._of_wrappers.add(event.scope.qualname)
        if event.owner is not None and event.owner.kind is ClassKind.AUTOGRAD:
            self._of_autograd.add(event.scope.qualname)
        working = event.scope.setting in (Setting.FORWARD, Setting.METHOD) and event.scope.role is not Role.TEST
        if working and event.owner is not None:
            handed = is_handed_a_placed_batch(event.owner.method(event.scope.qualname.rpartition(".")[2]))
            if handed or event.owner.is_module:
                self._of_module.add(event.scope.qualname)
            if handed:
                self._of_trainers.add(event.scope.qualname)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        values = [argument.value for argument in event.call.arguments]
        if isinstance(event.receiver, Self) and event.name in (".to", ".cuda") and not any(map(names_the_cpu, values)):
            self._own_object_goes(event.scope.qualname)
        if any(isinstance(value, DeviceName) and value.device != CPU and not value.is_type for value in values):
            self._speaks_of_devices = True
            for value in values:
                if isinstance(value, Function):
                    self._run_there.setdefault(value.info.qualname, event)
        return ()

    def _own_object_goes(self, method: str) -> None:
        """`self.to(device)`: until here it was where it was built."""
        if method not in self._moved_to_cpu:
            self._goes_later.update(id(read) for read in self._undecided if read.scope.qualname == method)

    def stored(self, event: Stored) -> Iterable[Draft]:
        """`self.device = device` of a constructor."""
        kept = isinstance(event.owner, Self) and event.scope.setting is Setting.CONSTRUCTION
        if kept and (event.attribute or "").endswith("device") and not names_the_cpu(event.value):
            self._told.setdefault(event.scope.class_name or "", event)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        self._speaks_of_devices = self._speaks_of_devices or event.named is not None
        if event.named is not None and isinstance(event.value, Tensor):
            self._habit.placed(event.scope, event.value.device)
        self._device_asked.created(event)
        # The number in `torch.arange(lengths.max())` is no tensor that comes back (fixture `device_asked_of_items`).
        of_data = event.factory.default != "default_device"
        data = event.call.positional[0].value if of_data and event.call.positional else None
        if isinstance(data, Host) and data.provenance is not None and event.scope.qualname in self._of_module:
            self._comes_back.append((data.provenance, event))
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        target = event.target
        self._device_asked.moved(event)
        self._beside.moved(event)
        self._handed.moved(event)
        if event.moves and target is not None:
            self._speaks_of_devices = True
            self._habit.placed(event.scope, target)
            if target not in (CPU, UNKNOWN):
                self._brought_there.setdefault(event.scope.qualname, event)
                if event.scope.class_name is not None and (is_set_as_device(target) or accelerator(target)):
                    self._brought_by_object.setdefault(event.scope.class_name, event)
        if isinstance(target, Known) and target.on_cpu:
            device = getattr(event.receiver, "device", None)
            if device is not None and any(isinstance(leaf, SameAs) for leaf in leaves(device)):
                self._moved_to_cpu.setdefault(event.scope.qualname, []).append(event)
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
            severity = Severity.ERROR if _was_put_there(event) else Severity.WARNING
            yield _draft(event, severity, confidence_in_tensor(event), f"is on {describe(device)}")
        elif any(arm.guard.kind is GuardKind.ON_ACCELERATOR for arm in event.arms):
            # `if self.use_cuda: x = x.cpu()`: whoever asked knows on which side there is something to bring.
            return
        elif isinstance(device, Choice) and any(accelerator(leaf) for leaf in leaves(device)):
            if follows_the_tensors_own_test(device):
                return
            # A checkpoint holds lists of numbers as well (fixture `lists_of_checkpoints`).
            told = confidence_in_tensor(event) is not Confidence.LOW
            sure = Confidence.MEDIUM if told else Confidence.LOW
            yield _draft(event, Severity.WARNING, sure, f"is on {describe(device)}")
        elif any(isinstance(leaf, SameAs) for leaf in leaves(device)) and (
            isinstance(event.value, Tensor) or is_moved_object(event)
        ):
            self._undecided.append(event)
        elif CPU not in leaves(device) and is_of_a_working_function(event):
            self._unknown.append(event)

    def read_in_callee(self, event: ReadInCallee) -> Iterable[Draft]:
        # A function that reads what it is handed is one mistake, however often it is called.
        if event.read.node in self._read_in_callees or event.read.argument:
            return
        draft = draft_of(event)
        if draft is None:
            self._handed.handed(event)
        elif event.read.scope.path == event.scope.path:
            self._handed_within.append((event, draft))
        else:
            self._read_in_callees.add(event.read.node)
            yield draft

    def finish(self) -> Iterable[Draft]:
        for event, draft in self._from_callers():
            # That code which never places anything is used on an accelerator is a guess.
            told = self._speaks_of_devices or is_state_of_a_model(event) or event.callers_on_model
            told = told or event.handed_over is not None or event.scope.qualname in self._of_trainers
            if draft.confidence is not Confidence.LOW:
                self._read_in_callees.add(event.node)
            yield draft if told or draft.premise is not None else replace(draft, premise=Premise.PLACES)
        for call, draft in (*self._handed_within, *self._handed.drafts()):
            if call.read.node not in self._read_in_callees:
                self._read_in_callees.add(call.read.node)
                yield draft

    def _is_in_a_graph(self, event: HostRead) -> bool:
        """`x.numpy()` in an operation of autograd, of what it is called with or has saved."""
        reads = event.reader == METHOD or reads_a_tensor(event)
        return reads and event.scope.qualname in self._of_autograd and event.scope.role is not Role.TEST

    def _sibling_of(self, event: HostRead) -> Moved | None:
        """A transfer to the CPU on the way to the read: in the other arm of a test it is for other values."""
        brought = self._moved_to_cpu.get(event.scope.qualname, ())
        return next((one for one in brought if not exclude(one.arms, event.arms)), None)

    def _meets_what_was_brought(self, event: HostRead) -> bool:
        body = self._bodies.get(event.scope.qualname)
        brought = self._moved_to_cpu.get(event.scope.qualname, ())
        return body is not None and any(is_brought_beside(event, one, body) for one in brought)

    def _from_callers(self) -> Iterator[tuple[HostRead, Draft]]:
        """What is where a caller, or the caller's model, has it."""
        for event in self._unknown:
            if (asked := self._device_asked.beside(event)) is not None:
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller put it", (asked,))
                continue
            brought = self._habit.elsewhere(event)
            if brought is not None and (is_computed(event) or are_kept(event, brought)):
                yield event, _computed_there(event, brought)
            elif event.value.device == UNKNOWN and is_taken_from_a_graph(event):
                # Unless the function, or another method, brings something there, or the object keeps a device, nothing
                # in sight says that the model leaves the CPU.
                there = self._brought_there.get(event.scope.qualname)
                there = there or self._brought_by_object.get(event.scope.class_name or "")
                told = self._told.get(event.scope.class_name or "")
                steps = (_step_of(there),) if there is not None else () if told is None else (_told_step(told),)
                words = "was taken from a graph, so it is where the model is"
                sure = Confidence.MEDIUM if steps and event.scope.role is not Role.TEST else Confidence.LOW
                yield event, _draft(event, Severity.WARNING, sure, words, steps)
        for event in self._undecided:
            scope = event.scope
            if is_as_a_loader_gave_it(event.value) and event.handed_over is None:
                continue
            stays = event.callers_on_cpu or self._meets_what_was_brought(event)
            if stays or id(event) in self._goes_later or scope.qualname in self._of_wrappers:
                yield event, _draft(event, Severity.WARNING, Confidence.LOW, "is where the caller put it")
                continue
            if (call := event.handed_over) is not None and scope.setting is not Setting.HOST:
                step = DraftStep(call.node, call.scope, "handed over here, from where it was brought")
                yield (
                    event,
                    _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the base class brings it", (step,)),
                )
                continue
            if (asked := self._device_asked.beside(event)) is not None:
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller put it", (asked,))
                continue
            if (brought_too := self._beside.of(event)) is not None:
                words = "is where it was computed" if is_computed(event) else "is where the caller put it"
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, words, (brought_too,))
                continue
            reentries = (back for provenance, back in self._comes_back if provenance is event.value.provenance)
            back = next((back for back in reentries if back.scope == scope), None)
            if back is not None and reads_a_tensor(event):
                step = DraftStep(back.node, back.scope, "made a tensor again here", "cpu")
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller put it", (step,))
                continue
            handed_on = self._run_there.get(scope.qualname)
            if handed_on is not None and is_tensor(event) and scope.setting is not Setting.HOST:
                step = DraftStep(handed_on.node, handed_on.scope, "the function is handed on with a device here")
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller put it", (step,))
                continue
            told = self._told.get(scope.class_name or "")
            if told is not None and is_of_its_objects_model(event):
                words = "is where the object's model is"
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, words, (_told_step(told),))
                continue
            sibling = self._sibling_of(event)
            if is_listed_by_a_model(event):
                sure = Confidence.LOW if scope.role is Role.TEST else Confidence.MEDIUM
                yield event, _draft(event, Severity.WARNING, sure, "is where the model is")
                continue
            # What some caller computed by a model is a tensor, whatever else a function for arrays gets.
            if event.callers_on_model and (is_tensor(event) or not event.arms) and sibling is None:
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where a caller in this file has it")
                continue
            if event.reader == ARRAY_INDEX and scope.setting is Setting.FORWARD:
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the module's inputs are")
                continue
            if sibling is not None and is_moved_itself(event, sibling):
                continue
            told_by_sibling = is_tensor(event) or (
                sibling is not None and (is_item_beside(event, sibling) or is_tensor_beside(event, sibling))
            )
            if sibling is None or not told_by_sibling:
                named = chosen_here(event)
                if named is not None:
                    yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, f"is on {describe(named)}")
                    continue
                if is_taken_from_a_graph(event) or self._is_in_a_graph(event):
                    yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller's model is")
                    continue
                brought = self._habit.elsewhere(event)
                if brought is not None and is_of_a_working_function(event) and is_computed(event):
                    yield event, _computed_there(event, brought)
                    continue
            if not told_by_sibling:
                continue
            witness = self._expected_elsewhere.witness(event) if sibling is None else None
            if witness is not None:
                words = f"another function brings {quoted(witness.receiver_node, 'its argument')} to the CPU here"
                step = DraftStep(witness.node, witness.scope, words, "cpu", passes_on=False)
                yield event, _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where the caller put it", (step,))
                continue
            if sibling is None or scope.setting is Setting.HOST:
                likely = Confidence.LOW if scope.qualname in self._for_arrays else confidence_by_test(event)
                draft = _draft(event, Severity.WARNING, likely, "is where the caller put it")
                if scope.qualname not in self._for_arrays and takes_any_tensor(event):
                    draft = replace(draft, confidence=Confidence.MEDIUM, premise=Premise.OPEN)
                yield event, draft
                continue
            other = quoted(sibling.receiver_node, "another tensor of the caller")
            step = DraftStep(sibling.node, sibling.scope, "a sibling is brought to the CPU here", "cpu")
            yield (
                event,
                _draft(
                    event, Severity.WARNING, Confidence.MEDIUM, f"may be on an accelerator, as {other} may", (step,)
                ),
            )


def _was_put_there(event: HostRead) -> bool:
    """Whether the function that reads it, or one that it calls, brought it there.

    What a constructor brought there may be on the CPU by now: the object's methods put others in it, or clear it.
    """
    placed = placing_step(provenance_of(event.value))
    return placed is None or placed.scope == event.scope or placed.scope.setting is not Setting.CONSTRUCTION


def _step_of(there: Moved) -> DraftStep:
    return DraftStep(there.node, there.scope, "brought to where the model works here", passes_on=False)


def _told_step(told: Stored) -> DraftStep:
    return DraftStep(told.node, told.scope, "the object is told a device here", passes_on=False)


def _computed_there(event: HostRead, brought: HostRead) -> Draft:
    words = "a tensor is brought to the CPU for numpy here"
    step = DraftStep(brought.node, brought.scope, words, "cpu", passes_on=False)
    return _draft(event, Severity.WARNING, Confidence.MEDIUM, "is where it was computed", (step,))


def _draft(
    event: HostRead, severity: Severity, confidence: Confidence, where: str, also: tuple[DraftStep, ...] = ()
) -> Draft:
    node = event.expression if event.expression is not None else event.node
    provenance = provenance_of(event.value)
    steps = tuple(draft_step(step) for step in reversed(tuple(provenance))) if provenance is not None else ()
    repair = Repair(
        Applicability.SAFE if is_certain(event.value) else Applicability.UNSAFE,
        f"read it from the CPU: `{code_with(node, '.cpu()')}`",
        suffixed(node, ".cpu()"),
    )
    calls = (DraftStep(call, scope, "handed on here", crosses=True) for call, scope in event.calls)
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
        trace=(*steps, *also, *calls, DraftStep(event.node, event.scope, "read on the host here")),
        repair=repair,
    )
