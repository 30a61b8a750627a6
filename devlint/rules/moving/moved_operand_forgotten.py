"""The model is moved, or part of a batch, and another part of the batch is used unmoved.

## What it does

Finds loops over batches that move some of a batch's tensors to the model's device and hand another one to the same
computation as it came: the labels, a mask, the lengths. Also a model that was moved and that is called with what a
loader hands out, as it came, or a method of its class, `model.loss(batch)`, that computes with it and moves nothing;
and in a library a model that its caller placed, called in that way by a function or class that puts other things where
they belong. The fields of an object are such parts as well: `graph.edge_index` beside `graph.x.to(device)`, where a
model that was moved is called with both. So are the tensors of a dict or a list that a caller keeps: `weights["bias"]`
beside `weights["matrix"].to(device)`.

A loss of unknown class compares whatever it is called with: `loss(model, x, y)`, `model.compute_loss(x, y)`. What a
model makes of something unknown is where items of the batch are moved: `model(attack.perturb(x, y))`.

The model may be moved by a caller in the same file: `main` calls `net.to(device)` and `evaluate(net, loader)`. Of one
class, a method that moves its batches before `self.model` gets them shows where the model is for another one that does
not, also through methods of the class.

An argument that one operation gets moved and another one as it came, beside tensors of the same place, is the same
mistake: `codes.to(table.device) - table`, then `table[0] - codes`.

## Why is this bad

A loader yields CPU tensors. On a CPU-only machine moving them changes nothing, so nothing is missed; on an accelerator
the loss gets its scores from there and its targets from the CPU, and raises
"Expected all tensors to be on the same device".

## Example

```python
import torch
from torch import nn
from torch.utils.data import DataLoader


def evaluate(model: nn.Module, loader: DataLoader, device: torch.device) -> float:
    model.to(device)
    criterion = nn.CrossEntropyLoss()
    total = 0.0
    for images, labels in loader:
        images = images.to(device)
        total += criterion(model(images), labels).item()
    return total
```

## Use instead

```python
import torch
from torch import nn
from torch.utils.data import DataLoader


def evaluate(model: nn.Module, loader: DataLoader, device: torch.device) -> float:
    model.to(device)
    criterion = nn.CrossEntropyLoss()
    total = 0.0
    for images, labels in loader:
        images = images.to(device)
        labels = labels.to(device)
        total += criterion(model(images), labels).item()
    return total
```

## When it is right

- The other part is moved too: on another line, at its use, in a helper that moves the whole batch.
- A transfer follows the dtype, `mask.to(scores)`, or stands under a test of the device or in another arm.
- The results come back before they meet it: `criterion(model(images).cpu(), labels)`.
- A helper is handed the whole container and the device: `move_all(weights, device)`.
- It is only used on the host: `labels.tolist()`, `len(labels)`, a CPU index.
- Nothing of the batch is moved by hand: a trainer, an accelerator, `DataParallel` or the model's own `forward` does it,
  or the data set's tensors lie on the device. Where some data set of the package brings its items over, what a loader
  hands out is told at confidence low.

- It meets what is where another argument of the same function is, as the result of a model that is handed in: one
  caller has put both somewhere. The confidence is low.

## Fix safety

A suggestion: `labels.to(device)` where it is used, or beside the other move. Other uses may want the CPU tensor.

## How a run confirms it

The two operands clash, and the offending one comes from outside and is never moved.

## Known problems

A loader that yields tensors on the accelerator already makes the move of the first part idle and the second one right.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import InsertBefore, suffixed
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.trace import provenance_of, trace_of
from devlint.drafts.wording import (
    code_of,
    describe_operand,
    device_expression_of,
    device_of,
    failure,
    is_guessed_beside,
    is_module,
    operand_and_placement,
    quoted,
)
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.evidence_conventions import (
    BESIDE_BATCHES,
    COLLATED,
    CONVENTIONS,
    draws_from_a_loader,
    names_a_batch,
)
from devlint.placement.domain.abstract_values import Opaque, Value
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Choice,
    Device,
    SameAs,
    Symbol,
    describe,
    is_device_by_name,
    is_of_parameter,
    leaves,
)
from devlint.placement.domain.provenance import Step, StepKind, rests_on
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import is_part_of_rows
from devlint.repairs.bound_names import path_to
from devlint.repairs.device_expressions import Definitions
from devlint.rules.moving.batches_for_models import BatchesForModels
from devlint.rules.moving.batches_of_one_class import BatchesOfOneClass, hands_on_a_batch
from devlint.rules.moving.moved_for_one_use import MovedForOneUse
from devlint.rules.rule import Rule
from devlint.rules.waking import always, any_of
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import (
        Begun,
        Called,
        CallersModuleCalled,
        ClassCompleted,
        Created,
        DeviceMismatch,
        MismatchOperand,
        Moved,
        Stored,
    )
    from devlint.placement.domain.scope import Scope

_LONGEST = 60
"""Characters of a loader's expression that a message shows."""


