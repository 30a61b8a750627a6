"""The result of a tensor's transfer is thrown away, so the tensor stays where it was.

## What it does

Finds `.to(...)`, `.cuda()`, `.cpu()` and `.pin_memory()` on a tensor where nothing keeps the result: the call is a
statement of its own, the name it is assigned to is never read, or is the variable of the loop that it stands in and is
bound again. A list that a comprehension makes of the results, as a statement of its own, is no reader.

## Why is this bad

`Module.to` moves the module in place. `Tensor.to` does not move the tensor: it returns a copy on the other device.
Without a reader the copy is freed at once, the tensor stays where it was, and the next operation with something that
did move raises. What does not raise runs on the CPU without a word.

## Example

```python
import torch


def score(weights: torch.Tensor, sample: torch.Tensor, device: torch.device) -> torch.Tensor:
    weights = weights.to(device)
    sample.to(device)
    return weights @ sample
```

## Use instead

```python
import torch


def score(weights: torch.Tensor, sample: torch.Tensor, device: torch.device) -> torch.Tensor:
    weights = weights.to(device)
    sample = sample.to(device)
    return weights @ sample
```

## When it is right

- The receiver is a module: `model.cuda()` as a statement moves it.
- The receiver is an object that moves in place: a `BatchEncoding`, a PyG `Data`, a class of the project with a `to` of
  its own.
- Nothing is known of the receiver. Nothing is reported then, but for the items that a helper asks whether they have a
  `to` before it hands the same container back, unless it tells tensors apart. What is unpacked from a loader's batch,
  or is an item of it and called as tensors are, `batch["labels"]`, is taken for a tensor where nothing in the function
  uses it as a graph or an encoding of texts is used.
- The transfer goes where the tensor is already, so nothing is lost: also by the same question, `if settings.use_cuda:`,
  by which a function of the project has placed it. That the inputs of `forward` are together is
  assumed, so `mask.to(x.device)` says that they may not be. An attribute of `self` that a statement means to
  keep on the CPU is a warning: whatever is assigned to it later stays where that was made.
- What reads the tensor afterwards takes it from anywhere: `ctc_loss` brings its targets and lengths over itself. The
  statement does nothing then, and the confidence is low.
- It ends a cell of a notebook, which shows its value (`x.cuda();` with a semicolon shows nothing).
- The receiver is an expression without a name (`torch.zeros(1).cuda()` to start CUDA): there is nothing to keep.
- The variable of a loop goes back to where the loop's item is, after the loop has worked with a copy elsewhere.
- The same transfer is made again, and kept, before anything else reads the tensor: the first one is left over.
- The copy gets a name that nothing reads, and nothing reads the original either: a line that is left over.

## Fix safety

Unsafe. Assigning the result is what was meant, but later CPU uses of the name (numpy, printing, saving) see the moved
tensor from then on. A `.cuda()` in a function that is handed another tensor, a device or a module is a suggestion: one
of those says where to go.

## How a run confirms it

The transferred tensor dies before anything reads it, while its original is read afterwards.

## Known problems

A transfer that is only made to be timed looks the same. In benchmarks the confidence is low.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint import semantics
from devlint.drafts.changes import AssignResult
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import draft_step, provenance_of, trace_of
from devlint.drafts.wording import (
    code_of,
    describe_operand,
    device_of,
    failing_code,
    failure_condition,
    operand_and_placement,
    quoted,
)
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_conventions import (
    COMPUTED_OF,
    CONVENTIONS,
    HAS_A_SHAPE,
    MOVES_WITH_A_SHAPE,
    SIZE_IS_CALLED,
    draws_from_a_loader,
)
from devlint.placement.declarations.evidence_names import names_a_module
from devlint.placement.domain.abstract_values import Evidence, Instance, Opaque, Tensor, UnknownValue, Value
from devlint.placement.domain.events import Fate
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Choice, Device, SameAs, batch_of, describe, relate
from devlint.placement.domain.provenance import Step, StepKind, was_moved
from devlint.placement.syntax.nodes import descend, path_of
from devlint.rules.current_device import goes_to_current
from devlint.rules.moving.drawn_by_name import is_drawn_as_a_tensor
from devlint.rules.naming.device_candidates import candidates_of, is_part_of
from devlint.rules.rule import Rule
from devlint.semantics import Relation
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, DeviceMismatch, MismatchOperand, Moved, ReadAnywhere
    from devlint.placement.domain.scope import Scope


class DiscardedTransfer(Rule):
    code = "DEV201"
    name = "discarded-transfer"
    severity = Severity.ERROR
    error_when_confirmed = True
    claims_before = ("DEV205",)  # round-trip-to-current-device
    gives_way_to = ("DEV204",)

    def __init__(self) -> None:
        self._begun: dict[Scope, Begun] = {}
        self._lost: dict[int, Draft] = {}
        """By the identity of the transfer's node: a clash may add where it hurts."""
        self._of_any_item: dict[str, cst.CSTNode] = {}
        """By the batch's key: a lost transfer of whatever item, `batch[k].to(device)`."""
        self._harmless: set[int] = set()
        """Of those, the ones whose original is then read by what brings it over itself."""

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._begun[event.scope] = event
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        begun = self._begun.get(event.scope)
        confidence = _confidence(event, begun.node if begun is not None else None)
        if confidence is not None and begun is not None and event.fate == Fate.DISCARDED:
            from devlint.rules.moving.around_a_transfer import is_made_again

            if is_made_again(event.node, event.receiver_text, begun.node):
                return ()
        if confidence is not Confidence.HIGH and confidence is not None and self._is_used_as_a_module(event):
            return ()
        if confidence is not None and (event.fate != Fate.UNREAD or self._is_read_on(event)):
            batch = batch_of(getattr(event.receiver, "device", None))
            if batch is not None and path_of(event.receiver_node) is None:
                self._of_any_item[batch.key] = event.node
            self._lost[id(event.node)] = Draft(
                node=event.node,
                scope=event.scope,
                message=_message(event),
                confidence=confidence,
                trace=_trace(event),
                severity=Severity.WARNING if _stays_by_luck(event) else None,
                repair=self._repair(event),
            )
        return ()

    def _is_read_on(self, event: Moved) -> bool:
        """Whether the definition reads the original as well; else the name that nothing reads is a leftover."""
        import libcst as cst

        begun = self._begun.get(event.scope)
        if begun is None:
            return True
        nodes = list(descend(begun.node))
        bound = {id(node.target) for node in nodes if isinstance(node, cst.AssignTarget)}
        bound |= {id(node.name) for node in nodes if isinstance(node, cst.Param)}
        kind, original = type(event.receiver_node), event.receiver_node
        reads = (node for node in nodes if type(node) is kind and node is not original and id(node) not in bound)
        return any(code_of(node) == event.receiver_text for node in reads)

    def _is_used_as_a_module(self, event: Moved) -> bool:
        """`net.cuda()` beside `SGD(net.parameters())`: what no tensor can do is done with it in the same definition."""
        import libcst as cst

        begun = self._begun.get(event.scope)
        reads = (node for node in descend(begun.node) if isinstance(node, cst.Attribute)) if begun is not None else ()
        owners = (node.value for node in reads if node.attr.value in _OF_MODULES)
        return any(code_of(owner) == event.receiver_text for owner in owners)

    def _repair(self, event: Moved) -> Repair:
        """`.cuda()` is kept as it stands only where nothing at hand says another device."""
        if event.fate == Fate.REBOUND:
            return _STORED
        begun = self._begun.get(event.scope)
        if begun is not None and event.fate == Fate.DISCARDED and event.receiver_text.isidentifier():
            from devlint.rules.moving.around_a_transfer import item_of_loop, result_of_comprehension

            kept = result_of_comprehension(event.node, event.receiver_text, begun.node)
            if kept is not None:
                return Repair(Applicability.SUGGESTION, f"write `{kept}`") if kept else _STORED
            item = item_of_loop(event.node, event.receiver_text, begun.node)
            if item is not None:
                # Assigning the loop's variable would keep nothing (fixture `items_of_loops`).
                written = code_of(event.call.node)
                said = item and "#" not in written
                return Repair(Applicability.SUGGESTION, f"write `{item} = {written}`") if said else _STORED
            if _is_handed_back(event, begun.node):
                return _STORED
        repair = _repair(event.call.node, event.receiver_node, event.receiver_text)
        others = candidates_of(self._begun.get(event.scope), [(event.receiver_text, False)])
        if goes_to_current(event) and any(not is_part_of(event.receiver_text, other.name) for other in others):
            return replace(repair, applicability=Applicability.SUGGESTION)
        return repair

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
            step = _discarded(mine.value)
            batch = batch_of(device_of(mine.value))
            node = step.node if step is not None else self._of_any_item.get(batch.key) if batch is not None else None
            if node is None:
                continue
            draft = self._lost.get(id(node)) or (_from_clash(step, mine) if step is not None else None)
            if draft is None:
                continue
            consequence = f"; {operand_and_placement(theirs)}, so {failing_code(event)} fails"
            draft = replace(
                draft,
                message=draft.message + consequence + failure_condition(getattr(theirs.value, "device", None)),
                # Whatever made the receiver a likely tensor before, taking part in the operation made it a certain one.
                confidence=max(draft.confidence, Confidence.MEDIUM),
                trace=trace_of(event),
            )
            self._lost.pop(id(node), None)
            yield draft
            return

    def read_anywhere(self, event: ReadAnywhere) -> Iterable[Draft]:
        step = _discarded(event.value)
        if step is not None:
            self._harmless.add(id(step.node))
        return ()

    def finish(self) -> Iterable[Draft]:
        for node, draft in self._lost.items():
            yield replace(draft, confidence=Confidence.LOW) if node in self._harmless else draft


_STORED = Repair(Applicability.SUGGESTION, "store it where the loop's items are kept")


def _confidence(event: Moved, definition: cst.CSTNode | None) -> Confidence | None:
    """None where nothing is lost, or where nobody can say what the receiver is."""
    batch = batch_of(getattr(event.receiver, "device", None))
    if event.fate == Fate.REBOUND and batch is not None and draws_from_a_loader(batch.source):
        # What a loader hands out is made for this iteration: a copy that nobody reads is a line that is left over.
        return None
    if event.fate == Fate.REBOUND and was_moved(provenance_of(event.receiver)):
        # The iteration has its own copy, and takes that back where it came from (fixture `in_tuples_and_loops`).
        return None
    if event.fate not in (Fate.DISCARDED, Fate.UNREAD, Fate.REBOUND) or not event.moves or not _has_a_name(event):
        return None
    sure = _is_moved_by_value(event.receiver, event.method, event.receiver_text)
    if (
        sure is None
        and definition is not None
        and (
            (event.fate == Fate.DISCARDED and is_drawn_as_a_tensor(event, definition))
            or (event.fate in (Fate.DISCARDED, Fate.REBOUND) and _is_handed_back(event, definition))
        )
    ):
        sure = Confidence.MEDIUM
    if sure is None or (_goes_nowhere(event) and not _stays_by_luck(event)):
        return None
    if event.target == UNKNOWN:
        # `x.to(*args)` may be about the dtype alone; the result is lost all the same.
        sure = min(sure, Confidence.MEDIUM)
    return Confidence.LOW if event.scope.role is Role.BENCHMARK else sure


