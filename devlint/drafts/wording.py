"""The parts of a message: an operand, its placement, what fails and when.

Code is rendered only here, and only for findings, so libcst is imported on the first finding and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.trace import provenance_of
from devlint.placement.declarations.evidence_conventions import (
    CALLABLE_RESULT,
    CONVENTIONS,
    MADE_OF_AN_IMAGE,
    MODULE_RESULT,
    OF_ANOTHER_CLASS,
)
from devlint.placement.domain.abstract_values import Evidence, Module, Tensor
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Device,
    Known,
    SameAs,
    is_accelerator,
    is_device_by_name,
    leaves,
    may_be_cpu,
)
from devlint.placement.domain.provenance import Provenance, Step, StepKind, rests_on

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.events import DeviceMismatch, MismatchOperand

MAX_QUOTED_LENGTH = 60
"""Longer code is left out of a sentence: the name of its operation says more."""


def code_of(node: cst.CSTNode) -> str:
    """The source text of a node, whitespace normalised to one line.

    The same as ``devlint.placement.syntax.nodes.code_of``, which imports LibCST; this imports it on the first call.
    """
    from devlint.placement.syntax.nodes import code_of as source_of

    return source_of(node)


def code_with(node: cst.CSTNode, suffix: str) -> str:
    """The node's code with a method call behind it, in parentheses where it binds more loosely than a dot."""
    import libcst as cst

    from devlint.placement.syntax.nodes import binds_like_a_name

    code = code_of(node)
    loose = isinstance(node, cst.BaseExpression) and not binds_like_a_name(node)
    return f"({code}){suffix}" if loose else f"{code}{suffix}"


def quoted(node: cst.CSTNode, fallback: str) -> str:
    """The node's code in backticks, or the fallback where the code is too long to read in a sentence."""
    code = code_of(node)
    return f"`{code}`" if len(code) <= MAX_QUOTED_LENGTH else fallback


def device_of(value: Value) -> Device | None:
    """The device of a value; None for a value that has none, such as a number."""
    return getattr(value, "device", None)


def describe_operand(operand: MismatchOperand) -> str:
    """The operand as the reader knows it: its code, or what made it where the code is long."""
    if is_module(operand):
        return quoted(operand.node, "the module")
    provenance = provenance_of(operand.value)
    made = (
        f"the result of `{provenance.step.name}`" if provenance is not None and provenance.step.name else "an operand"
    )
    return quoted(operand.node, made)


def describe_placement(operand: MismatchOperand) -> str:
    """Where the operand is, as the predicate of a sentence about it: "is on cuda:1", "comes from the caller"."""
    device = device_of(operand.value)
    if device is None:
        return "is elsewhere"
    if device == CPU:
        return "stays on the CPU" if is_module(operand) else "is on the CPU"
    for leaf in leaves(device):
        match leaf:
            case Known() if not leaf.on_cpu:
                return f"is on {leaf}"
            case SameAs(symbol) if is_device_by_name(leaf):
                put = symbol.name == code_of(operand.node)
                return "is where another method puts it" if put else f"is on `{symbol.name}`"
            case SameAs(symbol):
                match symbol.anchor:
                    case Anchor.BATCH:
                        return "comes with the batch"
                    case Anchor.MODULE if _is_own(operand):
                        return "moves with the module"
                    case _:
                        return "comes from the caller"
            case _:
                pass
    return "may be on the CPU" if CPU in leaves(device) else "is elsewhere"


def operand_and_placement(operand: MismatchOperand) -> str:
    """A sentence without its full stop: "`x` is on cuda:1"."""
    return f"{describe_operand(operand)} {describe_placement(operand)}"


def _is_own(operand: MismatchOperand) -> bool:
    """Whether the operand is reached through the module itself and not through its inputs."""
    # The first pass has no parentheses, the second pass has.
    return is_module(operand) or code_of(operand.node).lstrip("(").startswith("self.")


def is_module(operand: MismatchOperand) -> bool:
    """Whether the operand stands for a module's parameters: the walk meets them under the role "module"."""
    return isinstance(operand.value, Module) or operand.role == "module"


