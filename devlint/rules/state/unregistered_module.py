"""A module keeps submodules or parameters in a plain list, tuple or dict, so they neither move nor train.

## What it does

Finds plain containers of modules or parameters stored on `self` of a module and used in another method, where nothing
registers them. Where a container holds what the constructor was handed as modules by its annotation, or came in as a
list or dict of modules, or as a list whose items are called and read as layers alone are, or holds layers in a row of
which nothing more is known, the confidence is medium.

## Why is this bad

`nn.Module` registers what is assigned to an attribute, not what lies inside a plain list. `.to()` does not move such
submodules, `parameters()` does not name them, `state_dict()` does not save them. On an accelerator the first call
raises; on the CPU the model runs and silently trains without them.

## Example

```python
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.floors = [nn.Linear(width, width) for _ in range(depth)]

    def forward(self, x):
        for floor in self.floors:
            x = torch.relu(floor(x))
        return x
```

## Use instead

```python
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.floors = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for floor in self.floors:
            x = torch.relu(floor(x))
        return x
```

## When it is right

- The same modules also go through `add_module`, `nn.ModuleList(self.floors)` or `nn.Sequential(*floors)`.
- A method brings a module over before it uses it (`self.floors[0].to(x.device)`). Several layers that the constructor
  builds are a warning all the same, unless the class freezes something: they do not train.
- Methods only ask how many there are: `len(self.columns)`.
- The modules hold neither parameters nor buffers, or those of any class are called losses, metrics or the like.
- What is kept are the parameters of a module that is registered itself: a move changes them in place. The buffers of a
  module are registered there.
- A method other than the constructor builds them where it is told, or where the data is.
- They are put on the device that the object keeps, as its inputs are: `Layer().to(self.device)`.
- The class has a `named_parameters` and a `state_dict` of its own that go through them, as what puts each of them on a
  device of its own does.
- A module of another class is built with all of them: `Heads(self.heads)`, which keeps them.
- The constructor is handed a list of them, by its annotation, and each construction in the file hands it a slice of an
  `nn.ModuleList`, `Part(self.layers[:4])`, which is one itself. What is not known there: low.
- A loader of the package builds whatever model it is asked for under `with torch.device(device):`, or a test sets the
  default device before it builds its own: low.
- Each wraps a layer of a part that is registered, `Block(layer)`, and makes none of its own for sure: low.
- The class is no module.

## Fix safety

Unsafe: `nn.ModuleList`, `nn.ModuleDict` and `nn.ParameterList` add keys to `state_dict`.

## How a run confirms it

The submodules are missing from `modules()`, and the model's parameters are on more than one device after `.to()`.

## Known problems

Registration by a function of another file is not seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import WrapStored
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, trace_of
from devlint.drafts.wording import code_of, describe_operand, failure, operand_and_placement
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, NAMED_LAYERS
from devlint.placement.domain.abstract_values import Container, DeviceName, Kind, Module, Tensor, Value
from devlint.placement.domain.class_facts import names_registered
from devlint.placement.domain.lattice import UNKNOWN, Device, is_given, is_set_as_device, leaves
from devlint.placement.domain.provenance import StepKind
from devlint.rules.rule import Rule
from devlint.rules.state.handed_lists import HandedLists
from devlint.rules.state.items_of_lists import brings_items, only_counts
from devlint.rules.state.layers_of_its_own import are_layers_of_its_own, freezes
from devlint.rules.state.lists_of_layers import are_layers_by_name, are_layers_by_use, hold_nothing_by_name
from devlint.rules.state.unregistered_tensor import stored_step
from devlint.rules.state.wrapped_parts import wraps_a_part

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.class_facts import AttributeFact
    from devlint.placement.domain.events import Begun, Called, ClassCompleted, DeviceMismatch, Event, Moved, Stored

CONSTRUCTOR = "__init__"
CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})


class UnregisteredModule(Rule):
    code = "DEV502"
    name = "unregistered-module"
    severity = Severity.ERROR
    error_when_confirmed = True
    of_moved_modules = True
    wrong_on_the_host = True
    claims_before = ("DEV501",)  # unregistered-tensor

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        for mine, theirs in event.left_behind:
            step = stored_step(mine.value, event.scope)
            if step is None or not _is_state(mine.value):
                continue
            yield Draft(
                node=step.node,
                scope=step.scope,
                message=f"{describe_operand(mine)} is kept in a plain container, so it stays on the CPU when "
                f"the module moves, but {operand_and_placement(theirs)}; {failure(event, theirs)}",
                trace=trace_of(event),
                repair=Repair(Applicability.UNSAFE, "keep it in an `nn.ModuleList` or `nn.ParameterList`"),
            )
            return

    def __init__(self) -> None:
        self._filled: dict[tuple[str, str], tuple[Event, Module]] = {}
        """By class and attribute: where a method other than the constructor puts a module of its own making."""
        self._handed_on: dict[int, set[str]] = {}
        """By the creation of a module: the parts of `self` that a method of theirs was called with it."""
        self._moved: set[tuple[str, str]] = set()
        """Attributes whose items the class itself puts back after a move."""
        self._brought: set[tuple[str | None, int]] = set()
        """By class and creation: modules that a method other than the constructor moves."""

        self._given_whole: set[tuple[str, str]] = set()
        """Containers, by class and attribute, that a module of another class is built with."""
        self._methods: dict[str, list[cst.CSTNode]] = {}
        """By class: its methods."""
        self._handed_lists = HandedLists()

    def begun(self, event: Begun) -> Iterable[Draft]:
        if event.owner is not None and event.owner.is_module:
            self._methods.setdefault(event.owner.qualname, []).append(event.node)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        """`self.tables[name] = nn.Embedding(...)`, wherever that stands."""
        attribute, bracket, _ = event.target.removeprefix("self.").partition("[")
        if bracket and event.target.startswith("self."):
            self._fill(event, attribute, event.value)
            if event.scope.class_name is not None and _is_moved(event):
                self._moved.add((event.scope.class_name, attribute))
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        """`self.layers.append(nn.Linear(...))`."""
        self._handed_lists.called(event)
        if event.scope.class_name is None:
            return ()
        if isinstance(event.result, Module):
            for argument in event.call.arguments:
                if isinstance(argument.value, Container) and (own := _own_attribute(argument.node)):
                    self._given_whole.add((event.scope.class_name, own))
        given = [argument for argument in event.call.arguments if isinstance(argument.value, Module)]
        if not given:
            return ()
        receiver, _, method = code_of(event.call.node.func).rpartition(".")
        if receiver.startswith("self."):
            attribute = receiver.removeprefix("self.").partition("[")[0]  # an item of it is filled, `self.rows[i]`
            for argument in given:
                self._handed_on.setdefault(_creation(argument.value), set()).add(attribute)
            if method == "append" and event.call.positional:
                self._fill(event, attribute, event.call.positional[0].value)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        """`self.nets[0].to(x.device)`: a Module moves in place, and every container that names it names it still."""
        provenance = event.receiver.provenance if isinstance(event.receiver, Module) else None
        # What is built and moved in one place stays where it was put, and so does what the constructor has built.
        built_here = event.scope.qualname.endswith(f".{CONSTRUCTOR}")
        if provenance is not None and provenance.first.scope != event.scope and not built_here:
            self._brought.add((event.scope.class_name, _creation(event.receiver)))
        return ()

    def _fill(self, event: Event, attribute: str, value: Value) -> None:
        if not isinstance(value, Module) or not value.holds_state or value.provenance is None:
            return
        built = value.provenance.step.kind is StepKind.MADE
        if built and any(leaf == UNKNOWN or is_given(leaf) for leaf in leaves(value.device)):
            # What is built when the module works, and told where that is, is there (fixture `built_where_it_works`).
            return
        if event.scope.class_name is not None and not event.scope.qualname.endswith(f".{CONSTRUCTOR}"):
            first = value.provenance.first
            # A module kept elsewhere as well, a compiled one say, is registered there.
            if first.kind is StepKind.MADE and first.scope == event.scope:
                self._filled.setdefault((event.scope.class_name, attribute), (event, value))

    def class_completed(self, event: ClassCompleted) -> Iterable[Draft]:
        facts = event.facts
        if not facts.info.is_module:
            return
        for fact in facts.attributes.values():
            if fact.registered:
                continue
            if are_layers_by_use(fact.name, fact.value, facts.info):
                yield from _handed_in_and_used(facts.info, fact, (facts.info.qualname, fact.name) in self._moved)
            if not isinstance(fact.value, Container):
                continue
            readers = _readers(facts.info, fact)
            if not readers:
                continue
            if (facts.info.qualname, fact.name) in self._moved:
                # `self.nets[0] = self.nets[0].to(x.device)` where it is used (fixture `moved_where_used`).
                continue
            if names_registered(fact.value, facts):
                # A move changes them in place, so that the container names them still.
                continue
            if readers >= _TELLING or (facts.info.qualname, fact.name) in self._given_whole:
                # The class tells of them itself, on purpose, or an object that it builds is given all of them to keep.
                continue
            filled, put = self._filled.get((facts.info.qualname, fact.name), (None, None))
            if filled is not None and any(brings_items(facts.info.method(name), fact.name) for name in readers):
                # What is put into it later is brought over where it is used (fixture `brought_by_methods`).
                continue
            modules = [value for value in (*fact.value.innermost, put) if isinstance(value, Module)]
            if modules and all(self._handed_on.get(_creation(one), set()) - {fact.name} for one in modules):
                # A graph, say, that registers what it is given.
                continue
            if any((facts.info.qualname, _creation(one)) in self._brought for one in modules):
                methods = self._methods.get(facts.info.qualname, ())
                if are_layers_of_its_own(fact, modules) and not any(map(freezes, methods)):
                    yield _untrained(facts.info, fact, readers)
                continue
            devices = {f.value.device for f in facts.attributes.values() if isinstance(f.value, DeviceName)}
            kept = _kept(fact.value, devices)
            likely = _likely_kept(fact.value)
            if _are_of_any_class(fact.value) and hold_nothing_by_name(fact.name):
                likely = False
            wrapped = modules and all(wraps_a_part(one, facts.info) for one in modules)
            # What a caller hands over as a list, by the annotation, may be a list that registers.
            handed_in = modules and all(map(_is_handed_in, modules))
            bears = self._handed_lists.confidence(facts.info, modules) if handed_in else Confidence.MEDIUM
            if bears is None:
                continue
            if kept:
                draft = _draft(facts.info, fact, kept, fact.value.keys is not None, readers)
                yield replace(draft, confidence=Confidence.LOW if wrapped else bears if handed_in else draft.confidence)
            elif likely:
                draft = _draft(facts.info, fact, "modules", fact.value.keys is not None, readers)
                yield replace(draft, confidence=bears if handed_in else Confidence.MEDIUM)
            elif are_layers_by_name(fact.name, fact.value, facts.info):
                draft = _draft(facts.info, fact, "modules", False, readers)
                assumed = DraftStep(fact.node, fact.scope, CONVENTIONS[NAMED_LAYERS], passes_on=False)
                yield replace(draft, confidence=Confidence.MEDIUM, trace=(*draft.trace, assumed))
            elif filled is not None and (others := readers - {filled.scope.qualname.rsplit(".", 1)[-1]}):
                draft = _draft(facts.info, fact, "modules", fact.value.keys is not None, others, filled)
                yield replace(draft, confidence=Confidence.LOW) if wrapped else draft


_TELLING = frozenset({"named_parameters", "state_dict"})
"""A class whose own methods of these names go through what it keeps has left it out of `_modules` on purpose."""


def _readers(info: ClassInfo, fact: AttributeFact) -> frozenset[str]:
    """The methods, but for the constructor, that do more with it than count its items (fixture `only_counted`)."""
    others = fact.loaded_in - {CONSTRUCTOR}
    return frozenset(name for name in others if not only_counts(info.method(name), fact.name))


def _handed_in_and_used(info: ClassInfo, fact: AttributeFact, moved: bool) -> Iterator[Draft]:
    """A list of which neither its annotation nor a call says what lies in it, where its items are used as layers."""
    readers = _readers(info, fact)
    brought = moved or any(brings_items(info.method(name), fact.name) for name in readers)
    if readers and not readers >= _TELLING and not brought:
        yield replace(_draft(info, fact, "modules", False, readers), confidence=Confidence.MEDIUM)


def _own_attribute(node: cst.CSTNode) -> str:
    """`heads` of `self.heads`; empty for anything else."""
    owner, _, name = code_of(node).rpartition(".")
    return name if owner == "self" else ""


def _untrained(info: ClassInfo, fact: AttributeFact, readers: frozenset[str]) -> Draft:
    draft = _draft(info, fact, "modules", isinstance(fact.value, Container) and fact.value.keys is not None, readers)
    names = ", ".join(f"`{name}`" for name in sorted(readers))
    return replace(
        draft,
        severity=Severity.WARNING,
        confidence=Confidence.MEDIUM,
        message=f"`self.{fact.name}` keeps modules in a plain container: {names} moves them at each call, but "
        "`parameters()` does not name them, so that no optimizer trains them and no checkpoint holds them",
    )


def _creation(module: Value) -> int:
    """As the identity of the node; 0 if it is not known."""
    provenance = module.provenance if isinstance(module, Module) else None
    return id(provenance.first.node) if provenance is not None else 0


def _is_moved(event: Stored) -> bool:
    import libcst as cst

    call = event.value_node
    function = call.func if isinstance(call, cst.Call) else None
    if not isinstance(function, cst.Attribute) or isinstance(function.value, cst.Call):
        # What is built and moved in one expression stays where it was put.
        return False
    return function.attr.value in ("to", "cuda")


def _kept(container: Container, kept_devices: Collection[Device]) -> str:
    """What of a module's state lies in the container: "modules", "parameters", or nothing."""
    for value in container.innermost:
        if isinstance(value, Module) and value.holds_state and not _goes_with_a_device(value, kept_devices):
            return "modules"
        if isinstance(value, Tensor) and value.kind is Kind.PARAMETER and not _goes_with_a_device(value, kept_devices):
            return "parameters"
    return ""