class MovedOperandForgotten(Rule):
    code = "DEV208"
    name = "moved-operand-forgotten"
    severity = Severity.ERROR
    error_when_confirmed = True
    claims_before = ("DEV101",)  # creation-without-device
    wakes_at = any_of(callers_module_called=always, called=hands_on_a_batch)

    def __init__(self) -> None:
        self._moves: dict[str, Moved] = {}
        """By the batch's key: the first of its items that was moved."""
        self._objects: set[str] = set()
        """Keys of arguments that are objects and one of whose fields was moved."""
        self._reported: dict[tuple[str, str], Draft] = {}
        """By batch and item: one item left behind is one cause, wherever it is used."""
        self._kept: dict[tuple[str, str, str], cst.BaseExpression] = {}
        """What a definition stores in a dict of its own, by its name, the dict's and the key."""
        self._definitions = Definitions()
        self._for_models = BatchesForModels()
        self._of_one_class = BatchesOfOneClass()
        self._for_one_use = MovedForOneUse()

    def called(self, event: Called) -> Iterable[Draft]:
        self._for_models.called(event)
        self._of_one_class.called(event)
        return ()

    def stored(self, event: Stored) -> Iterable[Draft]:
        import libcst as cst

        self._of_one_class.stored(event)
        if event.attribute is not None and isinstance(event.node, cst.Subscript) and event.value_node is not None:
            self._kept[event.scope.qualname, code_of(event.node.value), event.attribute] = event.value_node
        return ()

    def class_completed(self, event: ClassCompleted) -> Iterable[Draft]:
        self._of_one_class.class_completed(event)
        return ()

    def created(self, event: Created) -> Iterable[Draft]:
        self._for_models.created(event)
        return ()

    def callers_module_called(self, event: CallersModuleCalled) -> Iterable[Draft]:
        self._for_models.model_called(event)
        return ()

    def begun(self, event: Begun) -> Iterable[Draft]:
        self._definitions.note(event)
        return ()

    def moved(self, event: Moved) -> Iterable[Draft]:
        self._for_models.moved(event)
        self._of_one_class.moved(event)
        self._for_one_use.moved(event)
        before = getattr(event.receiver, "device", None)
        if event.is_field and isinstance(before, SameAs):
            self._objects.add(before.symbol.key)
        batch = self._batch(before)
        moves = event.moves and event.target != before and event.method != "type_as"
        if batch is not None and moves and _is_item(event, batch):
            self._moves.setdefault(batch.key, event)
        return ()

    def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
        for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
            device = device_of(mine.value)
            batch = self._batch(device)
            if device is None or UNKNOWN in leaves(device):
                continue  # some of it was put elsewhere: `batch[name] = batch[name].to(device)`
            if _is_made_in_one_arm(mine.value):
                continue  # `x = torch.cat(items) if items else torch.tensor([])`: what was made is to be told where
            if batch is None or (batch.anchor is Anchor.PARAMETER and batch.key not in self._moves):
                continue
            if batch.anchor is Anchor.BATCH and device_of(theirs.value) == CPU:
                continue  # parts of what a model made of it, of which one was brought to the CPU
            key = batch.key
            # Of `model(**inputs)` what was put into `inputs`.
            kept = self._kept.get((event.scope.qualname, code_of(mine.node), mine.role))
            mine = replace(mine, node=kept) if kept is not None else mine
            scope = event.scope
            if event.calls and _is_handed_over(event.calls[0][0]):
                # It is moved where it came with the batch, and not in the function that it is handed to.
                node, scope = event.calls[0]
                mine = replace(mine, node=node)
            item = code_of(mine.node)
            draft = self._reported.get((key, item))
            if draft is None:
                sibling = self._moves.get(key)
                draft = _draft(event, mine, theirs, sibling, batch)
                target = _place_of_sibling(sibling) if sibling is not None else _place_of_model(theirs, scope)
                near = sibling is None or sibling.scope == scope
                repair = _repair(mine, target, self._definitions.node_of(scope) if near else None, near=near)
                draft = self._reported[key, item] = replace(draft, scope=scope, repair=repair)
            yield replace(draft)
            return
        yield from self._for_one_use.claim(event)

    def finish(self) -> Iterable[Draft]:
        told = {batch for batch, _ in self._reported}
        yield from self._of_one_class.finish(told)
        yield from self._for_models.finish(self._moves, told)

    def _batch(self, device: Device | None) -> Symbol | None:
        """The batch, or the object, that a value came with and has not left."""
        for leaf in leaves(device) if device is not None else ():
            if not isinstance(leaf, SameAs):
                continue
            anchor, named = leaf.symbol.anchor, names_a_batch(leaf.symbol.name)
            if anchor is Anchor.BATCH or (anchor is Anchor.PARAMETER and (named or leaf.symbol.key in self._objects)):
                return leaf.symbol
        return None


