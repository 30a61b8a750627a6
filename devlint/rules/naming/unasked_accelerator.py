"""The code uses an accelerator without asking whether there is one, beside code that works without.

## What it does

Finds `.cuda()`, `.to("cuda")`, `device="cuda"`, `torch.device("cuda")`, and functions of `torch.cuda`, `torch.mps` and
`torch.xpu` that raise without their accelerator (`synchronize`, `get_device_name`, `with torch.cuda.device(0)`),
where nothing tests for one. It does so in files of which another place asks `torch.cuda.is_available()` or offers a
switch as `--no-cuda`; where only other files of a package do, with low confidence. It also finds such functions, and
`torch.cuda.set_device`, where the definition itself, the top level of a script or the constructor of the object chose a
device that is the CPU on other machines, or where the options say so; and what measures the work of a module, or of a
model that a caller hands in, in a package that works without an accelerator.

It finds functions that an object tells its own device, `torch.cuda.synchronize(self.device)`, where that is the CPU on
a machine without CUDA, or where another method asks whether it is: they refuse the CPU. It finds machines without CUDA
that are sent to another accelerator for which nothing asks, `"cuda" if torch.cuda.is_available() else "mps"`, and
questions about an accelerator whose two arms both go there; and transfers to CUDA where a switch or a device says that
none is in use, `if use_cuda: ... else: x = x.cuda()`.

## Why is this bad

The rest of the package runs on a machine without an accelerator, or with one of another kind. This line raises there:
"Torch not compiled with CUDA enabled", "Found no NVIDIA driver". On several accelerators it means the current one,
whatever the caller has chosen.

## Example

```python
import torch


def best_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load(path: str) -> torch.nn.Module:
    model = torch.jit.load(path, map_location="cpu")
    return model.cuda()
```

## Use instead

```python
import torch


def best_device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load(path: str) -> torch.nn.Module:
    model = torch.jit.load(path, map_location="cpu")
    return model.to(best_device())
```

## When it is right

- The object's constructor raises for some devices.
- The function tests for a device anywhere, or an early `raise` or `return` keeps other machines out.
- It stands in a `try` that catches what it raises, or is called under a test for a device. A private function may be
  called in such a `try`.
- The function or its class is named for CUDA or the GPU, or the file works with what needs one: Triton, NCCL, apex.
- No other place of the file asks: then whoever calls it may have done so (low), or, where no file of the package asks,
  it is made for machines with an accelerator.
- Those who call it have asked: the confidence is low, except for functions of `torch.cuda` in a definition that puts
  tensors on a device it is told, `device=self.device`, or is handed what may be anywhere, and measures in any case.
- A condition of any kind, `if distributed:`, stands before what a definition with a choice of its own calls.
- A method that others of its class call behind a test for the device, or may: it is private.
- The other accelerator is asked for in the function, or the system is, `platform.system() == "Darwin"`; one of a plugin
  is on every machine that has the plugin.
- The function speaks to a group of processes, `dist.all_reduce(x)`, which has an accelerator each as a rule.
- It is what a device argument gets where the caller left it out, or a default.
- Tests, benchmarks and notebooks; the top level of scripts, which is where a program chooses its device, unless it has
  chosen one that may be the CPU.

## Fix safety

No automatic repair: where the device comes from is a question of the interface.

## How a run confirms it

Run without an accelerator, the line raises.

## Known problems

A test in a caller in another file is not seen, nor one behind which the object was made that the method belongs to. On
code that nobody had looked at 2 of 15 of these findings were true: they are shown with `--min-confidence low`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import DeviceName
from devlint.placement.domain.events import Sink
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.device_words import speaks_of_devices
from devlint.repairs.bound_names import path_to
from devlint.rules.naming.device_candidates import candidates_of, falls_back
from devlint.rules.naming.halves_of_choices import HalvesOfChoices
from devlint.rules.naming.left_to_another import LeftToOthers
from devlint.rules.naming.noted_places import NotesPlaces, is_contract
from devlint.rules.naming.refused_by_cuda import refuses_the_cpu
from devlint.rules.naming.told_the_cpu import ToldTheCpu
from devlint.rules.naming.ways_out import asking, leaves_without, speak_of_devices, untried
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.semantics import is_device_probe, probe_for, raises_without
from devlint.source.outline import is_private
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import ArmsAlike, Begun, Called, Compared, LeftToAnother, Moved, Stored
    from devlint.placement.domain.lattice import Decided
    from devlint.placement.domain.scope import Scope
    from devlint.rules.naming.accelerator_places import Definition
    from devlint.rules.naming.device_candidates import Candidate

MOST_STEPS = 3
"""Further places of a definition that are shown."""

_ROLES = frozenset({Role.LIBRARY, Role.SCRIPT})


class UnaskedAccelerator(NotesPlaces, Rule):
    code = "DEV312"
    name = "unasked-accelerator"
    severity = Severity.WARNING
    gives_way_to = ("DEV102", "DEV201", "DEV204", "DEV301", "DEV309")
    gives_way_unless_surer = ("DEV302", "DEV307", "DEV603")
    wakes_at = any_of(device_named=always, moved=always, left_to_another=always, arms_alike=always)

    def __init__(self) -> None:
        super().__init__()
        self._told_the_cpu = ToldTheCpu()
        self._left = LeftToOthers()
        self._halves = HalvesOfChoices()
        self._calls: list[tuple[Called, str]] = []
        """Calls of functions that need an accelerator, and which one."""
        self._at_top: list[tuple[Called, str]] = []
        """The same of the top level of a script."""
        self._chosen_by_objects: dict[str, tuple[str, Stored]] = {}
        """By class: the device that its constructor chose by what the machine has, which may be the CPU."""
        self._under_tests: set[str] = set()
        """The last names of what is called under a test for a device, and of helpers whose failure a `try` catches."""
        self._asking: set[Scope] = set()
        """Definitions that call a probe, whatever they do with its answer."""
        self._of_groups: set[Scope] = set()
        """Definitions that speak to a group of processes, each with an accelerator as a rule."""
        self._refusing: set[str] = set()
        """Classes whose constructors raise for some devices: what they ask is answered for all methods."""
        self._untried: dict[Scope, frozenset[int]] = {}
        """By definition: the nodes that stand in it, and not in the body of a `try` that catches something."""

    @staticmethod
    def wakes_at_call(name: str) -> bool:
        return raises_without(name) is not None or refuses_the_cpu(name)

    def begun(self, event: Begun) -> Iterable[Draft]:
        built = event.scope.class_name if event.scope.setting is Setting.CONSTRUCTION else None
        if built is not None and leaves_without(event.node):
            self._refusing.add(built)
        self._left.begun(event)
        self._told_the_cpu.begun(event)
        self._halves.begun(event)
        return super().begun(event)

    def called(self, event: Called) -> Iterable[Draft]:
        super().called(event)
        self._told_the_cpu.called(event)
        self._left.called(event)
        if event.name.startswith("torch.distributed."):
            self._of_groups.add(event.scope)
        if speak_of_devices(event.arms):
            self._under_tests.add(event.name.rpartition(".")[2])
            self._halves.called(event)
            return ()
        if event.guarded and is_private(event.name):
            # A helper that tries something out: who calls it catches what it raises (fixture `tried_by_callers`).
            self._under_tests.add(event.name.rpartition(".")[2])
        if is_device_probe(event.name):
            self._asking.add(event.scope)
        kind = "CUDA" if refuses_the_cpu(event.name) else raises_without(event.name)
        if kind is None or event.on_cpu:
            return ()
        if event.scope.setting is not Setting.MODULE_LEVEL:
            self._calls.append((event, kind))
        elif event.scope.role is Role.SCRIPT:
            # The top level of a script is where it chooses its device: only what it chose speaks against these.
            self._at_top.append((event, kind))
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._told_the_cpu.stored(event)
        owner = event.scope.class_name
        in_constructor = event.scope.setting is Setting.CONSTRUCTION and event.target.startswith("self.")
        chosen = isinstance(event.value, DeviceName) and not event.value.or_none and falls_back(event.value)
        if in_constructor and owner is not None and chosen:
            self._chosen_by_objects.setdefault(owner, (event.target, event))
        return super().stored(event)

    def compared(self, event: Compared) -> Iterable[Draft]:
        self._told_the_cpu.compared(event)
        return super().compared(event)

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._left.moved(event)
        return super().moved(event)

    def left_to_another(self, event: LeftToAnother) -> Iterable[Draft]:
        self._left.left(event)
        return ()

    def arms_alike(self, event: ArmsAlike) -> Iterable[Draft]:
        self._left.alike(event)
        return ()

    def finish(self) -> Iterable[Draft]:
        yield from self._left.drafts()
        chosen = (*self._beside_a_choice(), *self._told_the_cpu.drafts(), *self._halves.drafts())
        yield from chosen
        told = {draft.scope for draft in chosen}
        found: dict[Scope, list[tuple[cst.CSTNode, str]]] = {}
        for node, scope, message in (*self._named(), *self._called()):
            if scope not in told:
                found.setdefault(scope, []).append((node, message))
        kinds = {id(event.node): kind for event, kind in self._calls}
        for scope, places in found.items():
            yield _draft(scope, places, self._told(scope, places), kinds.get(id(places[0][0]), "CUDA"))

    def _told(self, scope: Scope, places: Sequence[tuple[cst.CSTNode, str]]) -> Candidate | None:
        """What says where a definition works that calls functions of an accelerator.

        Where it puts something somewhere itself, else the module whose method it is, or what it is handed.
        """
        needing = [event for event, _ in self._calls if any(event.node is node for node, _ in places)]
        definition = self._places.of(scope)
        # An accelerator of a number, `torch.device("cuda", index)`, is no CPU.
        in_use = [one for one in definition.in_use if one.falls_back or not one.numbered]
        if not needing or in_use:
            return in_use[0] if needing else None
        # A switch may be there for those who have one, `if self.timing:`, and a helper's callers may ask.
        if is_private(scope.qualname) or not all(_only_measures(event, definition) for event in needing):
            return None
        at_hand = candidates_of(definition.begun, definition.moved)
        return next((one for one in at_hand if not (one.is_device or one.is_tensor)), None)

    def _named(self) -> Iterator[tuple[cst.CSTNode, Scope, str]]:
        """Places beside which nothing says the device: else it is DEV302 that speaks of them."""
        for definition, place, beside in self._told_beside():
            asked = place.weak or place.where_available or any(map(speaks_of_devices, place.conditions))
            filled_in = place.absent or definition.fills_in(place.node)
            is_told = beside is not None and beside.confidence is not Confidence.LOW
            if asked or filled_in or is_told or place.sink == Sink.DEVICE_TYPE:
                continue
            if self._may_be_told(place.scope, definition, place.node):
                yield place.node, place.scope, f"{quoted(place.node, f'`{place.text}`')} needs an accelerator"

    def _beside_a_choice(self) -> Iterator[Draft]:
        """Calls that are made in any case by a definition that chose a device, and would do with the CPU."""
        told: set[Scope] = set()
        for event, kind in (*self._calls, *self._at_top):
            scope = event.scope
            chosen = self._chosen_for(event) if scope not in told and scope.role in _ROLES else None
            if chosen is None or is_contract(scope):
                continue
            told.add(scope)
            name, node, where = chosen
            yield Draft(
                node=event.node,
                scope=scope,
                message=f"`{event.name}` raises on a machine without {kind}, where `{name}` is the CPU "
                "and the rest goes on",
                confidence=Confidence.MEDIUM,
                trace=(DraftStep(node, where, f"`{name}` places a value here"),) if node else (),
                repair=asking(kind),
            )

    def _chosen_for(self, event: Called) -> tuple[str, cst.CSTNode | None, Scope] | None:
        """The device that the definition of a call, or the object, works on, and chose by what the machine has."""
        scope, definition = event.scope, self._places.of(event.scope)
        begun = definition.begun
        # A condition of any kind may be there for those who have one (fixture `beside_a_choice`).
        if event.guarded or [one for one in event.arms if not _is_of_a_program(one)]:
            return None
        if begun is not None and (
            _conditions_of(event, definition) or id(event.node) not in untried(begun.node) or leaves_without(begun.node)
        ):
            return None
        in_use = next((one for one in definition.in_use if one.falls_back), None)
        if in_use is not None:
            return in_use.name, in_use.node, scope
        kept = self._chosen_by_objects.get(scope.class_name or "") if begun is not None else None
        # Who calls a helper of the class may have asked, and a method may ask for something else that it found.
        if kept is None or is_private(scope.qualname) or scope.qualname.rpartition(".")[2] in self._under_tests:
            return None
        return None if definition.tests_device else (kept[0], kept[1].node, kept[1].scope)

    def _called(self) -> Iterator[tuple[cst.CSTNode, Scope, str]]:
        for event, kind in self._calls:
            definition = self._places.of(event.scope)
            if refuses_the_cpu(event.name) or event.scope in self._of_groups:
                continue  # it names a number of the machine's, which only a choice beside it speaks against
            if not is_contract(event.scope) and self._may_be_told(event.scope, definition, event.node):
                yield event.node, event.scope, f"`{event.name}` raises on a machine without {kind}"

    def _may_be_told(self, scope: Scope, definition: Definition, node: cst.CSTNode) -> bool:
        begun = definition.begun
        if begun is None or scope.role not in _ROLES:
            return False
        if definition.tests_device or scope in self._asking or scope.class_name in self._refusing:
            return False
        if not self._under_tests.isdisjoint(scope.qualname.split(".")):
            return False
        # What the constructor of a Module places is DEV302's.
        in_module = begun.owner is not None and begun.owner.is_module and scope.setting is Setting.CONSTRUCTION
        if scope not in self._untried:
            self._untried[scope] = untried(begun.node)
        return not in_module and id(node) in self._untried[scope]


def _draft(scope: Scope, places: Sequence[tuple[cst.CSTNode, str]], told: Candidate | None, kind: str) -> Draft:
    """One finding a definition: it is mended by one test, or by one device that it is told.

    ``told``: what says where the definition works, beside a function that needs an accelerator; ``kind``: which.
    """
    (node, message), *others = {id(node): (node, message) for node, message in places}.values()
    steps = [DraftStep(other, scope, "it is taken for granted here as well") for other, _ in others[:MOST_STEPS]]
    beside = f"; `{told.name}` says where this works" if told is not None else ""
    if told is not None and told.node is not None:
        where = "places a tensor" if told.in_use else "comes in"
        steps.insert(0, DraftStep(told.node, scope, f"`{told.name}` {where} here"))
    return Draft(
        node=node,
        scope=scope,
        message=f"{message}, and nothing asks for one here, as is done elsewhere{beside}",
        # Who calls it has asked, as a rule: of those that readers judged on code that was new to them few were true.
        # Whoever names a device for what it makes may name the CPU.
        confidence=Confidence.LOW if told is None else Confidence.MEDIUM,
        trace=tuple(steps),
        repair=Repair(Applicability.SUGGESTION, f"take the device from the caller, or ask `{probe_for(kind)}()`"),
        premise=Premise.ASKS if told is None else Premise.GOES_ON_WITHOUT,
    )


_MEASURES = frozenset({"synchronize", "get_device_name", "get_device_capability", "reset_peak_memory_stats"})
"""Functions that a definition calls to say how long something takes and on what, whose work runs without them."""


def _only_measures(event: Called, definition: Definition) -> bool:
    """Whether it happens in any case, or where something holds that the definition has found, `if loss:`."""
    return event.name.rpartition(".")[2] in _MEASURES and _conditions_of(event, definition) <= _found(definition)


def _found(definition: Definition) -> set[str]:
    """The names that the definition binds itself."""
    handed = {name for name, _ in definition.begun.arguments} if definition.begun is not None else set()
    return definition.bound - handed


def _conditions_of(event: Called, definition: Definition) -> set[str]:
    """The questions around a call, in the source's words, also those that have one answer here."""
    import libcst as cst

    begun = definition.begun
    around = path_to(begun.node, event.node) if begun is not None and isinstance(begun.node, cst.FunctionDef) else []
    return {code_of(node.test) for node in around if isinstance(node, (cst.If, cst.IfExp))}


def _is_of_a_program(decided: Decided) -> bool:
    return decided.guard.text.startswith("__name__ ==")
