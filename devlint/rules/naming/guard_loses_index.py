"""A guard tests whether a tensor is on an accelerator, and the move behind it goes to whichever is current.

## What it does

Finds `if x.is_cuda: y = y.cuda()` and its kin: `x.device.type == "cuda"` for the question, `.to("cuda")`,
`device="cuda"` or `"cuda" if x.is_cuda else "cpu"` for the answer. So `if device != "cpu": model = model.cuda()`, where
the caller chose the device. So `y.type(x.type())` of what was made on the CPU: the type of a tensor says that it is on
CUDA, and not where; and `y.to(x.device.type)`. In a function that is named for the GPU and takes
tensors, the name stands for the question: there it finds `.cuda()` of what the function made on the CPU.

## Why is this bad

The guard finds out the right kind of device and forgets which one. `.cuda()` means the current device, most often
`cuda:0`. With `x` on `cuda:1`, `y` lands on `cuda:0` and the next line that uses both fails. With one GPU nothing
shows.

## Example

```python
import torch


def windowed(x: torch.Tensor) -> torch.Tensor:
    window = torch.hann_window(x.shape[-1])
    if x.is_cuda:
        window = window.cuda()
    return x * window
```

## Use instead

```python
import torch


def windowed(x: torch.Tensor) -> torch.Tensor:
    window = torch.hann_window(x.shape[-1], device=x.device)
    return x * window
```

## When it is right

- The answer says which one: `y.to(x.device)`, `y.cuda(x.device)`, `y.cuda(x.get_device())`.
- The current device is set from the tensor: `with torch.cuda.device(x.device):`.
- The question is not about a tensor: `if torch.cuda.is_available():`, `if use_cuda:`.
- The guard is followed by something that only has to be on any accelerator.
- The name that the answer is kept in is only asked for its type: `device.type == "cuda"`.
- The tensor that was tested gets a type: `if x.is_cuda: x = x.type(torch.cuda.FloatTensor)` leaves it on its GPU. So
  does `y.type(x.type())` of what is on a GPU already; `y.type_as(x)` brings it to the very one.
- In tests and benchmarks the confidence is low, and in a package that sets the current accelerator in each of its
  processes where nobody is on none (DEV302).

## Fix safety

`y.to(x.device)` is safe where the guard stands around the move: where it holds and `x` is on the current device it does
the same. It is unsafe where the answer was kept in a name, or `x` has got another value in between. `y.type_as(x)` for
`y.type(x.type())` is safe: it gives the same type, on the device of `x`.

## How a run confirms it

With `cuda:0` current and `x` on `cuda:1`, the moved value is found on `cuda:0`.

## Known problems

A guard that leaves the function early (`if not x.is_cuda: return y`) is not seen as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, DraftStep, Premise, Repair
from devlint.drafts.wording import bare_creation, code_of, is_certain, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import DeviceName, Tensor, Truth
from devlint.placement.domain.events import Fate, Sink
from devlint.placement.domain.lattice import CPU, Choice, Decided, is_movable
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.placement.syntax.nodes import contains, descend
from devlint.rules.current_device import LosesTheDevice, goes_to_current, is_current, named_instead, round_trip
from devlint.rules.naming.asked_for_its_type import is_asked_for_its_type
from devlint.rules.naming.chosen_by_the_caller import ChosenByTheCaller
from devlint.rules.naming.types_as_places import goes_by_type
from devlint.rules.waking import always, any_of
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Begun, Called, Compared, Created, DeviceNamed, Moved, Stored, Tested
    from devlint.placement.domain.scope import Scope

_TYPE = r"(?P<device>\.device|(?<![\w.])(?:\w+_)?device)\.type "
ON_ACCELERATOR = re.compile(r"\.is_(?:cuda|xpu)\b|" + _TYPE + r"(?:== ['\"](?:cuda|xpu)['\"]|!= ['\"]cpu['\"])")
"""What follows a tensor in the questions that hold where it is on an accelerator; or a device by its own name."""
ON_CPU = re.compile(r"\.is_cpu\b|" + _TYPE + r"== ['\"]cpu['\"]")
"""And in those that hold where it is not."""

NO_PLACE = frozenset({Sink.COMPARISON, Sink.DEVICE_TYPE})
"""A comparison and a type name no place to go. A transfer's own name is judged with the transfer."""


