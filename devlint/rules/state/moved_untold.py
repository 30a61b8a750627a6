"""Modules that are moved to a device of which their constructor was not told, and that keep its default: DEV504."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.placement.declarations.ignored_parameters import names_device
from devlint.placement.domain.abstract_values import Constant, Module
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device, relate
from devlint.placement.domain.provenance import StepKind
from devlint.placement.syntax.nodes import descend, literal, positions_of
from devlint.semantics import Relation
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.domain.events import Moved

MOVES = ("to", "cuda", "cpu", "_apply")
"""Methods by which a class may bring what it keeps to where it is moved."""


def moved_untold(event: Moved) -> Iterator[Draft]:
    """``self.net = Net(width).to(self.device)``, where ``Net`` keeps its own ``device`` and places tensors by it."""
    import libcst as cst

    module = event.receiver
    if not isinstance(module, Module) or module.info is None or not event.moves or event.scope.role is Role.TEST:
        return
    made = module.provenance.step if module.provenance is not None else None
    if made is None or made.kind is not StepKind.MADE or not isinstance(made.node, cst.Call):
        return
    init = module.info.method("__init__")
    if init is None or not init.keeps_signature or module.info.defines(*MOVES):
        return
    left_out = _left_out(made.node, init)
    if left_out is None or _is_its_default(event, left_out):
        return
    kept = _kept_as(module.info, init, left_out.name.value)
    use = _use_of(module.info, kept) if kept is not None else None
    if kept is None or use is None:
        return
    reader, name = use, module.info.name
    said = code_of(event.named.node) if event.named is not None else str(event.target)
    parameter = left_out.name.value
    changes = with_argument(made.node, parameter, said) if event.named is not None else ()
    yield Draft(
        node=made.node,
        scope=made.scope,
        message=f"`{name}` is moved to `{said}` but not told of it: it keeps the default of `{parameter}` as "
        f"`self.{kept}`, by which `{reader}` goes on placing tensors",
        confidence=Confidence.MEDIUM,
        trace=(DraftStep(event.node, event.scope, "moved here", said),),
        repair=Repair(Applicability.SUGGESTION, f"tell it: `{parameter}={said}`", changes),
    )


def _left_out(call: cst.Call, init: FunctionInfo) -> cst.Param | None:
    """The parameter for a device that a construction leaves to its default."""
    if any(argument.star for argument in call.args):
        return None
    given = {argument.keyword.value for argument in call.args if argument.keyword is not None}
    positional = sum(argument.keyword is None for argument in call.args)
    for position, parameter in positions_of(init.header, bound=True):
        if names_device(parameter):
            told = parameter.name.value in given or (position is not None and position < positional)
            return None if told or parameter.default is None else parameter
    return None


def _is_its_default(event: Moved, parameter: cst.Param) -> bool:
    """Whether the module is moved to where the default says already: ``Net().to("cuda")`` of ``device="cuda"``."""
    assert parameter.default is not None
    spelled = code_of(parameter.default).rpartition(".")[2]
    if event.named is not None and code_of(event.named.node).rpartition(".")[2] == spelled:
        return True
    default = _device_of(parameter.default)
    return default != UNKNOWN and relate(default, event.target) is Relation.SAME


def _device_of(default: cst.BaseExpression) -> Device:
    try:
        value = Constant(literal(default), default)
    except ValueError:
        return UNKNOWN
    if value.value is None:
        return CPU
    named = name_of_constant(value)
    return UNKNOWN if named is None else named.device


def _kept_as(info: ClassInfo, init: FunctionInfo, parameter: str) -> str | None:
    """The attribute under which the constructor keeps the parameter as it is, and nothing replaces it."""
    import libcst as cst

    for name, values in init.stored_expressions.items():
        value = values[0] if len(values) == 1 else None
        if isinstance(value, cst.Call) and code_of(value.func).endswith("device") and len(value.args) == 1:
            value = value.args[0].value
        if isinstance(value, cst.Name) and value.value == parameter and info.method(name) is None:
            return None if any(name in one.assigned_outside_init for one in info.order) else name
    return None


def _use_of(info: ClassInfo, attribute: str) -> str | None:
    """The first method that places something by the attribute: ``x.to(self.device)``, ``device=self.device``."""
    import libcst as cst

    for method in (method for one in info.order for method in one.methods.values()):
        if method.name == "__init__" or attribute not in method.own.mentioned:
            continue
        calls = (child for child in descend(method.node.body) if isinstance(child, cst.Call))
        if any(code_of(argument.value) == f"self.{attribute}" for call in calls for argument in call.args):
            return method.name
    return None
