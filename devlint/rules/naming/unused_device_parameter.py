"""A function takes a `device` and ignores it, overwrites it before it looks, or leaves it out where it calls itself.

## What it does

Finds parameters named `device` (or annotated as one) that the body never reads, or assigns anew before it reads them,
in functions that make or move tensors. So it finds `device or "cuda" if torch.cuda.is_available() else "cpu"`, which
Python reads as `(device or "cuda") if ... else "cpu"`: without CUDA the device that was asked for has no effect.

A function that goes into dicts, lists and nested objects by calling itself has to hand the device on: a call that
leaves it out puts these parts where the default says. The same holds of `use_cuda` and its kin, and of a method that
does nothing but call another one that takes a device.

A call that leaves out a device or a switch of a function that then works on the CPU is one of these where other calls
of the class, or of a function that is handed the same device, say it.

A call that leaves a device to a default which names an accelerator, `device="cuda"`, is one where the caller has a
device that may be another: its own parameter, that of its object, of a tensor it is handed, or what a script chose. So
is one that leaves it to what the machine has, `"cuda" if torch.cuda.is_available() else "cpu"`, where the caller is
told a device.

A device that is only looked at and kept where it is None, `if device is None: self.device = device`, was meant the
other way round.

A function that reads a file to the device, and gives back a module that it made on the CPU, has to move the module:
`load_state_dict` copies.

## Why is this bad

The caller says where the result should be and gets it somewhere else. Nothing raises in the function itself; what the
caller does with the result does, far away, or runs on the wrong device unnoticed.

## Example

```python
import torch


def causal_mask(size: int, device: torch.device) -> torch.Tensor:
    return torch.ones(size, size).tril()
```

## Use instead

```python
import torch


def causal_mask(size: int, device: torch.device) -> torch.Tensor:
    return torch.ones(size, size, device=device).tril()
```

## When it is right

- The signature is somebody else's: the method overrides one of a base class or may do so, other classes of the file
  have a method of that name, a decorator or a registry takes the function, `*args` and `**kwargs` show that it stands
  in for others.
- There is nothing to do yet: abstract methods, protocols, stubs, bodies that only raise.
- The documentation or a comment says that the parameter is ignored or deprecated.
- A tensor made without the device already clashes there: that is DEV101, which is repaired with the parameter.
- A function that makes and moves nothing itself, brings things to the CPU alone, or to where another argument is,
  `torch.zeros(n, device=x.device)`: there the confidence is low, as it is in tests. It is not where what the function
  makes is of a class that takes a parameter of that name and is told nothing.
- The recursion begins only once the device was heeded: its argument was moved before, its result is moved after, or a
  test of the parameter decides whether it runs.
- What an object keeps on an accelerator by default is brought elsewhere afterwards, and so is what is made where the
  machine has one; or the function looks at the device for other ends than to hand it on: it does not name it at all.
- A call says which tensor its result is written into, `fetch(rows, out=buffer)`: it goes there.
- Each call of a private function leaves it out: low.
- Parentheses around `(device or "cuda")` say that without CUDA all is to be on the CPU.

## Fix safety

There is no fix: what the device was meant for is not written anywhere. A choice that drops it gets parentheses as a
suggestion: on a machine without CUDA the program begins to use the device it was given. A recursive call gets the
argument as a suggestion.

## How a run confirms it

Called with `cuda:1`, the function returns tensors on another device.

## Known problems

Functions that are called by name from another file as one of several with the same signature look like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace, with_argument
from devlint.drafts.draft import Draft, DraftStep, Excuse, Repair
from devlint.drafts.wording import bare_creation, code_of, device_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, DeviceName, Module, Self, UnknownValue
from devlint.placement.domain.lattice import CPU, UNKNOWN, is_of_parameter
from devlint.placement.domain.provenance import StepKind
from devlint.placement.domain.scope import Setting
from devlint.rules.naming.left_to_accelerators import LeftToAccelerators
from devlint.rules.naming.made_untold import MadeUntold
from devlint.rules.naming.never_told import NeverTold
from devlint.rules.naming.told_elsewhere import ToldElsewhere
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.source.bare.nodes import is_bare
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import (
        Begun,
        Called,
        Created,
        DeviceMismatch,
        DeviceTold,
        LeftToAccelerator,
        Moved,
        ParameterIgnored,
        ParameterLeftOut,
        ParameterOnlyMaps,
        RequestDropped,
        Stored,
    )
    from devlint.placement.domain.lattice import Device
    from devlint.placement.domain.scope import Scope


MOST_STEPS = 3
"""Parts of an object that are shown."""


class UnusedDeviceParameter(Rule):
    code = "DEV308"
    name = "unused-device-parameter"
    severity = Severity.WARNING
    gives_way_to = ("DEV101",)  # creation-without-device
    wakes_at = any_of(
        device_told=always,
        left_to_accelerator=always,
        parameter_ignored=always,
        parameter_left_out=always,
        parameter_only_maps=always,
        request_dropped=always,
    )

    def __init__(self) -> None:
        self._ignored: list[ParameterIgnored] = []
        self._left_out: list[ParameterLeftOut] = []
        self._places: set[str] = set()
        """Definitions that put a tensor somewhere."""
        self._decides: set[str] = set()
        """Of those, the ones that do not just bring it to another argument."""
        self._kept: dict[tuple[str, str], Stored] = {}
        """By definition and attribute: the first device that it keeps on `self`."""
        self._clashing: set[str] = set()
        """Definitions where a tensor made without a device meets another."""
        self._left: dict[str, list[Called]] = {}
        """By constructor: the modules with state that it makes, and leaves where they are made."""
        self._told_elsewhere = ToldElsewhere()
        self._untold = MadeUntold()
        self._left_to_accelerators = LeftToAccelerators()
        self._never_told = NeverTold()

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._told_elsewhere.begun(event)
        return ()

    def left_to_accelerator(self, event: LeftToAccelerator) -> Iterable[Draft]:
        self._left_to_accelerators.note(event)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._untold.called(event)
        self._never_told.called(event)
        if event.scope.setting is Setting.CONSTRUCTION and _makes_a_part(event):
            self._left.setdefault(event.scope.qualname, []).append(event)
        return ()

    def device_told(self, event: DeviceTold) -> Iterable[Draft]:
        self._told_elsewhere.note(event)
        return ()

    def parameter_ignored(self, event: ParameterIgnored) -> Iterable[Draft]:
        self._ignored.append(event)
        return ()

    def parameter_left_out(self, event: ParameterLeftOut) -> Iterable[Draft]:
        self._left_out.append(event)
        return ()

    def parameter_only_maps(self, event: ParameterOnlyMaps) -> Iterable[Draft]:
        in_tests = event.scope.role in (Role.TEST, Role.BENCHMARK)
        yield Draft(
            node=event.node,
            scope=event.scope,
            message=f"`{event.name}` only says where the file is read: `load_state_dict` copies, and `{event.module}` "
            "stays on the CPU, where it was made",
            confidence=Confidence.LOW if in_tests else Confidence.MEDIUM,
            trace=(DraftStep(event.parameter, event.scope, f"`{event.name}` comes in here"),),
            repair=Repair(Applicability.SUGGESTION, f"move what is given back: `{event.module}.to({event.name})`"),
        )

    def request_dropped(self, event: RequestDropped) -> Iterable[Draft]:
        import libcst as cst

        choice = event.node
        assert isinstance(choice, cst.IfExp)
        assert isinstance(choice.body, cst.BooleanOperation)
        if not is_bare(choice) and _is_meant(choice):
            return
        asked, fallback = quoted(event.asked, "the device"), code_of(choice.body.right)
        test, otherwise = code_of(choice.test), code_of(choice.orelse)
        yield Draft(
            node=choice,
            scope=event.scope,
            message=f"without `{test}` this is `{otherwise}` whatever {asked} says: `or` binds tighter than `if`",
            confidence=Confidence.LOW if event.scope.role is Role.TEST else Confidence.MEDIUM,
            repair=Repair(
                Applicability.SUGGESTION,
                "put the choice of a default in parentheses",
                (Replace(choice, f"{code_of(event.asked)} or ({fallback} if {test} else {otherwise})"),),
            ),
            excuse=Excuse(choice, _is_meant),
        )

    def created(self, event: Created) -> Iterable[Draft]:
        # A sibling's device decides for a bare `zeros_like` or `x.new_zeros` (fixture `decided_elsewhere_low`).
        if event.factory.default not in ("self", "input") or event.named is not None:
            self._note_place(event.scope, device_of(event.named.value) if event.named is not None else None)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._left_to_accelerators.moved(event)
        # What is brought to the host is to be read there, by numpy or a library, wherever the caller's data are.
        if event.moves and event.target != CPU:
            self._note_place(event.scope, event.target)
        return ()

    def _note_place(self, scope: Scope, device: Device | None) -> None:
        self._places.update(_with_those_around(scope))
        if not is_of_parameter(device):
            self._decides.update(_with_those_around(scope))

    def stored(self, event: Stored) -> Iterable[Draft]:
        self._left_to_accelerators.stored(event)
        if (
            isinstance(event.owner, Self)
            and isinstance(event.value, (Constant, DeviceName))
            and event.attribute is not None
        ):
            self._kept.setdefault((event.scope.qualname, event.attribute), event)
        return ()

    def device_mismatch(self, event: DeviceMismatch) -> Iterable[Draft]:
        """A creation that clashes is DEV101's, and its repair uses the parameter (fixture `beside_a_clash`)."""
        for operand in (event.offending, event.other):
            step = bare_creation(operand.value)
            if step is not None:
                self._clashing.update(_with_those_around(step.scope))
        return ()

    def finish(self) -> Iterable[Draft]:
        # Where a call leaves the device out, handing it on is the repair of both.
        delegated = {(event.scope.qualname, event.name) for event in self._left_out}
        delegated |= self._left_to_accelerators.at_hand()
        for event in self._ignored:
            if event.scope.qualname in self._clashing or (event.scope.qualname, event.name) in delegated:
                continue
            if event.kept_absent is not None:
                yield _kept_where_absent(event, event.kept_absent)
                continue
            kept = self._kept.get((event.scope.qualname, event.name)) if event.overwritten is None else None
            if kept is not None:
                yield _chosen_instead(event, kept)
                continue
            yield Draft(
                node=event.overwritten or event.node,
                scope=event.scope,
                message=_message(event),
                confidence=self._confidence(event),
                trace=(*_trace(event), *self._made_without(event)),
                excuse=Excuse(event.definition, _says_so),
            )

        yield from self._told_elsewhere.drafts()
        yield from self._left_to_accelerators.drafts()
        for left_out in self._left_out:
            yield Draft(
                node=left_out.node,
                scope=left_out.scope,
                message=f"{quoted(left_out.node, 'the call')} leaves `{left_out.name}` to its default: "
                f"{_LOST[left_out.recursive]}",
                confidence=self._confidence_of_call(left_out),
                repair=Repair(
                    Applicability.SUGGESTION,
                    f"hand it on: `{left_out.name}={left_out.name}`",
                    with_argument(left_out.node, left_out.name, left_out.name),
                ),
                excuse=None if left_out.recursive else Excuse(left_out.definition, _says_so),
            )

    def _made_without(self, event: ParameterIgnored) -> list[DraftStep]:
        """The parts that a constructor makes and could have brought to the device."""
        made = (*self._untold.beside(event), *self._left.get(event.scope.qualname, ()))
        return [DraftStep(one.node, one.scope, "made here without it") for one in made[:MOST_STEPS]]

    def _confidence_of_call(self, event: ParameterLeftOut) -> Confidence:
        # What a recursion places shows in the same body; where another function is called, it is that one's work.
        places = not event.recursive or event.scope.qualname in self._places
        return Confidence.MEDIUM if places and event.scope.role is not Role.TEST else Confidence.LOW

    def _confidence(self, event: ParameterIgnored) -> Confidence:
        # What takes a device of that name would have done with it what the caller asks.
        decides = event.scope.qualname in self._decides or any(self._untold.beside(event))
        in_tests = event.scope.role in (Role.TEST, Role.BENCHMARK)
        told = not self._never_told.all_leave_out(event)
        return Confidence.MEDIUM if decides and told and not in_tests else Confidence.LOW