class GuardLosesIndex(LosesTheDevice):
    code = "DEV310"
    name = "guard-loses-index"
    severity = Severity.WARNING
    claims_before = ("DEV208",)  # moved-operand-forgotten
    wakes_at = any_of(device_named=always, moved=always, created=lambda event: event.named is not None)

    def __init__(self) -> None:
        super().__init__()
        self._definitions: dict[Scope, cst.CSTNode] = {}
        self._given: dict[Scope, tuple[str, ...]] = {}
        """By definition: its arguments that are tensors for certain."""
        self._flags: dict[tuple[str, str], str] = {}
        """By definition and name: the test whose result the name holds."""
        self._by_name = ChosenByTheCaller()
        self._told_by_name: list[Draft] = []
        self._tests: set[tuple[str, str]] = set()
        """By definition: tests of a tensor, as source text. `self.is_cuda` may be a setting."""

    def stored(self, event: Stored) -> Iterable[Draft]:
        """`on_gpu = x.is_cuda`, tested later."""
        self._by_name.stored(event)
        if isinstance(event.value, Truth) and event.value_node is not None and event.value.about_device:
            self._flags[event.scope.qualname, event.target] = code_of(event.value_node)
        return ()

    def called(self, event: Called) -> Iterable[Draft]:
        self._by_name.called(event)
        return ()

    def tested(self, event: Tested) -> Iterable[Draft]:
        if isinstance(event.value, Truth) and event.value.about_device:
            self._tests.add((event.scope.qualname, code_of(event.node)))
        return ()

    def compared(self, event: Compared) -> Iterable[Draft]:
        if isinstance(event.left, DeviceName) and event.left.is_type:
            self._tests.add((event.scope.qualname, code_of(event.node)))
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        if (draft := goes_by_type(event)) is not None:
            self._report_later(draft)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        if event.method == "to" and event.moves and (draft := goes_by_type(event)) is not None:
            self._report_later(draft)
            return ()
        self._note_type(event)
        # A value on its way back from the CPU is DEV205's (fixture `others`).
        if goes_to_current(event) and round_trip(event) is None:
            self._note(event.node, event.scope, event.arms, str(event.target), event)
            self._note_named(event)
            if is_named_for_accelerator(event.scope.qualname) and id(event.node) not in self._pending:
                self._note_contract(event)
        return ()

    def _note_type(self, event: Moved) -> None:
        """`torch.arange(n).type(x.type())`: on CUDA that is `torch.cuda.LongTensor`, which is the current device."""
        named = event.named
        if event.method != "type" or named is None or event.fate != Fate.USED or event.guarded:
            return
        # What is where the caller has it keeps its index under a type of the same kind.
        made_here = isinstance(event.receiver, Tensor) and event.receiver.device == CPU
        type_ = named.value
        if made_here and isinstance(type_, DeviceName) and type_.is_type and is_movable(type_.device):
            self._report_later(_draft_of_type(event, named.node, type_))

    def _note_named(self, event: Moved) -> None:
        """`if device != "cpu": model = model.cuda()`: the caller's device is asked for its type alone."""
        told = self._by_name.device_of(event)
        if told is not None and id(event.node) not in self._pending:
            device, question = told
            changes = named_instead(event, device)
            repair = Repair(Applicability.UNSAFE, f"name the device: `.to({device})`", changes)
            draft = _draft(event.node, event.scope, device, question, str(event.target), repair)
            self._told_by_name.append(replace(draft, confidence=Confidence.MEDIUM))

    def finish(self) -> Iterable[Draft]:
        # What becomes the current device is the one that the caller chose.
        told_by_name = () if self._by_name.sets_current else self._told_by_name
        for draft in (*super().finish(), *told_by_name):
            yield replace(draft, premise=Premise.CALLERS_CHOOSE)

    def _note_contract(self, event: Moved) -> None:
        """A function that is named for the GPU moves what it made on the CPU: to the current one, not to its inputs."""
        made = bare_creation(event.receiver)
        if made is None or not isinstance(event.receiver, Tensor) or event.receiver.device != CPU or event.guarded:
            return
        given = self._given.get(event.scope, ())
        if event.fate == Fate.USED and made.scope == event.scope and given:
            device = f"{given[0]}.device"
            changes = named_instead(event, device)
            repair = Repair(Applicability.SUGGESTION, f"name the device: `.to({device})`", changes)
            self._report_later(_draft_of_contract(event, given[0], repair))

    def device_named(self, event: DeviceNamed) -> Iterable[Draft]:
        if event.name is None or event.sink in NO_PLACE:
            return ()
        device = event.name.device
        if isinstance(device, Choice) and is_current(device.then):
            # `"cuda" if x.is_cuda else "cpu"`, wherever it is used.
            self._note(event.node, event.scope, (Decided(device.guard, True),), str(device.then))
        elif isinstance(device, Choice) and is_current(device.otherwise):
            self._note(event.node, event.scope, (Decided(device.guard, False),), str(device.otherwise))
        elif is_current(device) and event.sink in (Sink.ARGUMENT, Sink.DEVICE):
            self._note(event.node, event.scope, event.arms, event.text)
        return ()

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions[event.scope] = event.node
        self._by_name.begun(event)
        self._given[event.scope] = tuple(
            name
            for name, value in event.arguments
            if isinstance(value, Tensor) and is_certain(value) and is_movable(value.device)
        )
        return ()

    def _note(
        self,
        node: cst.CSTNode,
        scope: Scope,
        arms: tuple[Decided, ...],
        target: str,
        move: Moved | None = None,
    ) -> None:
        for decided in reversed(arms):
            guard = decided.guard.text
            test = self._flags.get((scope.qualname, guard), guard)
            subject = _subject(test, decided.holds)
            if subject is not None and self._is_device_test(scope, test, guard):
                definition = self._definitions.get(scope)
                if move is None and definition is not None and not contains(definition, node):
                    # The test is about what another definition named (fixture `named_in_the_constructor`).
                    return
                if move is None and is_asked_for_its_type(definition, node):
                    # Nothing goes there: the name answers the same question again (fixture `keeps_the_index`).
                    return
                if move is not None and move.method == "type" and f"{code_of(move.receiver_node)}.device" == subject:
                    # What is on an accelerator keeps its index with a type of that kind.
                    return
                repair = self._repair(node, scope, subject, test, move)
                self._report_later(_draft(node, scope, subject, guard, target, repair))
                return

    def _repair(self, node: cst.CSTNode, scope: Scope, device: str, test: str, move: Moved | None) -> Repair:
        """Safe where the test stands around the move itself and its subject is the same in both places."""
        message = f"name the device: `.to({device})`" if move is not None else f"name the device: `{device}`"
        changes = named_instead(move, device) if move is not None else (Replace(node, device),)
        function = self._definitions.get(scope)
        steady = _is_tested_around(test, device, function, node)
        return Repair(Applicability.SAFE if steady else Applicability.UNSAFE, message, changes)

    def _is_device_test(self, scope: Scope, test: str, guard: str) -> bool:
        """Whether a tensor or a device is tested, and no setting with such a name (fixture `keeps_the_index`)."""
        return test != guard or any(where == scope.qualname and text in test for where, text in self._tests)