def _is_handed_back(event: Moved, definition: cst.CSTNode) -> bool:
    """Whether a helper that brings over whatever items it is given hands the same container back."""
    if not isinstance(event.receiver, (Opaque, UnknownValue)) or names_a_module(event.receiver_text):
        return False
    from devlint.rules.moving.around_a_transfer import is_item_handed_back

    return is_item_handed_back(event.node, event.receiver_text, definition, rebound=event.fate == Fate.REBOUND)


def _has_a_name(event: Moved) -> bool:
    """A temporary cannot be kept under its own name: `torch.zeros(1).cuda()` starts CUDA (fixture `warm_up`)."""
    import libcst as cst

    node: cst.CSTNode = event.receiver_node
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return isinstance(node, cst.Name)


_OF_MODULES = frozenset(
    {"parameters", "named_parameters", "eval", "train", "state_dict", "load_state_dict", "modules", "children"}
)


def _is_moved_by_value(value: Value, method: str, name: str) -> Confidence | None:
    match value:
        case Tensor(evidence=Evidence.CERTAIN):
            return Confidence.HIGH
        case Tensor():
            return None if _may_be_a_model(value, name) or _is_called_a_module(name) else Confidence.MEDIUM
        case Opaque(tensorlike=True):
            return None if _is_called_a_module(name) else Confidence.MEDIUM
        case Instance(type_name=type_name):
            transfer = semantics.transfer(type_name, method)
            return Confidence.HIGH if transfer is not None and transfer.discard_is_bug else None
        case _:
            return None


def _may_be_a_model(value: Tensor, name: str) -> bool:
    """An argument without annotation whose `.device` is read: models have one too (fixture `unknown_receiver`)."""
    import libcst as cst

    step = value.provenance.step if value.provenance is not None else None
    if step is None or not isinstance(step.node, cst.Param) or step.node.name.value != name:
        return False  # an item of the argument, or what was computed from it
    return step.node.annotation is None and step.note not in _OF_NO_MODEL


def _is_called_a_module(name: str) -> bool:
    """``self.module = self.make(*arguments)``: what an unknown function gives is no tensor where its name says so."""
    return names_a_module(name.rpartition(".")[2])


_OF_NO_MODEL = frozenset(CONVENTIONS[name] for name in (MOVES_WITH_A_SHAPE, HAS_A_SHAPE, SIZE_IS_CALLED, COMPUTED_OF))
"""Why an argument is taken for a tensor, where that says that it is no model: no model has a shape."""


