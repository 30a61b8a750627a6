"""A tensor created without a device meets tensors that the caller placed.

## What it does

Finds factory calls (`torch.zeros`, `torch.arange`, `torch.tensor`, `torch.from_numpy` and every other function that
makes a tensor) without `device=`, in functions that work on tensors of their caller, where the new tensor then meets
one of those tensors in an operation that needs one device, or is returned from `forward` or from a method of a Module
that is called in its place (`predict`, `encode`, `sample`, `score`, `calculate_loss` and the like). Also what a library
makes for a model that its caller placed, and that the file never moves: `model(torch.randn(1, 3, size, size))`, or
`model(**tokenizer(text, return_tensors="pt"))`. A call
that leaves out the device of a helper of the project, `causal_mask(n)` of `def causal_mask(n, device=None)`, is such a
creation as well.

The finding stands at the creation. Its trace leads to the operation that fails. Where a function of the project makes
the tensor, and would make it elsewhere if it were told where, it stands at the call that leaves the device out.

## Why is this bad

A factory without a device makes its tensor on the CPU. On a CPU-only machine everything agrees, so every test passes;
the first run on an accelerator ends with "Expected all tensors to be on the same device". A tensor that is only
returned does not fail here: it lands on the wrong device and fails in the caller's code, far from its cause.

## Example

```python
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width: int, tags: int) -> None:
        super().__init__()
        self.width = width
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, tags)

    def forward(self, words):
        hidden = torch.zeros(1, words.size(0), self.width)
        states, _ = self.rnn(words, hidden)
        return self.head(states)
```

## Use instead

```python
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width: int, tags: int) -> None:
        super().__init__()
        self.width = width
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, tags)

    def forward(self, words):
        hidden = torch.zeros(1, words.size(0), self.width, device=words.device)
        states, _ = self.rnn(words, hidden)
        return self.head(states)
```

`torch.zeros_like(x)`, `x.new_zeros(...)` and `.to(x.device)` are right as well; what cannot be moved is the line that
decides without looking.

## When it is right

- The value is moved later: on an outer call of the same expression, on another line, where it is used, by the caller.
- It is 0-dim (`torch.tensor(0.5)`) and stands where PyTorch reads a CPU scalar: out-of-place element-wise arithmetic.
- It is an index into `[]`: CPU indices are legal for tensors anywhere.
- Only its shape or its Python values are used.
- A method of a module sends it through its own layers and reads only the shape of the result. The confidence is low.
- A device context (`with torch.device(d):`) or a default device is in force.
- Its neighbours are CPU-only too: numpy, scipy, PIL, data loading. In a Dataset, a transform or a collate function the
  confidence is low. So it is in a function that reads files of h5py, or describes molecules of rdkit, and meets there
  what its caller gave.
- It has no items, as `torch.empty((0, 0))`, and meets in arithmetic what has: that fails by its shape on every device.
  So does what is written into it by an index. What another function gives for nothing, `return torch.empty(0)`: low.
- A function brings its argument to the host, and what it returns is an array, or was filled there: low. A list of what
  it found is for the tensors that it looked in.
- The work stands under `torch.autocast("cpu")`, in a class whose constructor asserts that its device is the CPU, or in
  a method that finds its module on the CPU, where another one brings it back: `self.to("cpu")`.
- What it meets was read of an object of the program's own class, `state.positions`, which the file fills with tensors
  that it makes on the CPU: low.
- It is filled with items that are brought to the CPU for it, `total[i] += loss.cpu()`: low.
- It is made of an array that `forward` computed on the host and hands back. The confidence is low, unless the inputs
  are brought there with `.cpu()`, which says that they are expected elsewhere.

## Fix safety

`device=x.device` is safe where `x` is an argument that is certainly a tensor - used as only a tensor can be, and
annotated as one or an attribute of it read on every path before - and is not bound to anything else in between. It is
unsafe where `x` is likely a tensor, or a local name, and for `torch.rand*` and the like: on another device the stream
of random numbers is another one. `torch.from_numpy` takes no device; there the repair is `.to(x.device)`, unsafe as
well. It is a suggestion where only the module says the place, where a generator is passed, where the function has a
device argument that it ignores, and where the name has another value by then. Where what it meets has no name, as the
result of a call has none, there is no edit.

## How a run confirms it

The tensor born at this place clashes in an operation, or an operation's output lands on the CPU while the module's
inputs are on the accelerator.

## Known problems

A function that is only ever called with CPU tensors looks like one that is not. Where the other operand is an argument
of a function that is not `forward`, the finding is a warning of medium confidence. The confidence is low where the
package brings what it keeps to `torch.get_default_device()`, where the docstring of the function, or its name, says
that it works on the CPU, where the constructor of the object keeps what it was given on the CPU, where the function
stands inside another one that does not return it, where the creation is at module level, and where the file hands a
helper of its own CPU tensors only. It is low as well in tests, which run what they define where they leave it, unless
the test names the accelerator itself, where a notebook hands what it made to a module that it does not move, and where
a method that names no device makes samples to export its own model with. Which methods are called in place of `forward`
is known by their names only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.trace import draft_step, provenance_of, trace_of
from devlint.drafts.wording import (
    came_of_a_callable,
    code_of,
    code_with,
    describe_operand,
    describe_placement,
    device_expression_of,
    device_of,
    failure,
    is_given_by_a_method,
    is_guessed_beside,
    is_of_another_class,
    operand_and_placement,
    other_creations,
    quoted,
)
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.domain.abstract_values import Function, Kind, Opaque, Tensor, Value
from devlint.placement.domain.lattice import CPU, Anchor, Device, Known, SameAs, is_device_by_name, leaves, may_be_cpu
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.domain.scope import Scope, Setting
from devlint.repairs.device_expressions import Definitions, repair_creation
from devlint.rules.creating.empty_results import fails_by_shape, stands_for_nothing
from devlint.rules.creating.handed_out import HandedOut
from devlint.rules.creating.inputs_for_models import InputsForModels
from devlint.rules.creating.left_to_defaults import LeftToDefaults
from devlint.rules.creating.made_by_default import is_default, made_in_the_body
from devlint.rules.creating.replaced_buffers import ReplacedBuffers
from devlint.rules.creating.samples_for_exporters import makes_samples_for_an_exporter
from devlint.rules.creating.shape_probes import is_shape_probe
from devlint.rules.creating.stored_beside import StoredBeside
from devlint.rules.creating.told_in_another_call import ToldInAnotherCall
from devlint.rules.rule import Rule
from devlint.semantics import library_models
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.domain.events import (
        Begun,
        Called,
        CallersModuleCalled,
        Created,
        DeviceMismatch,
        DeviceTold,
        HostRead,
        MismatchOperand,
        Moved,
        ParameterIgnored,
        ReadInCallee,
        Returned,
        Stored,
        WrittenByIndex,
    )


class CreationWithoutDevice(Rule):
    code = "DEV101"
    name = "creation-without-device"
    severity = Severity.ERROR
    error_when_confirmed = True
    of_callers_tensors = True
    of_bare_factories = True
    claims_before = ("DEV404",)  # cpu-only-argument

    def __init__(self) -> None:
        self._definitions = Definitions()
        self._handed_out = HandedOut(self._definitions)
        self._left_to_defaults = LeftToDefaults()
        self._for_models = InputsForModels(self._definitions, self._left_to_defaults)
        self._replaced = ReplacedBuffers()
        self._beside = StoredBeside()
        self._in_calls = ToldInAnotherCall()
        self._undecided: list[tuple[str, frozenset[str], Draft]] = []
        """Clashes with an argument: of higher confidence where nothing shows that the definition works on the host."""
        self._nested: list[tuple[str, Draft]] = []
        """Clashes in nested definitions, as they are where others call them."""
        self._handed_back: set[str] = set()
        """Definitions that another one returns, or makes a method of an object: who gets it calls it with their own."""
        self._of_plain_classes: set[str] = set()
        """Constructors whose objects nobody moves: they work with what they are given, where it is."""
        self._of_own_objects: dict[str, str] = {}
        """By the keys of arguments: the classes of the project, which nobody can move, that these are objects of."""
        self._filled_here: set[str] = set()
        """Classes of the project whose objects the file fills with tensors that it makes on the CPU."""
        self._of_movable: set[str] = set()
        """Methods of classes that are no Modules and have a transfer of their own."""
        self._on_host: dict[str, set[str]] = {}
        """By definition: the arguments that it hands, or what came of them, to numpy as they are."""
        self._prepares: set[str] = set()
        """Definitions that read data sets or describe molecules: they prepare data, for whoever moves it."""
        self._with_models: set[int] = set()
        """Of the clashes those with what a module says the place of: it is moved, whatever is prepared for it."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions.note(event)
        self._handed_out.begun(event)
        owner = event.owner
        if owner is not None and owner.kind is ClassKind.PLAIN:
            (self._of_movable if owner.defines("to", "cuda") else self._of_plain_classes).add(event.scope.qualname)
        self._of_own_objects.update(_of_own_objects(event))
        return ()

    def parameter_ignored(self, event: ParameterIgnored) -> Iterable[Draft]:
        self._definitions.note_ignored(event)
        return ()

    def device_told(self, event: DeviceTold) -> Iterable[Draft]:
        self._left_to_defaults.note(event)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        self._handed_out.created(event)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        if library_models.data_on_host(event.name):
            self._prepares.add(event.scope.qualname)
        self._handed_out.called(event)
        self._beside.called(event)
        self._in_calls.called(event)
        return self._replaced.called(event)

    def callers_module_called(self, event: CallersModuleCalled) -> Iterable[Draft]:
        self._for_models.called(event)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._for_models.moved(event)
        self._in_calls.moved(event)
        self._beside.moved(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._definitions.note_stored(event)
        self._handed_out.stored(event)
        self._beside.stored(event)
        self._in_calls.stored(event)
        if isinstance(event.owner, Opaque) and event.owner.info is not None and device_of(event.value) == CPU:
            self._filled_here.add(event.owner.info.qualname)
        if event.attribute is not None and isinstance(event.value, Function):
            self._handed_back.add(event.value.info.qualname)
        return self._replaced.stored(event)

    def written_by_index(self, event: WrittenByIndex) -> Iterable[Draft]:
        self._handed_out.written_by_index(event)
        return ()

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        for mine, theirs in event.left_behind:
            step = self._left_to_defaults.creation_of(mine.value)
            device = device_of(mine.value)
            if step is None or device is None or not may_be_cpu(device) or not _elsewhere(device_of(theirs.value)):
                continue
            draft = Draft(
                node=step.node,
                scope=step.scope,
                message=_message(event, mine, theirs, step),
                confidence=self._confidence(event, step, theirs),
                trace=trace_of(event),
                repair=self._repair(event, step, mine, theirs),
            )
            draft = self._left_to_defaults.at_the_call(draft, mine, theirs, event.scope)
            others = [other for other in other_creations(mine.value) if other is not step]
            if others:
                # Made here in one arm and there in another: what repairs them all is a move where they meet the rest.
                branches = tuple(draft_step(other) for other in others)
                where = device_expression_of(theirs)
                move = Repair(
                    Applicability.SUGGESTION,
                    f"bring it over where it is used: `.to({where})`",
                    suffixed(mine.node, f".to({where})") if where and mine.node is not event.node else (),
                )
                draft = replace(draft, node=mine.node, scope=event.scope, trace=(*branches, *draft.trace), repair=move)
            if step.scope.is_nested and draft.confidence is Confidence.LOW:
                likely = self._confidence(replace(event, placed_by_callers=True), step, theirs)
                self._nested.append((step.scope.qualname, replace(draft, confidence=likely)))
            if _may_probe(step.scope) and is_shape_probe(self._definitions.node_of(step.scope), step.node):
                draft = replace(draft, confidence=Confidence.LOW)
            if draft.confidence is Confidence.MEDIUM:
                # It fails where a caller says so: that callers do is assumed, not seen.
                self._undecided.append((event.scope.qualname, _given(theirs.value), draft))
                if _is_beside_a_module(theirs.value):
                    self._with_models.add(id(draft))
                draft = replace(draft, confidence=Confidence.LOW)
            yield draft
            return

    def _confidence(self, event: DeviceMismatch, step: Step, theirs: MismatchOperand) -> Confidence:
        name = event.scope.qualname
        if not (name in self._of_plain_classes and _is_given_to(event.scope, theirs)) and _while_it_is_built(
            event, step, theirs
        ):
            return Confidence.LOW
        symbols = [leaf.symbol for leaf in leaves(device_of(theirs.value) or CPU) if isinstance(leaf, SameAs)]
        of_module = bool(symbols) and all(symbol.anchor is Anchor.MODULE for symbol in symbols)
        # Samples are made of sizes; what holds data is computed with (fixture `traced_at_work`).
        of_sizes = step.factory is not None and step.factory.default == "default_device"
        if of_module and of_sizes and makes_samples_for_an_exporter(self._definitions.node_of(step.scope)):
            # A model that exports itself, where it was loaded (fixture `exported`).
            return Confidence.LOW
        sure = _confidence(event, step, theirs)
        # An object that is no Module is where its tensors are, by convention.
        of_object = of_module and name in self._of_plain_classes | self._of_movable
        return Confidence.MEDIUM if of_object and sure is Confidence.HIGH else sure

    def _repair(self, event: DeviceMismatch, step: Step, mine: MismatchOperand, theirs: MismatchOperand) -> Repair:
        if is_default(self._definitions.node_of(step.scope), step.node):
            return made_in_the_body(describe_operand(theirs))
        expression = self._definitions.for_operand(step, theirs)
        in_one_list = theirs.node is mine.node
        if in_one_list and expression is not None and expression.code == f"{code_of(theirs.node)}.device":
            return _AS_THE_OTHERS
        if expression is None and event.scope.class_name != step.scope.class_name:
            # What makes it knows nothing of the other operand (fixture `made_in_a_base`).
            where = device_expression_of(theirs)
            how = f": `{code_with(mine.node, f'.to({where})')}`" if where else ""
            return Repair(Applicability.SUGGESTION, f"bring it over where it is used{how}")
        if expression is None or is_of_another_class(theirs.value):
            absent = self._definitions.may_be_absent(step.scope, code_of(theirs.node), step.node)
            other = self._definitions.may_be_another_type(step.scope, code_of(theirs.node), step.node)
            where = ", where that is not None" if absent else ", where that is a tensor" if other else ""
            return Repair(Applicability.SUGGESTION, f"create it on the device of {describe_operand(theirs)}{where}")
        return repair_creation(step, expression)

    def host_read(self, event: HostRead) -> Iterable[Draft]:
        if event.wants_cpu:
            # What a module computes that an object moves says nothing of the host: there it fails as well.
            self._on_host.setdefault(event.scope.qualname, set()).update(_given(event.value, by_name=False))
        self._handed_out.host_read(event)
        self._replaced.host_read(event)
        return ()

    def read_in_callee(self, event: ReadInCallee) -> Iterable[Draft]:
        """What a function of another file reads on the host fails there before."""
        if not event.arms and event.read.scope.path != event.scope.path:
            self._on_host.setdefault(event.scope.qualname, set()).update(_given(event.value, by_name=False))
        return ()

    def returned(self, event: Returned) -> Iterable[Draft]:
        if isinstance(event.value, Function):
            self._handed_back.add(event.value.info.qualname)
        self._handed_out.returned(event)
        self._beside.returned(event)
        return ()

    def finish(self) -> Iterable[Draft]:
        """What is known only after the whole file: of one creation, first where it clashes."""
        yield from (draft for definition, draft in self._nested if definition in self._handed_back)
        for definition, arguments, draft in self._undecided:
            if self._prepares & {definition, draft.scope.qualname} and id(draft) not in self._with_models:
                continue
            if arguments and all(self._of_own_objects.get(key, "") in self._filled_here for key in arguments):
                # It is filled here, on the CPU, and is no tensor of a caller (fixture `own_objects`).
                continue
            read_on_host = self._on_host.get(definition, set()) | self._on_host.get(draft.scope.qualname, set())
            if arguments.isdisjoint(read_on_host):
                yield draft
        yield from self._handed_out.finish()
        yield from self._for_models.finish()
        yield from self._beside.finish()
        yield from self._in_calls.finish()


def _of_own_objects(event: Begun) -> Iterator[tuple[str, str]]:
    """``def step(self, state: State)``: of a class of the project that is no Module and tells of no device."""
    for _, value in event.arguments:
        if not isinstance(value, Opaque) or (info := value.info) is None:
            continue
        if info.kind is ClassKind.PLAIN and not info.defines("to", "cuda", "device"):
            yield from ((one.symbol.key, info.qualname) for one in leaves(value.device) if isinstance(one, SameAs))


def _elsewhere(device: Device | None) -> bool:
    """Whether some arm is an accelerator or the caller's decision."""
    if device is None:
        return False
    return any(isinstance(leaf, SameAs) or (isinstance(leaf, Known) and not leaf.on_cpu) for leaf in leaves(device))


def _given(value: Value, by_name: bool = True) -> frozenset[str]:
    """What the caller decides about the value's place; ``by_name``: also by devices that are named."""
    device = device_of(value) if isinstance(value, (Tensor, Opaque)) else None
    symbols = [leaf.symbol for leaf in leaves(device or CPU) if isinstance(leaf, SameAs)]
    return frozenset(symbol.key for symbol in symbols if by_name or symbol.anchor is not Anchor.EXPRESSION)


def _is_beside_a_module(value: Value) -> bool:
    """Whether a tensor is part of a module, or was computed by one: somebody moves that."""
    is_part = isinstance(value, Tensor) and value.kind in (Kind.PARAMETER, Kind.BUFFER)
    symbols = [leaf.symbol for leaf in leaves(device_of(value) or CPU) if isinstance(leaf, SameAs)]
    return is_part or came_of_a_callable(value) or any(symbol.anchor is Anchor.MODULE for symbol in symbols)


def _confidence(event: DeviceMismatch, step: Step, theirs: MismatchOperand) -> Confidence:
    empty = fails_by_shape(event, step, theirs) or stands_for_nothing(event, step)
    if Setting.HOST in (step.scope.setting, event.scope.setting) or empty:
        return Confidence.LOW
    anchors = set()
    for leaf in leaves(device_of(theirs.value) or CPU):
        if isinstance(leaf, SameAs):
            anchors.add(leaf.symbol.anchor)
        elif isinstance(leaf, Known) and not leaf.on_cpu:
            guessed = (
                step.note or event.assumed or is_guessed_beside(theirs.value) or is_given_by_a_method(theirs.value)
            )
            return Confidence.MEDIUM if guessed else Confidence.HIGH
    if step.scope.role is Role.NOTEBOOK and _definition(step.scope) != _definition(event.scope):
        # A notebook is the whole program: what it hands to a module that it never moves is where the module is.
        return Confidence.LOW
    if step.scope.role is Role.TEST:
        # What a test defines it runs itself, where it leaves it: on the CPU, as a rule.
        return Confidence.LOW
    if Anchor.MODULE in anchors and step.scope.setting is not Setting.MODULE_LEVEL:
        guessed = step.note or event.assumed or is_guessed_beside(theirs.value)
        return Confidence.MEDIUM if guessed else Confidence.HIGH
    by_name = any(map(is_device_by_name, leaves(device_of(theirs.value) or CPU)))
    said = event.callers_on_model or (by_name and step.scope.role is Role.SCRIPT)
    if step.scope.role in (Role.SCRIPT, Role.NOTEBOOK, Role.BENCHMARK) and not said:
        # The functions of a script or notebook are called by itself: on the CPU, more often than not, but for what they
        # bring to a device by its name, or a call hands them from a model (fixtures `a_script`, `helpers_of_scripts`).
        return Confidence.LOW
    # What a nested definition gives to the function around it meets that function's values. What is brought to a device
    # by its name is there, whoever calls (fixture `nested_beside_named_devices`).
    nested = step.scope.is_nested and event.scope.is_nested and not (event.placed_by_callers or by_name)
    if (nested and step.scope.around == step.scope.qualname) or any(
        _holds_checkpoint(leaf) for leaf in leaves(device_of(theirs.value) or CPU)
    ):
        return Confidence.LOW
    if event.callers_on_cpu:
        # A helper that this package only ever hands CPU tensors (fixture `contracts`).
        return Confidence.LOW
    return Confidence.MEDIUM


def _while_it_is_built(event: DeviceMismatch, step: Step, theirs: MismatchOperand) -> bool:
    """Whether what meets was made or handed in when the object was built: nothing of it has been moved yet.

    But for what the code at hand puts on an accelerator itself.
    """
    if any(isinstance(leaf, Known) and not leaf.on_cpu for leaf in leaves(device_of(theirs.value) or CPU)):
        return False
    came = provenance_of(theirs.value)
    if came is not None and _is_made_where_told(came.first):
        return False  # whoever builds the object says where this is, and the other one is made without
    if event.scope.setting is Setting.CONSTRUCTION:
        return True
    moved = came.find(StepKind.MOVED) if came is not None else None
    if moved is not None and moved.device != CPU and (moved.scope == step.scope or is_device_by_name(moved.device)):
        return False  # the object, or its constructor, moves one of them where it was told, and the other one not
    owners = {key.split(":", 1)[0] for key in _given(theirs.value)}
    return step.scope.setting is Setting.CONSTRUCTION and step.scope.qualname in owners


def _is_made_where_told(step: Step) -> bool:
    """`self.pos = torch.zeros(count, device=device)`, where somebody hands over the device; so is what a part computes
    that was brought there: `self.net = net.to(device)`."""
    made = step.kind is StepKind.COMPUTED or (step.kind is StepKind.MADE and not step.bare)
    return made and is_device_by_name(step.device)


def _is_given_to(scope: Scope, theirs: MismatchOperand) -> bool:
    """Whether what meets is where an argument of the definition is."""
    owners = {key.split(":", 1)[0] for key in _given(theirs.value, by_name=False)}
    return owners == {scope.qualname}


def _may_probe(scope: Scope) -> bool:
    """A module that asks itself for a shape does so while it is built, with a public method as well."""
    return scope.class_name is not None and scope.setting in (Setting.METHOD, Setting.CONSTRUCTION)


def _definition(scope: Scope) -> str:
    """The class of a method, else the function."""
    return scope.qualname.rpartition(".")[0] or scope.qualname


def _holds_checkpoint(device: Device) -> bool:
    """A `state_dict` that is handed in was read from a file, onto the CPU."""
    return isinstance(device, SameAs) and "state_dict" in device.symbol.name


def _message(event: DeviceMismatch, mine: MismatchOperand, theirs: MismatchOperand, step: Step) -> str:
    made = quoted(step.node, f"`{step.name}`")
    if theirs.node is mine.node:
        beside = f"what is beside it in {quoted(theirs.node, 'the list')} {describe_placement(theirs)}"
        return f"{made} is created on the CPU but {beside}; {failure(event, theirs)}"
    return (
        f"{describe_operand(mine)} is created on the CPU but {operand_and_placement(theirs)}; {failure(event, theirs)}"
    )


_AS_THE_OTHERS = Repair(Applicability.SUGGESTION, "create it on the device of what is beside it in the list")