def _goes_with_a_device(value: Module | Tensor, kept_devices: Collection[Device]) -> bool:
    """`Layer().to(self.device)`: an object that keeps its device brings its inputs there, and is not moved as a whole.

    So it is with what is made there, `torch.empty(n, device=self.device)`. Fixtures `put_where_told`,
    `parameters_put_where_told`.
    """
    steps = value.provenance or ()
    put = any(step.kind is StepKind.MOVED or (step.factory is not None and not step.bare) for step in steps)
    return put and is_set_as_device(value.device) and value.device in kept_devices


def _made(container: Value) -> Iterator[DraftStep]:
    """Where the first thing with state in it is made: where the container is empty at first, that is another line."""
    for value in container.innermost if isinstance(container, Container) else ():
        provenance = value.provenance if isinstance(value, (Module, Tensor)) else None
        if _is_state(value) and provenance is not None and provenance.first.kind is StepKind.MADE:
            yield draft_step(provenance.first)
            return


def _likely_kept(container: Container) -> bool:
    """Whether a module lies in it that holds state as a rule: layers in a row, or what a module is handed."""
    return any(isinstance(value, Module) and _holds_state_as_a_rule(value) for value in container.innermost)


def _is_handed_in(module: Module) -> bool:
    return module.provenance is not None and module.provenance.first.kind is StepKind.GIVEN


