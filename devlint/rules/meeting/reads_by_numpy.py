"""What the analysis knows of a tensor that numpy, or a library on top of it, reads: part of DEV403."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import came_of_a_callable, code_of, is_of_another_class
from devlint.finding import Confidence
from devlint.placement.declarations.evidence_conventions import (
    BESIDE_BATCHES,
    CONVENTIONS,
    MODULE_RESULT,
    NAMED_STATE,
    TOLD_A_DEVICE,
    names_a_loader,
)
from devlint.placement.declarations.evidence_names import names_a_module
from devlint.placement.declarations.evidence_rows import TENSOR_ONLY
from devlint.placement.domain.abstract_values import Evidence, Kind, Opaque, Tensor
from devlint.placement.domain.class_facts import NAMES_OF_STATE
from devlint.placement.domain.lattice import (
    CPU,
    Choice,
    Device,
    Known,
    SameAs,
    batch_of,
    guards_of,
    is_device_by_name,
    is_of_module,
    leaves,
)
from devlint.placement.domain.provenance import StepKind, rests_on
from devlint.placement.domain.scope import Setting
from devlint.placement.state.host_reads import METHOD
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import HostRead, Moved
    from devlint.placement.domain.provenance import Provenance, Step


def is_state_of_a_model(event: HostRead) -> bool:
    """A parameter or buffer is where the model is: `p.detach()` of `model.parameters()`, `self.mean[1:]`."""
    value = event.value
    # What comes in with a model was made nowhere in sight.
    came_with_it = isinstance(value, Tensor) and (
        value.kind is Kind.PARAMETER or value.provenance is None or _is_named_by_module(value.provenance)
    )
    named = event.expression is not None and _is_read_of_self(event.expression)
    # `for row in self.mean`, `2 * self.mean`: computed by no module since.
    latest = value.provenance.step if isinstance(value, Tensor) and value.provenance is not None else None
    registered = latest is not None and latest.kind is StepKind.REGISTERED
    return came_with_it or ((named or registered) and is_of_module(value.device))


def _is_named_by_module(provenance: Provenance) -> bool:
    """`model.parameters()`, `self.net.named_buffers()`, `model.state_dict()`: one of these, or computed from one."""
    import libcst as cst

    given = provenance.find(StepKind.GIVEN)
    node = given.node if given is not None else None
    if given is not None and given.note == CONVENTIONS[NAMED_STATE]:
        return True
    named = isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value
    return named in NAMES_OF_STATE or named == "state_dict"


def is_listed_by_a_model(event: HostRead) -> bool:
    """`p.grad.norm()` of `for name, p in model.named_parameters()`: a tensor, and where the caller's model is."""
    value = event.value
    computed = isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN and value.provenance is not None
    return computed and value.provenance is not None and _is_named_by_module(value.provenance)


def _is_read_of_self(node: cst.CSTNode) -> bool:
    """`self.mean`, `self.mean[1:]`, `self.mean.detach()`."""
    import libcst as cst

    while isinstance(node, (cst.Call, cst.Subscript, cst.Attribute)):
        inner = node.func if isinstance(node, cst.Call) else node.value
        if isinstance(inner, cst.Name):
            return isinstance(node, cst.Attribute) and inner.value == "self"
        node = inner
    return False


def is_tensor(event: HostRead) -> bool:
    """What is only handed to numpy may as well be an array, and metadata of a batch stays on the host."""
    value = event.value
    return isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN and event.reader == METHOD


def is_tensor_beside(event: HostRead, sibling: Moved) -> bool:
    """A tensor that numpy takes by itself (``array.dot(features)``), annotated as one or computed by torch, beside
    another argument that is brought to the CPU.

    Where it is the same argument, one arm has brought it and what is left may be an array.
    """
    value = event.value
    if (
        not isinstance(value, Tensor)
        or event.reader == METHOD
        or not _is_no_array(value)
        or _is_part_of_an_input(event)
    ):
        return False
    return set(leaves(value.device)).isdisjoint(leaves(getattr(sibling.receiver, "device", CPU)))


def is_item_beside(event: HostRead, sibling: Moved) -> bool:
    """In `forward`: an item of the very argument another item of which is brought to the CPU, by subscript.

    Or an item of a dict of tensors, by its annotation, beside any tensor that is brought to the CPU.
    """
    import libcst as cst

    one, other = event.expression, sibling.receiver_node
    return (
        event.scope.setting is Setting.FORWARD
        and event.reader == METHOD
        and isinstance(one, cst.Subscript)
        and (_is_annotated(event) or (isinstance(other, cst.Subscript) and one.value.deep_equals(other.value)))
    )


def _is_annotated(event: HostRead) -> bool:
    """Whether the value is an item of an argument whose annotation says that it is a dict of tensors."""
    import libcst as cst

    provenance = provenance_of(event.value)
    given = provenance.first.node if provenance is not None else None
    item = event.expression.value if isinstance(event.expression, cst.Subscript) else None
    if not isinstance(given, cst.Param) or given.annotation is None or not isinstance(item, cst.Name):
        return False
    return item.value == given.name.value and code_of(given.annotation.annotation).endswith("Tensor]")


_ON_THE_CPU_AS_A_RULE = (Role.TEST, Role.SCRIPT, Role.NOTEBOOK, Role.BENCHMARK)
"""Roles of files whose functions are called by themselves: on the CPU, more often than not."""


def chosen_here(event: HostRead) -> Device | None:
    """The place of a tensor, where the code at hand chose it: it names a device, or is a method of a module that moves.

    Where a caller's tensor is, the caller knows; it may always be the CPU.
    """
    if not reads_a_tensor(event) or event.scope.role is Role.TEST or event.scope.setting is Setting.HOST:
        return None
    if _is_part_of_an_input(event) or may_be_an_array(event):
        return None
    for leaf in leaves(event.value.device):
        if not isinstance(leaf, SameAs):
            continue
        of_module = is_of_module(leaf) and event.scope.setting in (Setting.FORWARD, Setting.METHOD)
        if of_module or is_device_by_name(leaf) or _was_brought(event.value, leaf):
            return leaf
    return None


def may_be_an_array(event: HostRead) -> bool:
    """What numpy takes by itself of a method for users, `model.predict(image)`, or of a function that is told a device.

    They have arrays as often as tensors: what is taken for a tensor there is a guess (fixture `results_for_users`).
    """
    if event.reader == METHOD:
        return False
    if rests_on(event.value.provenance, CONVENTIONS[TOLD_A_DEVICE]):
        return True
    steps = takewhile(lambda step: not _is_computed_by_name(step), event.value.provenance or ())
    given = (step.name.rpartition(".")[2] for step in steps if step.note == CONVENTIONS[MODULE_RESULT])
    return any(not (name == "self" or name.startswith(("forward", "encode", "embed", "get_"))) for name in given)


def _is_computed_by_name(step: Step) -> bool:
    """What a loss gives is a tensor, whatever a method for users gave it."""
    return step.kind is StepKind.COMPUTED and step.note == ""


def reads_a_tensor(event: HostRead) -> bool:
    """Whether what is read is a tensor: `np.array(rows)` takes anything (fixture `arrays_or_lists`)."""
    return event.reader == METHOD or _is_no_array(event.value) or _is_called_as_tensors_are(event)


def _is_called_as_tensors_are(event: HostRead) -> bool:
    """``scores[:, self.mask.bool()]``: arrays have no such methods."""
    import libcst as cst

    match event.expression:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))):
            return name in TENSOR_ONLY
        case _:
            return False


def is_moved_object(event: HostRead) -> bool:
    """Whether numpy reads by itself what the function moved, `batch["label"].to(device)`: an array cannot be moved.

    Nor is it an array that a model computed, where it is used as a tensor.
    """
    value = event.value
    return event.reader != METHOD and isinstance(value, Opaque) and (value.moved or value.tensorlike)


def _is_no_array(value: Tensor | Opaque) -> bool:
    """Whether what numpy reads by itself is a tensor: torch made it, a module computed it, or it was moved before."""
    if isinstance(value, Opaque):
        return _was_moved(value) or (value.tensorlike and _was_computed(value))
    computed = value.provenance is not None and value.provenance.find(StepKind.COMPUTED, StepKind.MOVED) is not None
    return value.evidence is Evidence.CERTAIN or computed


def _was_moved(value: Opaque) -> bool:
    """Whether it is as it was moved; what an object of another kind, moved or not, hands out is anything."""
    return value.moved and value.provenance is not None and value.provenance.step.kind is StepKind.MOVED


def _was_computed(value: Opaque) -> bool:
    """Whether a module of known place gives it, and no callable of unknown type."""
    step = value.provenance.step if value.provenance is not None else None
    return step is not None and step.kind is StepKind.COMPUTED and step.note in ("", CONVENTIONS[BESIDE_BATCHES])


def _was_brought(value: Tensor | Opaque, device: Device) -> bool:
    """`torch.tensor(rows).to(x.device)`: it came from the CPU, and was brought to what else is at hand."""
    steps = tuple(value.provenance or ())
    moved = next((n for n, step in enumerate(steps) if step.kind is StepKind.MOVED and step.device == device), None)
    return moved is not None and any(step.device == CPU for step in steps[moved + 1 :])


def _is_part_of_an_input(event: HostRead) -> bool:
    """`batch.meta["spacing"].numpy()`: of what an argument holds beside its tensors, much stays on the host."""
    import libcst as cst

    step = event.value.provenance.step if event.value.provenance is not None else None
    given = step is not None and step.kind is StepKind.GIVEN and isinstance(step.node, cst.Param)
    return given and not (is_tensor(event) or _is_no_array(event.value) or _is_called_as_tensors_are(event))


def is_taken_from_a_graph(event: HostRead) -> bool:
    """`t.detach()[0].numpy()`, `t.data.numpy()`: what is taken from a graph was computed where the model is."""
    import libcst as cst

    if not is_of_a_working_function(event):
        return False
    node = event.expression
    while True:
        match node:
            case (
                cst.Call(func=cst.Attribute(attr=cst.Name(value="detach"))) | cst.Attribute(attr=cst.Name(value="data"))
            ):
                return True
            case cst.Call(func=cst.Attribute(value=value)) | cst.Subscript(value=value):
                node = value
            case _:
                return False


def is_computed(event: HostRead) -> bool:
    """Whether it is what a call gives, or was computed: not an argument as it came, or an item of one."""
    import libcst as cst

    provenance = event.value.provenance
    return isinstance(event.expression, cst.Call) or (
        provenance is not None and provenance.step.kind is StepKind.COMPUTED
    )


def are_kept(event: HostRead, other: HostRead) -> bool:
    """Whether both read attributes of the object: ``self.shown.numpy()`` beside ``self.seen.detach().cpu().numpy()``.

    What methods keep to be shown later was computed where those of its kind were.
    """
    both = (event.expression, other.expression)
    return all(node is not None and _is_read_of_self(node) for node in both)


def is_of_its_objects_model(event: HostRead) -> bool:
    """Whether a model that the object keeps computed it: ``self.network(x).argmax(1)``."""
    value = event.value
    provenance = value.provenance if isinstance(value, Tensor) else None
    steps = (step.name for step in provenance or () if step.kind is StepKind.COMPUTED)
    kept = (name.removeprefix("self.") for name in steps if name.startswith("self."))
    return event.scope.role not in _ON_THE_CPU_AS_A_RULE and any(map(names_a_module, kept))


def is_of_a_working_function(event: HostRead) -> bool:
    """Whether `.numpy()` reads what may be on an accelerator, in a function that is not run on the host as a rule."""
    on_host = event.scope.role in _ON_THE_CPU_AS_A_RULE or event.scope.setting is Setting.HOST
    return event.reader == METHOD and not on_host and not is_as_a_loader_gave_it(event.value)


def is_as_a_loader_gave_it(value: Tensor | Opaque) -> bool:
    """Whether it came with a batch, nobody moved it, and no model was run on it: it is on the CPU, graph or not."""
    batch = batch_of(value.device)
    if batch is None or not names_a_loader(batch.source):
        return False
    return value.provenance is None or value.provenance.find(StepKind.COMPUTED, StepKind.MOVED) is None


def confidence_in_tensor(event: HostRead) -> Confidence:
    """What an unknown callable makes of tensors may be a number or an array: a metric's score."""
    value = event.value
    if may_be_an_array(event):
        return Confidence.LOW
    if rests_on(value.provenance, CONVENTIONS[TOLD_A_DEVICE]):
        return Confidence.MEDIUM
    if is_of_another_class(value):
        # What an image keeps beside its pixels is numbers of the host, as often as not.
        return Confidence.LOW
    told = isinstance(value, Tensor) or value.tensorlike or event.reader == METHOD or _was_moved(value)
    if not told:
        return Confidence.LOW
    if came_of_a_callable(value):
        # A test knows what its callables give.
        return Confidence.LOW if event.scope.role is Role.TEST else Confidence.MEDIUM
    return Confidence.HIGH


def follows_the_tensors_own_test(device: Choice) -> bool:
    """`x.cpu() if x.is_cuda and origin == "cpu" else x`: a tensor's own place was asked, and is no free choice.

    What the question was joined with may be what sent it there in the first place (fixture `there_and_back`).
    """
    guards = (guard.text for guard in guards_of(device))
    return any(".is_cuda" in text and (" and " in text or " or " in text) for text in guards)


def is_moved_itself(event: HostRead, sibling: Moved) -> bool:
    """`if x.pointer is not None: x = x.cpu()`: one arm of the value is the very copy that was brought to the CPU.

    Whoever asked knows in which case there is something to bring.
    """
    provenance = event.value.provenance
    chosen = isinstance(event.value.device, Choice) and provenance is not None
    return chosen and provenance is not None and any(step.node is sibling.node for step in provenance)


def accelerator(device: Device) -> bool:
    return isinstance(device, Known) and not device.on_cpu