def _goes_nowhere(event: Moved) -> bool:
    """`x.to(x.device)`, or `.cpu()` of a tensor made on the CPU: the result is the tensor itself."""
    device = _in_this_arm(getattr(event.receiver, "device", UNKNOWN), event)
    if event.method == "pin_memory" or relate(device, event.target) is not Relation.SAME:
        return False
    return not _is_assumed_together(event)


def _in_this_arm(device: Device, event: Moved) -> Device:
    """Where a tensor is that a function of the project placed by the same question: ``if settings.use_cuda:``.

    Fixture `placed_by_the_same_question`.
    """
    answers = {decided.guard.text: decided.holds for decided in event.arms}
    while isinstance(device, Choice) and device.guard.text in answers:
        device = device.then if answers[device.guard.text] else device.otherwise
    return device


def _is_assumed_together(event: Moved) -> bool:
    """`mask.to(x.device)` in `forward`, whose inputs are taken to be together: the statement says that they may not be.

    Both are where the module is, and neither was computed from the other.
    """
    device = getattr(event.receiver, "device", UNKNOWN)
    if not isinstance(device, SameAs) or device.symbol.anchor is not Anchor.MODULE or event.named is None:
        return False
    mine, theirs = provenance_of(event.receiver), getattr(event.named.value, "provenance", None)
    first = mine.first if mine is not None else None
    if first is None or first.kind is not StepKind.GIVEN:
        return False
    return theirs is None or theirs.first.node is not first.node


def _stays_by_luck(event: Moved) -> bool:
    """`self.table.cpu()` of a table on the CPU: wanted to keep it there, it keeps nothing (fixture `attributes`)."""
    on_cpu = getattr(event.receiver, "device", UNKNOWN) == CPU and event.target == CPU
    return on_cpu and event.method != "pin_memory" and event.receiver_text.startswith("self.")


def _message(event: Moved) -> str:
    if _stays_by_luck(event):
        call = quoted(event.call.node, f"`.{event.method}(...)`")
        return f"{call} as a statement keeps nothing on the CPU: `{event.receiver_text}` is where it was last assigned"
    call = quoted(event.call.node, f"`.{event.method}(...)`")
    how = _HOW.get(event.fate, "is thrown away")
    kept = f"`{event.receiver_text}`"
    device = getattr(event.receiver, "device", UNKNOWN)
    if event.method == "pin_memory":
        return f"{call} returns a pinned copy that {how}; {kept} stays in pageable memory"
    own = isinstance(device, SameAs) and device.symbol.name == event.receiver_text
    own = own or batch_of(device) is not None or _is_assumed_together(event)
    where = "where it was" if device == UNKNOWN or own else "on the CPU" if device == CPU else f"on {describe(device)}"
    return f"{call} returns a new tensor that {how}; {kept} stays {where}"


_HOW = {
    Fate.UNREAD: "is assigned to a name that nothing reads",
    Fate.REBOUND: "only the loop's variable gets",
}


def _trace(event: Moved) -> tuple[DraftStep, ...]:
    provenance = provenance_of(event.receiver)
    steps = (
        tuple(draft_step(step) for step in reversed(tuple(provenance)) if step.node is not event.node)
        if provenance
        else ()
    )
    goes = describe(event.target) if event.target != UNKNOWN else None
    return (*steps, DraftStep(event.node, event.scope, "this copy has no reader", goes))


def _repair(call: cst.CSTNode, receiver: cst.CSTNode, name: str) -> Repair:
    import libcst as cst

    written = code_of(call)
    message = f"write `{name} = {written}`" if "#" not in written else f"assign it to `{name}`"
    if isinstance(call, cst.Call) and isinstance(receiver, cst.BaseExpression):
        return Repair(Applicability.UNSAFE, message, (AssignResult(call, receiver),))
    return Repair(Applicability.SUGGESTION, message)


def _discarded(value: Value) -> Step | None:
    """The lost transfer, unless a later one was kept."""
    provenance = provenance_of(value)
    step = provenance.find(StepKind.DISCARDED, StepKind.MOVED) if provenance is not None else None
    return step if step is not None and step.kind is StepKind.DISCARDED else None


def _from_clash(step: Step, mine: MismatchOperand) -> Draft:
    """A receiver of unknown type that an operation then took as a tensor."""
    call = quoted(step.node, "the transfer")
    return Draft(
        node=step.node,
        scope=step.scope,
        message=f"{call} returns a new tensor that is thrown away; {describe_operand(mine)} stays where it was",
        repair=_repair(step.node, mine.node, code_of(mine.node)),
    )