def _are_of_any_class(container: Container) -> bool:
    return all(isinstance(one, Module) and one.type_name == "torch.nn.Module" for one in container.innermost)


def _holds_state_as_a_rule(module: Module) -> bool:
    if module.type_name == "torch.nn.Module":
        # A bare `nn.Module()` is made to be given submodules.
        return True
    if module.holds_state is not None or module.assumed:
        return False
    if module.info is None:
        return module.type_name in CONTAINERS
    bases = (base for one in module.info.order for base in one.resolved_bases if isinstance(base, str))
    given = module.provenance is not None and module.provenance.first.kind is StepKind.GIVEN
    return given or any(base in CONTAINERS for base in bases)


def _is_state(value: Value) -> bool:
    return isinstance(value, Module) or (isinstance(value, Tensor) and value.kind is Kind.PARAMETER)


def _can_hold(value: Value, kept: str) -> bool:
    """Whether the registering container takes all that is in this one: no containers in it, no other things."""
    if not isinstance(value, Container):
        return False
    if value.keys is not None and not all(isinstance(key, str) and key.isidentifier() for key in value.keys):
        return False
    if kept == "modules":
        return all(isinstance(item, Module) for item in value.values)
    return all(isinstance(item, Tensor) and item.kind is Kind.PARAMETER for item in value.values)


def _spelling_of_nn(info: ClassInfo) -> str:
    """How the file spells `torch.nn`, with its dot, by the base of the class; empty where it imports `Module` alone."""
    from devlint.placement.syntax.nodes import dotted

    names = (dotted(base.value) or "" for base in info.node.bases)
    return next((name.removesuffix("Module") for name in names if name.endswith("nn.Module")), "")


def _draft(
    info: ClassInfo,
    fact: AttributeFact,
    kept: str,
    keyed: bool,
    readers: frozenset[str],
    filled: Event | None = None,
) -> Draft:
    holder = {"modules": "Module", "parameters": "Parameter"}[kept] + ("Dict" if keyed else "List")
    names = ", ".join(f"`{name}`" for name in sorted(readers))
    trace = [*_made(fact.value), DraftStep(fact.node, fact.scope, "kept in a plain container here", "cpu")]
    if filled is not None:
        trace.append(DraftStep(filled.node, filled.scope, "a module is put into it here"))
    spelled = f"{_spelling_of_nn(info)}{holder}"
    return Draft(
        node=fact.node,
        scope=fact.scope,
        message=f"`self.{fact.name}` keeps {kept} in a plain container: `.to()` does not move them and `parameters()` "
        f"does not name them; {names} fails when the model is on an accelerator",
        confidence=Confidence.HIGH,
        trace=tuple(trace),
        repair=Repair(
            Applicability.UNSAFE,
            f"`self.{fact.name} = {spelled or f'nn.{holder}'}(...)` (adds keys to `state_dict`)",
            (WrapStored(fact.node, f"{spelled}("),) if spelled and _can_hold(fact.value, kept) else (),
        ),
    )