def failure_condition(device: Device | None) -> str:
    """When the operation fails if an operand is on this device: " when cuda:1 is used"; empty if it always fails."""
    if device is None or device == CPU or is_accelerator(device):
        return ""
    for leaf in leaves(device):
        match leaf:
            case SameAs(symbol) if symbol.anchor is Anchor.MODULE:
                return " when the model is on an accelerator"
            case SameAs(symbol):
                return f" when `{symbol.name}` is on an accelerator"
            case Known() if not leaf.on_cpu:
                return f" when {leaf} is used"
            case _:
                pass
    return " when an accelerator is used"


def failing_code(event: DeviceMismatch) -> str:
    """The code of what fails: the module or function that is called, or the operator's expression."""
    import libcst as cst

    if event.callee_node is not None:
        return quoted(event.callee_node, "the call")
    if isinstance(event.node, cst.Call):
        return quoted(event.node.func, f"`{event.operation.name}`")
    return quoted(event.node, "the expression")


def failure(event: DeviceMismatch, operand: MismatchOperand) -> str:
    """What fails, and under which placement of the operand: "`self.rnn` fails when the model is on an accelerator"."""
    return f"{failing_code(event)} fails{failure_condition(device_of(operand.value))}"


def device_expression_of(operand: MismatchOperand) -> str:
    """An expression for the operand's device, valid where the operand is in scope; empty if there is none."""
    code = code_of(operand.node)
    if is_module(operand):
        # What an object that is no Module holds has a place of its own; the parts of a Module share that of `self`.
        own = any(map(is_device_by_name, leaves(device_of(operand.value) or UNKNOWN)))
        return f"next({'self' if code.startswith('self.') and not own else code}.parameters()).device"
    if all(part.isidentifier() for part in code.split(".")):
        return f"{code}.device"
    device = device_of(operand.value)
    return f'"{device}"' if isinstance(device, Known) else ""


def bare_creation(value: Value) -> Step | None:
    """The creation without ``device=`` that put a value on the CPU; None if a later transfer decided its device."""
    return _bare_creation_in(provenance_of(value))


def other_creations(value: Value) -> list[Step]:
    """The creations without ``device=`` that give the value in the other arms of a branch."""
    provenance = provenance_of(value)
    found = (
        [_bare_creation_in(alternative) for alternative in provenance.alternatives] if provenance is not None else []
    )
    return [step for step in found if step is not None]


def _bare_creation_in(provenance: Provenance | None) -> Step | None:
    for step in provenance or ():
        if step.kind is StepKind.MADE:
            return step if step.bare else None
        if step.kind is StepKind.MOVED and may_be_cpu(step.device):
            # `.cpu()` after the creation: the CPU was chosen. So it was by `.to(x.device)` of an x that may be there.
            return None
    return None


def came_of_a_callable(value: Value) -> bool:
    """Whether a value was computed by what is of unknown type, which is taken to work where its arguments are."""
    return rests_on(provenance_of(value), CONVENTIONS[CALLABLE_RESULT])


def is_of_another_class(value: Value) -> bool:
    """Whether a value, or one of those that it may be, is an attribute that no tensor has, of what has its methods."""
    whence = provenance_of(value)
    ways = (whence, *whence.alternatives) if whence is not None else ()
    return any(rests_on(way, CONVENTIONS[OF_ANOTHER_CLASS]) for way in ways)


def is_of_an_image(value: Value) -> bool:
    """Whether a transform of unknown type made the value of an image, which is taken to stay on the host."""
    return rests_on(provenance_of(value), CONVENTIONS[MADE_OF_AN_IMAGE])


def is_guessed_beside(value: Value) -> bool:
    """Whether a value is taken to be where it is by a convention about what is of unknown type."""
    return is_of_an_image(value) or came_of_a_callable(value) or is_of_another_class(value)


def is_given_by_a_method(value: Value) -> bool:
    """Whether a method of a module computed the value, of whose body nothing is known: it may bring it to the CPU.

    ``scores = model.predict(ids)``.
    """
    came = provenance_of(value)
    computed = came.find(StepKind.COMPUTED) if came is not None else None
    return computed is not None and computed.note == CONVENTIONS[MODULE_RESULT] and "." in computed.name


def is_certain(value: Value) -> bool:
    """Whether the value is a tensor for sure, and not something that is only used like one."""
    return isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN
