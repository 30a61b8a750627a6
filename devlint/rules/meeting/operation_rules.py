"""What the operation's own rules share: the draft of a clash for which no earlier cause was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.changes import suffixed
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.trace import provenance_of, trace_of
from devlint.drafts.wording import (
    code_with,
    describe_operand,
    describe_placement,
    device_expression_of,
    device_of,
    failing_code,
    failure_condition,
    is_guessed_beside,
    is_of_an_image,
    operand_and_placement,
)
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.lattice import (
    CPU,
    Anchor,
    Device,
    Known,
    SameAs,
    Symbol,
    describe,
    is_device_by_name,
    is_given,
    is_of_parameter,
    is_set_as_device,
    leaves,
)
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.domain.scope import Setting
from devlint.placement.operations.encoded import is_encoded
from devlint.placement.syntax.device_words import is_kept_on_cpu_by_name
from devlint.placement.syntax.nodes import names_in
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import DeviceMismatch, MismatchOperand


def clash_draft(event: DeviceMismatch, consequence: str | None = None) -> Draft:
    """The clash at its offending operand, where a `.to(...)` would go."""
    offending, other = event.offending, event.other
    apart = failure_condition(device_of(other.value)) or failure_condition(device_of(offending.value))
    sides = f"{operand_and_placement(offending)} but {operand_and_placement(other)}"
    if describe_placement(offending) == describe_placement(other):
        # One of them by a condition alone: `model` is on cuda if args.cuda else cpu.
        sides, apart = f"{_with_conditions(offending)} but {_with_conditions(other)}", " where the two differ"
    return Draft(
        node=offending.node,
        scope=event.scope,
        message=f"{sides}; " + (consequence or f"{failing_code(event)} fails{apart}"),
        confidence=confidence(event),
        trace=trace_of(event),
        repair=bring_over(offending, other, _is_written_to(event)),
    )


def _with_conditions(operand: MismatchOperand) -> str:
    device = device_of(operand.value)
    return f"{describe_operand(operand)} is on {describe(device)}" if device else operand_and_placement(operand)


def bring_over(offending: MismatchOperand, other: MismatchOperand, is_written_to: bool = False) -> Repair:
    """Always to the other operand's device: `.cuda()` would pick the current one."""
    target = device_expression_of(other)
    if not target:
        return Repair(
            Applicability.SUGGESTION, f"move {describe_operand(offending)} to the device of {describe_operand(other)}"
        )
    changes = () if is_written_to else suffixed(offending.node, f".to({target})")
    return Repair(Applicability.SUGGESTION, f"bring it over: `{code_with(offending.node, f'.to({target})')}`", changes)