def _makes_a_part(event: Called) -> bool:
    """A module with state; what an unknown class makes is one where it is told so: ``Perceptual().eval()``."""
    made = event.result
    if isinstance(event.receiver, UnknownValue):
        return event.name == ".eval" and not event.call.arguments
    step = made.provenance.step if isinstance(made, Module) and made.provenance is not None else None
    if not isinstance(made, Module) or step is None or made.device not in (CPU, UNKNOWN):
        return False
    return step.kind is StepKind.MADE and step.node is event.node and made.holds_state is not False


def _chosen_instead(event: ParameterIgnored, kept: Stored) -> Draft:
    """`self.device = torch.device("cuda")` in a constructor that never looks at its `device`."""
    in_tests = event.scope.role in (Role.TEST, Role.BENCHMARK)
    return Draft(
        node=kept.node,
        scope=event.scope,
        message=f"`{kept.target}` is chosen here, and `{event.name}` is never read: what the caller says has no effect",
        confidence=Confidence.LOW if in_tests else Confidence.MEDIUM,
        trace=(DraftStep(event.node, event.scope, f"`{event.name}` comes in here"),),
        excuse=Excuse(event.definition, _says_so),
    )


def _kept_where_absent(event: ParameterIgnored, kept: cst.CSTNode) -> Draft:
    """`if device is None: self.device = device`: the test is the wrong way round."""
    in_tests = event.scope.role in (Role.TEST, Role.BENCHMARK)
    return Draft(
        node=kept,
        scope=event.scope,
        message=f"{quoted(kept, 'the assignment')} is reached only where `{event.name}` is None, and nothing else "
        "reads it: what the caller says has no effect",
        confidence=Confidence.LOW if in_tests else Confidence.MEDIUM,
        trace=(DraftStep(event.node, event.scope, f"`{event.name}` comes in here"),),
        repair=Repair(Applicability.SUGGESTION, f"turn the test round: `{event.name} is not None`"),
        excuse=Excuse(event.definition, _says_so),
    )


