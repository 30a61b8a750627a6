"""One arm gives a tensor where the caller works, its sibling one that was made on the CPU.

## What it does

Finds tensors made without a device that stand beside one that the caller placed: in another `return` of the function,
in the other arm of a condition, among the elements that a list collects for `torch.cat`, in a list that is filled with
them before some are replaced, or among tensors that are made side by side with `device=`, or moved afterwards, and
handed back together. And what a tokenizer makes (`return_tensors="pt"`) in both arms of a condition, where one of them
brings it to a device. No operation of the function joins the two, so nothing fails here.

The finding stands at the creation.

## Why is this bad

Which arm runs depends on the data. The arm for the empty batch, the missing mask, the first call is the one that tests
seldom reach on an accelerator; when it runs there, the caller gets a CPU tensor and fails far from the cause.

## Example

```python
import torch


def confident(scores: torch.Tensor, threshold: float) -> torch.Tensor:
    if scores.shape[0] == 0:
        return torch.zeros(0, 2)
    keep = scores > threshold
    return torch.stack([scores * keep, scores], dim=1)
```

## Use instead

```python
import torch


def confident(scores: torch.Tensor, threshold: float) -> torch.Tensor:
    if scores.shape[0] == 0:
        return torch.zeros(0, 2, device=scores.device)
    keep = scores > threshold
    return torch.stack([scores * keep, scores], dim=1)
```

## When it is right

- A 0-dim tensor: `return torch.tensor(0.0)` beside a loss is read as a number wherever it is added.
- A branch for the CPU, or a condition that tests for the device.
- Both arms are on the CPU, or somebody moves the result before it leaves.
- The function works on the host: it hands its arguments to numpy.
- `torch.empty(1)` in the place of an argument that is not there. `return torch.empty(0)`, which says that there is
  nothing, or returns nothing else beside it: the confidence is low. So it is of any empty tensor, `torch.Tensor()`, in
  an arm of a condition.
- What the other arm follows is a number in this one: `torch.linspace(start, end, steps)`.
- The arm in which an optional `device` is None: who asks for none works on the CPU.
- The package works on the default device (`.to(torch.get_default_device())`), or the docstring of the function says
  that it is about the CPU, or the constructor of the object keeps what it was given on the CPU: low.
- What takes the value accepts it on the CPU, as the targets of `ctc_loss`: the confidence is low. So it is in a script,
  which calls its functions itself.

## Fix safety

A suggestion: `device=x.device` of the tensor that the other arm comes from. For random factories another device means
another stream of random numbers.

## How a run confirms it

Two runs that take different arms give results on two devices.

## Known problems

A function that documents a CPU result for one of its arms is reported as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.draft import Draft, DraftStep
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import bare_creation, code_of, device_of, other_creations
from devlint.finding import Confidence, Severity
from devlint.placement.domain.abstract_values import Container, Evidence, Opaque, Tensor, Value
from devlint.placement.domain.lattice import (
    CPU,
    Choice,
    Device,
    Guard,
    GuardKind,
    SameAs,
    describe,
    guards_of,
    is_device_by_name,
    leaves,
)
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.host_memory import may_be_pinned
from devlint.placement.syntax.nodes import elements_of
from devlint.placement.syntax.sizes import is_made_empty, makes_no_items, named_sizes, sized_by
from devlint.repairs.device_expressions import Definitions
from devlint.rules.meeting.arm_drafts import draft_of
from devlint.rules.meeting.arms import (
    Arm,
    arm_of,
    creation_of,
    is_for_no_tensor,
    is_placed,
    is_placeholder,
    moves_with_module,
    reads_host_data,
)
from devlint.rules.meeting.encoded_arms import EncodedArms
from devlint.rules.meeting.filled_lists import FilledLists
from devlint.rules.meeting.side_by_side import handed_back_together
from devlint.rules.rule import Rule
from devlint.semantics import Dim, Operation
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import (
        Begun,
        Called,
        DeviceMismatch,
        Event,
        HostRead,
        IndexedFromHost,
        LoopEntered,
        LoopLeft,
        Moved,
        ReadAnywhere,
        Returned,
        Stored,
    )
    from devlint.placement.domain.provenance import Step

_COLLECTS = (".append", ".insert", ".appendleft")
_ELSEWHERE = (Setting.CONSTRUCTION, Setting.HOST, Setting.MODULE_LEVEL)
"""Settings in which the CPU is where tensors belong."""


class ArmsOnDifferentDevices(Rule):
    code = "DEV407"
    name = "arms-on-different-devices"
    severity = Severity.WARNING
    of_callers_tensors = True
    of_bare_factories = True
    gives_way_unless_surer = ("DEV101",)

    def __init__(self) -> None:
        self._returns: dict[tuple[int, str, int, int], list[Arm]] = {}
        """By definition, number of results and position."""
        self._collected: dict[tuple[str, str], list[Arm]] = {}
        """By definition and list: what was appended."""
        self._filled = FilledLists()
        self._encoded = EncodedArms()
        self._definitions = Definitions()
        self._registered: dict[str, list[tuple[Event, Value]]] = {}
        """By constructor: the buffers."""
        self._found: list[Draft] = []
        self._clashed: set[int] = set()
        """Creations that a clash was seen of: findings of another rule."""
        self._indices: set[int] = set()
        """Creations whose tensors are read as an index, or as another operand that may lie on the CPU."""
        self._on_host: set[str] = set()
        """Definitions that hand tensors to numpy."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions.note(event)
        return ()

    def device_mismatch(self, event: DeviceMismatch) -> Iterable[Draft]:
        for operand in (event.offending, event.other):
            self._clashed.update(id(step.node) for step in provenance_of(operand.value) or ())
        return ()

    def indexed_from_host(self, event: IndexedFromHost) -> Iterable[Draft]:
        self._indices.update(id(step.node) for step in provenance_of(event.index.value) or ())
        return ()

    def read_anywhere(self, event: ReadAnywhere) -> Iterable[Draft]:
        self._indices.update(
            id(step.node) for step in (*(provenance_of(event.value) or ()), *other_creations(event.value))
        )
        return ()

    def host_read(self, event: HostRead) -> Iterable[Draft]:
        if event.wants_cpu and device_of(event.value) != CPU:
            self._on_host.add(event.scope.qualname)
        return ()

    def loop_entered(self, event: LoopEntered) -> Iterable[Draft]:
        self._filled.entered(event.node)
        return ()

    def loop_left(self, event: LoopLeft) -> Iterable[Draft]:
        self._filled.left()
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._encoded.moved(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._definitions.note_stored(event)
        self._encoded.stored(event)
        if _may_be_elsewhere(event):
            self._filled.stored(event)
            self._found += self._listed(event)
        return ()

    def returned(self, event: Returned) -> Iterable[Draft]:
        if event.guarded or event.settled_by_callers or not _may_be_elsewhere(event):
            return ()
        several = isinstance(event.value, Container) and (event.value.keys is not None or event.value.type == "tuple")
        for node in elements_of(event.value_node):
            self._found += _apart(
                self._filled.arms(event, node), "what replaces its like in the list", self._definitions, _LEFT
            )
        values = event.value.items if several and isinstance(event.value, Container) else (event.value,)
        keys = event.value.keys if isinstance(event.value, Container) else None
        nothing = len(values) > 1 and all(map(_holds_nothing, values))
        for position, value in enumerate(values):
            self._found += self._decided_by_data(event, value)
            arm = arm_of(event, value) if keys is None else None
            if arm is not None and event.scope.setting is not Setting.FORWARD:
                # What `forward` returns from the CPU is a creation's matter whatever its siblings are.
                # Several definitions may be called `_` (fixture `under_one_name`).
                definition = id(self._definitions.node_of(event.scope))
                arm = replace(arm, gives_nothing=nothing)
                self._returns.setdefault((definition, event.scope.qualname, len(values), position), []).append(arm)
        if several:
            self._found += handed_back_together(event, values, self._definitions)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        if event.name == ".register_buffer" and event.scope.role is not Role.TEST:
            tensor = event.call.argument("tensor", 1)
            if tensor is not None:
                self._registered.setdefault(event.scope.qualname, []).append((event, tensor.value))
        if event.on_cpu or not _may_be_elsewhere(event):
            return ()
        if event.name in _COLLECTS and event.call.positional:
            arm = arm_of(event, event.call.positional[-1].value, without_dimensions=True)
            if arm is not None:
                self._collected.setdefault((event.scope.qualname, _receiver(event)), []).append(arm)
        elif not event.name.startswith("."):
            self._judge_joined(event)
        chosen = any(isinstance(device_of(argument.value), Choice) for argument in event.call.arguments)
        if chosen and _is_submodule_call(event):
            self._found += self._handed_in(event)
        return ()

    def _judge_joined(self, event: Called) -> None:
        """`torch.cat(parts)` of a list that was collected."""
        operation = semantics.function(event.name)
        if not isinstance(operation, Operation):
            return
        for position, parameter in enumerate(operation.parameters):
            argument = event.call.argument(parameter.name, position) if parameter.kind == "tensors" else None
            if argument is not None:
                arms = self._collected.get((event.scope.qualname, code_of(argument.node)), [])
                arms = arms or self._filled.arms(event, argument.node)
                joined = DraftStep(event.node, event.scope, "they are joined here")
                self._found += (
                    replace(d, trace=(*d.trace, joined))
                    for d in _apart(arms, "the same list", self._definitions, _JOINED)
                )

    def _listed(self, event: Stored) -> Iterator[Draft]:
        """``states = [steps, mask]``: what one list keeps is for one place, and an arm made one of them elsewhere."""
        import libcst as cst

        written = isinstance(event.value_node, (cst.List, cst.Tuple))
        values = event.value.items if written and isinstance(event.value, Container) else ()
        if any(isinstance(value, Tensor) and is_placed(value.device) for value in values):
            for value in values:
                yield from self._decided_by_data(event, value)

    def _decided_by_data(self, event: Event, value: Value) -> Iterator[Draft]:
        """A value that is the caller's tensor in one arm of some conditions and a bare creation in another."""
        device = device_of(value)
        if not isinstance(device, Choice) or not isinstance(value, Tensor) or value.dim is not Dim.NONZERO:
            return
        others = [leaf for leaf in leaves(device) if leaf != CPU]
        if len(others) == len(leaves(device)) or not others or not all(map(is_placed, others)):
            return
        guards = list(guards_of(device))
        if any(guard.kind not in (GuardKind.PLAIN, GuardKind.IS_NONE) for guard in guards):
            return
        if any(_asks_for_no_device(guard, others) for guard in guards):
            return
        # A default that is handed out, or a number made a tensor, says nothing of the caller's device, unless it is
        # made in the size of the caller's data (fixture `together`).
        asks_for_data = all(guard.kind is GuardKind.PLAIN and "isinstance" not in guard.text for guard in guards)
        tensor = value.evidence is Evidence.CERTAIN or all(map(moves_with_module, others))
        at = DraftStep(
            event.node, event.scope, f"the other arm of `{guards[0].text}` joins it here", describe(others[0])
        )
        for step in (bare_creation(value), *other_creations(value)):
            if step is None or may_be_pinned(step.node):
                continue
            if step.scope == event.scope and not is_placeholder(step):
                sized = self._is_sized(event, step)
                # An empty tensor stands for what is not there (fixture `nothing_in_an_arm`).
                sure = (
                    tensor and not makes_no_items(step.node) and (asks_for_data or sized) and not reads_host_data(step)
                )
                confidence = Confidence.MEDIUM if sure else Confidence.LOW
                absent = _absent(guards[0])
                yield draft_of(
                    step, others[0], "the other arm", (at,), confidence, absent=absent, definitions=self._definitions
                )

    def _is_sized(self, event: Event, step: Step) -> bool:
        """Whether a creation is made in the size of something: ``zeros(x.shape[0])``, ``n = len(x)``, ``zeros(n)``."""
        definition = self._definitions.node_of(event.scope)
        if any(mark in code_of(step.node) for mark in (".shape", ".size(", "len(")):
            return True
        return definition is not None and any(sized_by(step.node, named_sizes(definition)))

    def _handed_in(self, event: Called) -> Iterator[Draft]:
        """A submodule gets what the caller placed beside what one arm made on the CPU."""
        if any(is_placed(a.value.device) for a in event.call.arguments if isinstance(a.value, (Tensor, Opaque))):
            for argument in event.call.arguments:
                yield from self._decided_by_data(event, argument.value)

    def finish(self) -> Iterable[Draft]:
        for (_, _, results, _), arms in self._returns.items():
            self._found += _apart(arms, "another return", self._definitions, alone=results == 1)
        for buffers in self._registered.values():
            self._found += _registered_apart(buffers, self._definitions)
        self._found += self._encoded.drafts()
        for draft in self._found:
            if id(draft.node) in self._clashed:
                continue
            doubtful = draft.scope.qualname in self._on_host or id(draft.node) in self._indices
            # The functions of a script are called by itself: on the CPU, more often than not.
            doubtful = doubtful or draft.scope.role is Role.SCRIPT
            yield replace(draft, confidence=Confidence.LOW) if doubtful else draft


def _holds_nothing(value: Value) -> bool:
    """What is no tensor says nothing of it: ``return torch.empty(0), torch.empty(0), 0``."""
    step = creation_of(value)
    return not isinstance(value, Tensor) or (step is not None and makes_no_items(step.node))


def _asks_for_no_device(guard: Guard, others: list[Device]) -> bool:
    """Whether the other arm is on the device that is asked for: who asks for none works on the CPU.

    Fixture `devices_left_out`.
    """
    asked = _absent(guard)
    named = (one.symbol.name for one in others if isinstance(one, SameAs) and is_device_by_name(one))
    return bool(asked) and list(named) == [asked] * len(others)


def _may_be_elsewhere(event: Event) -> bool:
    return event.scope.setting not in _ELSEWHERE and event.scope.role is not Role.TEST


def _apart(
    arms: list[Arm], where: str, definitions: Definitions, consequence: str = "", alone: bool = False
) -> Iterator[Draft]:
    """``alone``: each arm is all that is returned there: `torch.empty(0)` says then that there is nothing."""
    other = next((arm for arm in arms if arm.step is None), None)
    if other is None:
        return
    reported = set()
    for arm in arms:
        if arm.step is not None and id(arm.step.node) not in reported and not is_for_no_tensor(arm, other.device):
            reported.add(id(arm.step.node))
            at = DraftStep(other.event.node, other.event.scope, f"{where} gives its sibling", describe(other.device))
            doubtful = reads_host_data(arm.step) or arm.gives_nothing or (alone and is_made_empty(arm.step.node))
            confidence = Confidence.LOW if doubtful else Confidence.MEDIUM
            yield draft_of(arm.step, other.device, where, (at,), confidence, consequence, definitions=definitions)


def _absent(guard: Guard) -> str:
    """What a test for None asks: the creation is for the arm in which it is None."""
    return guard.subject.name if guard.kind is GuardKind.IS_NONE and guard.subject is not None else ""


def _is_submodule_call(event: Called) -> bool:
    """`self.encoder(x, mask)`: an operation of torch is judged by its operands."""
    code = code_of(event.call.node.func)
    return code.startswith("self.") and code.count(".") == 1


def _registered_apart(buffers: list[tuple[Event, Value]], definitions: Definitions) -> Iterator[Draft]:
    """Buffers of one constructor: most of them are made with `device=`, and one by the same factory without."""
    made = [step for _, value in buffers if (step := creation_of(value)) is not None and not step.bare]
    placed = [step for step in made if is_placed(step.device)]
    for event, value in buffers:
        step = bare_creation(value)
        alike = [s for s in placed if step is not None and s.name == step.name and s.device == placed[0].device]
        stays = device_of(value) == CPU
        if step is not None and stays and step.scope == event.scope and len(alike) > 1:
            at = DraftStep(alike[0].node, alike[0].scope, "its sibling is made here", describe(alike[0].device))
            yield draft_of(
                step,
                alike[0].device,
                "another buffer",
                (at,),
                Confidence.MEDIUM,
                _REGISTERED,
                definitions=definitions,
            )


_LEFT = "what is not replaced stays on the CPU"
_JOINED = "joining them fails when the data gives both"
_REGISTERED = "until the module is moved they are on two devices"


def _receiver(event: Called) -> str:
    import libcst as cst

    function = event.call.node.func
    return code_of(function.value) if isinstance(function, cst.Attribute) else ""