def _is_written_to(event: DeviceMismatch) -> bool:
    """What an operation writes into has to be moved before, for `.to` gives another tensor."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    written = (event.operation.in_place and event.offending.role in ("self", "input")) or event.offending.role == "out"
    targets: list[cst.CSTNode] = []
    match event.node:
        case cst.AugAssign(target=target) | cst.AnnAssign(target=target):
            targets.append(target)
        case cst.Assign(targets=found):
            targets.extend(found)
        case _:
            pass
    return written or any(node is event.offending.node for target in targets for node in descend(target))


def confidence(event: DeviceMismatch) -> Confidence:
    """High where both devices are known; medium where the operands share a source, or are made here; low otherwise."""
    if event.scope.setting is Setting.HOST:
        # What works on the host may be given tensors of the host; what it puts in two places itself is apart.
        return Confidence.MEDIUM if _are_named(event) else Confidence.LOW
    if _is_on_cpu_by_name(event):
        return Confidence.LOW
    if all(_seen(device_of(operand.value)) for operand in (event.offending, event.other)):
        if _brought_beside_an_input(event):
            return Confidence.LOW
        unsure = any(is_guessed_beside(operand.value) for operand in (event.offending, event.other))
        return Confidence.MEDIUM if unsure else Confidence.HIGH
    if event.scope.role is Role.TEST or not (
        _of_one_source(event)
        or _brought_by_a_helper(event)
        or _made_here(event)
        or _of_one_object(event)
        or _handed_together(event)
        or _prepared_for_a_moved_model(event)
        or _is_captured_loss(event)
        or _put_apart(event)
        or event.brings_to_host
    ):
        # One argument brought to the CPU beside another one: the contract may well want that one there already.
        return Confidence.LOW
    return Confidence.MEDIUM


def _are_named(event: DeviceMismatch) -> bool:
    """Whether the program names both devices, the CPU by bringing something to it."""
    if not all(isinstance(device_of(operand.value), Known) for operand in (event.offending, event.other)):
        return False
    on_cpu = (operand for operand in (event.offending, event.other) if device_of(operand.value) == CPU)
    return all(was_moved(provenance_of(operand.value)) for operand in on_cpu)


def _brought_beside_an_input(event: DeviceMismatch) -> bool:
    """Whether one side was brought to the CPU here, on purpose, and the other is what `forward` was given.

    A forecaster may keep what it is given on the CPU; what a layer computed would not be there.
    """
    for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
        moved, given = provenance_of(mine.value), provenance_of(theirs.value)
        if moved is None or given is None or device_of(mine.value) != CPU:
            continue
        brought = moved.find(StepKind.MOVED)
        here = brought is not None and brought.scope == event.scope
        if here and given.first.kind is StepKind.GIVEN and given.find(StepKind.COMPUTED, StepKind.MOVED) is None:
            return True
    return False


def _prepared_for_a_moved_model(event: DeviceMismatch) -> bool:
    """Whether what a tokenizer, or a transform of images, made goes as it came into a model that was put somewhere."""
    there = device_of(event.other.value)
    put = was_moved(provenance_of(event.other.value)) or (there is not None and is_set_as_device(there))
    return put and (is_encoded(event.offending.value) or is_of_an_image(event.offending.value))


def _of_one_source(event: DeviceMismatch) -> bool:
    """Whether both operands come from one argument: then no caller can make them agree."""
    first = [
        provenance.first for operand in (event.offending, event.other) if (provenance := provenance_of(operand.value))
    ]
    if len(first) < 2:
        return False
    # What a helper brought to the CPU begins with the helper's parameter, which was where the caller's argument is.
    handed_on = event.scope not in (first[0].scope, first[1].scope) or first[0].scope != first[1].scope
    given = first[0].kind is first[1].kind is StepKind.GIVEN
    return first[0].node is first[1].node or (handed_on and given and first[0].device == first[1].device)


def _brought_by_a_helper(event: DeviceMismatch) -> bool:
    """Whether one side was where the other one is, until a function that the definition calls brought it to the CPU."""
    for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
        provenance, there = provenance_of(mine.value), device_of(theirs.value)
        moved = provenance.find(StepKind.MOVED) if provenance is not None and device_of(mine.value) == CPU else None
        if provenance is None or there is None or moved is None or moved.scope == event.scope:
            continue
        before = provenance.first.device
        if before is not None and is_given(before) and before in leaves(there):
            return True
    return False


def _made_here(event: DeviceMismatch) -> bool:
    """Whether the definition made both operands, itself or by a helper: the caller says at most where one goes."""
    provenances = [provenance_of(operand.value) for operand in (event.offending, event.other)]
    return all(
        provenance is not None
        and provenance.first.kind is StepKind.MADE
        and any(step.scope == event.scope and step.kind in (StepKind.MADE, StepKind.RETURNED) for step in provenance)
        for provenance in provenances
    )


def _is_on_cpu_by_name(event: DeviceMismatch) -> bool:
    """``is_first & (lengths_cpu == 1)`` of what a caller hands in: who names one so meets it with what is there too."""
    named = any(map(is_kept_on_cpu_by_name, names_in(event.offending.node)))
    device = device_of(event.other.value)
    return named and device is not None and all(map(is_of_parameter, leaves(device)))


def _of_one_object(event: DeviceMismatch) -> bool:
    """Whether an object built a module or a table, and one side alone is where the object was told to work.

    Either nothing in the class brings what was built there, or a method makes on the CPU what meets it. Who has the
    object says at most where its inputs go.
    """
    for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
        provenance, made = provenance_of(mine.value), provenance_of(theirs.value)
        step = provenance.first if provenance is not None else None
        if step is None or step.kind is not StepKind.MADE or not (mine.role == "module" or step.of_object):
            continue
        # A constructor makes it, or a method to which the constructor leaves that: `self.create_networks()`. Or it gets
        # it from a function that makes it: `self.model = Model.from_pretrained(path)`.
        name = event.scope.class_name
        got = (one.scope for one in provenance or () if one.kind in (StepKind.MADE, StepKind.RETURNED))
        if name is None or not any(scope.class_name == name and scope != event.scope for scope in got):
            continue
        here = made is not None and made.first.kind is StepKind.MADE and made.first.scope == event.scope
        by_object = any(map(_is_told_at_construction, (device_of(mine.value), device_of(theirs.value))))
        return by_object and (here or isinstance(device_of(mine.value), Known))
    return False


def _handed_together(event: DeviceMismatch) -> bool:
    """Whether one definition gets a module that stays on the CPU, and puts an input elsewhere that it meets.

    The definition calls the module itself, or hands both to a function that does.
    """
    module, other = provenance_of(event.offending.value), provenance_of(event.other.value)
    if event.offending.role != "module" or module is None or other is None:
        return False
    around = event.caller or event.scope
    got = module.step.scope == around and module.step.kind in (StepKind.MADE, StepKind.RETURNED)
    there = device_of(event.other.value)
    put = any(step.scope == around and step.device == there for step in other)
    return got and put and there is not None and is_set_as_device(there)


def _put_apart(event: DeviceMismatch) -> bool:
    """Whether the definition itself put one side on the CPU, by name, and the other where it is told to work."""
    for mine, theirs in ((event.offending, event.other), (event.other, event.offending)):
        there = device_of(theirs.value)
        if device_of(mine.value) != CPU or there is None or not is_device_by_name(there):
            continue
        on_cpu, brought = (
            next(
                (step for step in provenance_of(side.value) or () if step.kind in (StepKind.MADE, StepKind.MOVED)), None
            )
            for side in (mine, theirs)
        )
        if on_cpu is None or brought is None or not on_cpu.scope == brought.scope == event.scope or on_cpu.bare:
            continue
        return brought.device == there
    return False


def _is_captured_loss(event: DeviceMismatch) -> bool:
    """Whether the function around this one built the loss that is called: who calls this one cannot move it."""
    provenance = provenance_of(event.offending.value)
    if event.offending.role != "module" or provenance is None or provenance.step.kind is not StepKind.MADE:
        return False
    around = provenance.step.scope.qualname
    return bool(around) and event.scope.qualname.startswith(f"{around}.")


def _is_told_at_construction(device: Device | None) -> bool:
    """Whether it is the device that a constructor is given, be it a base's, that stands in for it, or that it keeps.

    ``torch.device("cuda") if device == "auto" else device``; ``self.device``, however it is chosen.
    """
    symbols = [place.symbol for place in leaves(device or CPU) if isinstance(place, SameAs)]
    return any(symbol.key.partition(":")[0].endswith(".__init__") or _is_kept(symbol) for symbol in symbols)


def is_where_objects_work(event: DeviceMismatch) -> bool:
    """Whether one side is on a device that the object keeps, of which nothing more is known."""
    devices = (device_of(operand.value) for operand in (event.offending, event.other))
    places = (place for device in devices for place in leaves(device or CPU))
    return any(isinstance(place, SameAs) and _is_kept(place.symbol) for place in places)


def _is_kept(symbol: Symbol) -> bool:
    owner, _, name = symbol.name.partition(".")
    return symbol.anchor is Anchor.EXPRESSION and owner == "self" and name.endswith("device")


def _seen(device: Device | None) -> bool:
    if device is None:
        return False
    return all(
        isinstance(leaf, Known) or (isinstance(leaf, SameAs) and leaf.symbol.anchor is Anchor.MODULE)
        for leaf in leaves(device)
    )