def _says_so(definition: cst.CSTNode) -> bool:
    """Whether a comment says that the parameter is not used."""
    import libcst as cst

    from devlint.placement.declarations.ignored_parameters import documented_as_unused

    return isinstance(definition, cst.FunctionDef) and documented_as_unused(definition)


def _is_meant(choice: cst.CSTNode) -> bool:
    """Whether parentheses say what belongs together."""
    import libcst as cst

    return isinstance(choice, cst.IfExp) and bool(choice.body.lpar)


def _with_those_around(scope: Scope) -> Iterator[str]:
    """A definition, and the functions that it is nested in: what it does is done for their callers."""
    name = scope.qualname
    yield name
    while scope.is_nested and "." in name:
        name = name.rpartition(".")[0]
        yield name


_LOST = {
    True: "parts of what the function is given do not follow the caller's device",
    False: "what the caller says has no effect",
}
"""By whether the function calls itself."""


def _message(event: ParameterIgnored) -> str:
    function = event.scope.qualname.rsplit(".", 1)[-1]
    if event.overwritten is not None:
        return f"`{event.name}` is overwritten before `{function}` reads it: what the caller says has no effect"
    return f"`{function}` never reads `{event.name}`: what it makes and moves does not follow the caller's device"


def _trace(event: ParameterIgnored) -> tuple[DraftStep, ...]:
    if event.overwritten is None:
        return ()
    return (DraftStep(event.node, event.scope, f"`{event.name}` comes in here"),)