def _subject(question: str, holds: bool) -> str | None:
    """How to spell the device that the question is about, where its answer is "an accelerator"."""
    if " or " in question:
        # Either side may have held.
        return None
    if " and " in question:
        if not holds:
            return None
        # Each of the joined questions held, and a "not" is of its own (fixture `joined_questions`).
        joined = re.sub(r"^\(\s*|\s*\)$", "", question).split(" and ")
        return next((subject for one in joined if (subject := _subject(one.strip(), holds)) is not None), None)
    negated = question.startswith("not ")
    found = (ON_ACCELERATOR if holds is not negated else ON_CPU).search(question)
    if found is None:
        return None
    named = found.groupdict().get("device") or ""
    if named and not named.startswith("."):
        return named
    subject = _expression_before(question, found.start())
    return None if not subject or subject.startswith("torch.") else f"{subject}.device"


def _expression_before(text: str, end: int) -> str:
    """The names, attributes and balanced brackets that end there: `next(model.parameters())`."""
    depth, start = 0, end
    while start > 0:
        character = text[start - 1]
        depth += (character in ")]") - (character in "([")
        if depth < 0 or (depth == 0 and not (character.isalnum() or character in "_.([")):
            break
        start -= 1
    return text[start:end]


def _is_tested_around(test: str, device: str, function: cst.CSTNode | None, node: cst.CSTNode) -> bool:
    """Whether an `if` around the node has this test, and nothing in it rebinds the name that is tested."""
    import libcst as cst

    from devlint.repairs.bound_names import is_untouched_since

    if not isinstance(function, cst.FunctionDef) or "(" in device:
        return False
    root = device.split(".")[0].split("[")[0]
    tests = [
        part
        for part in descend(function.body)
        if isinstance(part, (cst.If, cst.IfExp)) and code_of(part.test) == test and contains(part, node)
    ]
    return bool(tests) and is_untouched_since(root, tests[-1], function, node)