def _is_made_in_one_arm(value: Value) -> bool:
    """Whether it is of a batch in one arm only, and in the other made on the CPU as no device was named."""
    device = device_of(value)
    if not isinstance(device, Choice) or CPU not in leaves(device):
        return False
    provenance = provenance_of(value)
    return provenance is not None and provenance.step.kind is StepKind.MADE and provenance.step.bare


def _is_handed_over(node: cst.CSTNode) -> bool:
    """Whether a place of a call is an argument with a name: of a whole call it is not said which argument it is."""
    import libcst as cst

    return isinstance(node, (cst.Name, cst.Attribute, cst.Subscript))


def _is_item(event: Moved, batch: Symbol) -> bool:
    """Of an argument only what was drawn from it is an item, and only what went to an accelerator shows the others."""
    if is_part_of_rows(event.receiver_node):
        return False
    if batch.anchor is not Anchor.PARAMETER:
        return True
    one = event.is_field or "(" not in event.receiver_text
    return event.target != CPU and event.receiver_text != batch.name and one


def _draft(
    event: DeviceMismatch, mine: MismatchOperand, theirs: MismatchOperand, sibling: Moved | None, batch: Symbol
) -> Draft:
    trace = trace_of(event)
    moved = ""
    if sibling is not None:
        words = f"`{sibling.receiver_text}` of the same batch is moved here"
        step = DraftStep(sibling.node, sibling.scope, words, describe(sibling.target))
        trace = (*trace[:-1], step, trace[-1])
        moved = f" as `{sibling.receiver_text}` was"
    place = device_of(theirs.value)
    there = operand_and_placement(theirs)
    if place is not None and _move_of(theirs) is not None:
        there = f"{describe_operand(theirs)} was moved to {describe(place)}"
    if sibling is None and _move_of(theirs) is not None:
        trace = (replace(trace[0], message=f"{trace[0].message}; {CONVENTIONS[COLLATED]}"), *trace[1:])
    return Draft(
        node=mine.node,
        scope=event.scope,
        message=f"{describe_operand(mine)} comes {_from(mine, batch)} and is not moved{moved}, "
        f"but {there}; {failure(event, theirs)}",
        confidence=min(
            Confidence.LOW if _are_handed_in(theirs) else _confidence(event, mine, batch),
            Confidence.HIGH if sibling is not None else Confidence.MEDIUM,
        ),
        trace=trace,
    )