def _draft_of_type(event: Moved, named: cst.BaseExpression, type_: DeviceName) -> Draft:
    import libcst as cst

    call = event.call.node
    changes: tuple[Change, ...] = ()
    spelled = named.func.value if isinstance(named, cst.Call) and isinstance(named.func, cst.Attribute) else None
    subject = code_of(spelled) if spelled is not None else "..."
    if spelled is not None and isinstance(call.func, cst.Attribute) and [one.keyword for one in call.args] == [None]:
        changes = (Replace(call.func.attr, "type_as"), Replace(named, subject))
    low = event.scope.role in (Role.TEST, Role.BENCHMARK)
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{quoted(event.node, 'the move')} means the current device; `{code_of(named)}` tells the type of a "
        "device and not which one it is",
        confidence=Confidence.LOW if low else Confidence.MEDIUM if type_.by_convention else Confidence.HIGH,
        trace=(DraftStep(event.node, event.scope, "goes to the current device", "cuda", passes_on=False),),
        repair=Repair(
            Applicability.SAFE if changes else Applicability.SUGGESTION,
            f"name the tensor: `.type_as({subject})`",
            changes,
        ),
    )


def _draft_of_contract(event: Moved, given: str, repair: Repair) -> Draft:
    low = event.scope.role is not Role.LIBRARY
    return Draft(
        node=event.node,
        scope=event.scope,
        message=f"{quoted(event.node, 'the move')} means the current device; the function's name settles the type, "
        f"and `{given}` which one it is",
        confidence=Confidence.LOW if low else Confidence.MEDIUM,
        trace=(DraftStep(event.node, event.scope, "goes to the current device", str(event.target), passes_on=False),),
        repair=repair,
    )


def _draft(node: cst.CSTNode, scope: Scope, device: str, question: str, target: str, repair: Repair) -> Draft:
    test = scope.role in (Role.TEST, Role.BENCHMARK)
    moved = quoted(node, "the move")
    return Draft(
        node=node,
        scope=scope,
        message=f"{moved} means the current device; `{question}` tells the type of `{device}` and not which one it is",
        confidence=Confidence.LOW if test else Confidence.HIGH,
        trace=(DraftStep(node, scope, "goes to the current device", target, passes_on=False),),
        repair=repair,
    )