def _are_handed_in(theirs: MismatchOperand) -> bool:
    """Whether what the batch meets is where an argument is, that is no device: its caller hands in the batches too."""
    places = leaves(device_of(theirs.value) or CPU)
    return not is_module(theirs) and all(is_of_parameter(one) and not is_device_by_name(one) for one in places)


def _from(mine: MismatchOperand, batch: Symbol) -> str:
    if batch.anchor is Anchor.PARAMETER and not names_a_batch(batch.name):
        return f"with `{batch.name}`"
    whole = code_of(mine.node) == batch.name and len(batch.source) < _LONGEST
    return f"from `{batch.source}`" if whole and batch.source else "with the batch"


def _confidence(event: DeviceMismatch, mine: MismatchOperand, batch: Symbol) -> Confidence:
    if event.scope.setting is Setting.HOST or (_may_be_a_number(event, mine) and not draws_from_a_loader(batch.source)):
        return Confidence.LOW
    # What comes together from elsewhere may be brought over together by whoever hands it out.
    collated = draws_from_a_loader(batch.source) or names_a_batch(batch.source or batch.name)
    # What computed it of what was not moved may bring its inputs over itself.
    sure = collated and event.scope.role is not Role.TEST and not is_guessed_beside(mine.value)
    sure = sure and not any(rests_on(provenance_of(one.value), CONVENTIONS[BESIDE_BATCHES]) for one in event.operands)
    return Confidence.HIGH if sure and not event.assumed else Confidence.MEDIUM


def _may_be_a_number(event: DeviceMismatch, mine: MismatchOperand) -> bool:
    """Operators take Python numbers, and items drawn from anything may be such (fixture `labels_are_numbers`)."""
    value = mine.value
    return event.operation.name.startswith("operator.") and isinstance(value, Opaque) and not value.tensorlike


def _move_of(model: MismatchOperand) -> Step | None:
    """The transfer that brought a model where it is."""
    provenance = provenance_of(model.value) if is_module(model) else None
    return provenance.find(StepKind.MOVED) if provenance is not None else None


def _place_of_sibling(sibling: Moved) -> str:
    target = code_of(sibling.named.node) if sibling.named is not None and sibling.method == "to" else ""
    return target or f"{sibling.receiver_text}.device"


def _place_of_model(model: MismatchOperand, scope: Scope) -> str:
    """As the model was moved, where that is written in the same function; else where its parameters are."""
    import libcst as cst

    step = _move_of(model)
    if step is not None and step.scope == scope and isinstance(step.node, cst.Call) and len(step.node.args) == 1:
        named = step.node.args[0].value
        if isinstance(named, (cst.Name, cst.Attribute)):
            return code_of(named)
    return device_expression_of(model)


def _repair(mine: MismatchOperand, target: str, function: cst.FunctionDef | None, *, near: bool) -> Repair:
    """Moved there as well; never by `.cuda()`, which takes the current device and not the other's."""
    item = code_of(mine.node)
    if not target:
        return Repair(Applicability.SUGGESTION, f"move {quoted(mine.node, 'it')} where the rest of its batch is moved")
    move = f"{item}.to({target})"
    if not near:
        return Repair(Applicability.SUGGESTION, f"move it as well: `{move}`")
    if function is not None and _is_used_again(item, function, mine.node):
        line = f"{item} = {move}"
        return Repair(Applicability.SUGGESTION, f"move it as well: `{line}`", (InsertBefore(mine.node, line),))
    return Repair(Applicability.SUGGESTION, f"move it as well: `{move}`", suffixed(mine.node, f".to({target})"))


def _is_used_again(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether a plain name is read behind ``at`` too, and nowhere outside of the block that ``at`` is in."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    path = path_to(function, at)
    block = next((node for node in reversed(path) if isinstance(node, cst.IndentedBlock)), None)
    own_names = (cst.BaseComp, cst.Lambda)
    if block is None or not isinstance(at, cst.Name) or any(isinstance(node, own_names) for node in path):
        return False
    order = [node for node in descend(function.body) if isinstance(node, cst.Name) and node.value == name]
    inside = {id(node) for node in descend(block)}
    behind = order[[node is at for node in order].index(True) + 1 :] if any(node is at for node in order) else []
    return bool(behind) and all(id(node) in inside for node in behind)
