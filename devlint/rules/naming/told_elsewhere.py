"""Calls that leave a device parameter to its default, where other calls of the same function name a device: DEV308."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from devlint.drafts.changes import with_argument
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.declarations.ignored_parameters import mentions
from devlint.placement.declarations.left_out_devices import SWITCHES
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import descend
from devlint.repairs.device_expressions import Definitions
from devlint.semantics import dtype_class
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, DeviceTold

_MOVES = frozenset({"to", "cuda", "cpu", "to_device", "type_as"})

_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel", "DDP", "DP"})
"""They are told devices, and want the module to be there already."""


class ToldElsewhere:
    """The calls of one file that say something to a device parameter, or leave it out."""

    def __init__(self) -> None:
        self._definitions = Definitions()
        self._told: dict[tuple[int, str], list[DeviceTold]] = {}
        self._left_out: list[DeviceTold] = []

        self._classes: dict[str, frozenset[str]] = {}
        """By definition: the class that it is a method of, and its bases in the project."""
        self._built: set[str] = set()
        """The methods of Modules."""

    def begun(self, event: Begun) -> None:
        self._definitions.note(event)
        if event.owner is not None and event.owner.is_module:
            self._built.add(event.scope.qualname)
        if event.owner is not None:
            self._classes[event.scope.qualname] = frozenset(one.qualname for one in event.owner.order)

    def note(self, event: DeviceTold) -> None:
        if event.function == "__init__":
            # An object may be kept on the CPU beside others of its class: where it meets something, DEV101 tells.
            return
        if event.given is None:
            self._left_out.append(event)
        else:
            self._told.setdefault((event.callee, event.parameter), []).append(event)

    def drafts(self) -> Iterable[Draft]:
        for event in self._left_out:
            definition = self._definitions.node_of(event.scope)
            if definition is None or event.scope.setting is Setting.HOST or event.scope.role is Role.TEST:
                continue
            if _is_given_a_place(event.node):
                continue
            if event.scope.setting is Setting.CONSTRUCTION and event.scope.qualname in self._built:
                # A module is built on the CPU, and is moved with what it has (fixture `told_elsewhere`).
                continue
            told = self._told.get((event.callee, event.parameter), ())
            witness = next((one for one in told if self._holds_for(one, event)), None)
            if (witness is None and _forgotten(definition) is None) or is_placed_later(definition, event.node):
                continue
            if witness is not None and witness.given is not None:
                said = code_of(witness.given)
                told_here = DraftStep(witness.node, witness.scope, f"`{event.parameter}` is `{said}` here")
                yield _draft(event, said, f"the CPU, where another call says `{said}`", told_here)
            elif (own := _forgotten(definition)) is not None:
                comes_in = DraftStep(own, event.scope, f"`{own.name.value}` comes in here")
                yield _draft(event, own.name.value, f"the CPU, and nothing reads `{own.name.value}`", comes_in)

    def _holds_for(self, told: DeviceTold, left_out: DeviceTold) -> bool:
        """Whether what one call says can be said in the other: it is kept on the same object, or has the same name."""
        assert told.given is not None
        code = code_of(told.given)
        definition = self._definitions.node_of(left_out.scope)
        if code.startswith("self."):
            inherits = told.scope.class_name in self._classes.get(left_out.scope.qualname, ())
            return inherits or (definition is not None and _says(definition, code))
        own = {parameter.name.value for parameter in definition.params.params} if definition is not None else set()
        if code.endswith(".device"):
            # Of an argument of the same name: `x.device`.
            return code.removesuffix(".device") in own
        return code.isidentifier() and code in own and ("device" in code or code == told.parameter)


def _is_given_a_place(call: cst.CSTNode) -> bool:
    """``fetch(rows, out=self.buffer)``: the result goes where that is (fixture `told_where_to_write`)."""
    import libcst as cst

    return isinstance(call, cst.Call) and any(
        one.keyword is not None and one.keyword.value == "out" for one in call.args
    )


def _says(definition: cst.FunctionDef, code: str) -> bool:
    import libcst as cst

    return any(isinstance(child, cst.Attribute) and code_of(child) == code for child in descend(definition.body))


def is_placed_later(definition: cst.FunctionDef | cst.Module, call: cst.CSTNode, *, given_back: bool = True) -> bool:
    """Whether the function, or the script, moves what the call gives, or hands it on beside a device.

    What it gives back to its caller counts as well if ``given_back``.
    """
    import libcst as cst

    body = definition.body if isinstance(definition, cst.FunctionDef) else definition
    nodes = list(descend(body))
    names: set[str] = set()
    begins = len(nodes)
    for at, child in enumerate(nodes):
        if given_back and isinstance(child, cst.Return) and child.value is not None and _holds(child.value, call):
            return True
        if isinstance(child, cst.Call) and child is not call and _holds(child, call) and _places(child):
            return True
        if isinstance(child, cst.Assign) and _holds(child.value, call):
            names.update(_bound(child))
        if child is call or (isinstance(child, (cst.For, cst.While)) and _holds(child, call)):
            begins = min(begins, at)  # what a loop does before the call, it does again after it
    kinds = (cst.Call, cst.For, cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp)
    later = (child for child in nodes[begins:] if isinstance(child, kinds) and not _holds(child, call))
    return any(_places_some(child, names) for child in later)


def _places_some(node: cst.CSTNode, names: set[str]) -> bool:
    """Whether a call places one of these names, or a loop over one of them what is in it."""
    import libcst as cst

    if isinstance(node, cst.Call):
        mentioned = not names.isdisjoint(_mentioned(node))
        return mentioned and _places(node) and not _places_what_it_gives(node, names)
    over = node.iter if isinstance(node, cst.For) else getattr(node, "for_in", node)
    if names.isdisjoint(_mentioned(over.iter if isinstance(over, cst.CompFor) else over)):
        return False
    return any(isinstance(child, cst.Call) and _places(child) for child in descend(node))


def _places_what_it_gives(call: cst.Call, names: set[str]) -> bool:
    """``model(x).cpu()``: a transfer of what one of these names computed, and not of what it is."""
    import libcst as cst

    if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _MOVES:
        return False
    if not names.isdisjoint(name for argument in call.args for name in _mentioned(argument)):
        return False
    receiver: cst.BaseExpression = call.func.value
    while isinstance(receiver, (cst.Attribute, cst.Subscript, cst.Call)):
        if isinstance(receiver, cst.Call) and code_of(receiver.func) in names:
            return True
        receiver = receiver.func if isinstance(receiver, cst.Call) else receiver.value
    return False


def _places(call: cst.Call) -> bool:
    """``x.to(...)``, ``move(x, self.device)``."""
    import libcst as cst

    if isinstance(call.func, cst.Attribute) and call.func.attr.value in _MOVES:
        return not (call.args and all(map(_is_dtype, call.args)))
    if code_of(call.func).rpartition(".")[2] in _WRAPPERS:
        return False
    return "device" in code_of(call.func).lower() or any(_is_device(one) for one in call.args)


def _is_dtype(argument: cst.Arg) -> bool:
    """``mask.to(torch.float32)``, ``x.to(dtype=dtype)``: that moves nothing."""
    named = argument.keyword is not None and argument.keyword.value == "dtype"
    return named or dtype_class(code_of(argument.value)) is not None


def _is_device(argument: cst.Arg) -> bool:
    """Whether it names a device. ``Sequential(Part(n, device=device), Part(n))`` tells the first part alone.

    So does a list or a dict of such parts.
    """
    import libcst as cst

    if isinstance(argument.value, (cst.Dict, cst.List, cst.Tuple)):
        return False
    said = argument.value
    while isinstance(said, cst.Call):
        # Of `model(x.to(device)).cpu()`, and of `get_device().type`, what is called says what it is.
        said = said.func.attr if isinstance(said.func, cst.Attribute) else said.func
    keyword = argument.keyword.value if argument.keyword is not None else ""
    return "device" in keyword.lower() or "device" in code_of(said).lower()


def _holds(node: cst.CSTNode, inner: cst.CSTNode) -> bool:
    return node is inner or any(child is inner for child in descend(node))


def _bound(assign: cst.Assign) -> Iterator[str]:
    import libcst as cst

    for target in assign.targets:
        parts = target.target.elements if isinstance(target.target, (cst.Tuple, cst.List)) else (target,)
        for part in parts:
            yield code_of(part.target if isinstance(part, cst.AssignTarget) else part.value)


def _mentioned(node: cst.CSTNode) -> Iterator[str]:
    import libcst as cst

    for child in descend(node):
        if isinstance(child, (cst.Name, cst.Attribute, cst.Subscript)):
            yield code_of(child)


def _forgotten(definition: cst.FunctionDef) -> cst.Param | None:
    """The function's own switch for the accelerator, where its body never looks at it."""
    switches = (one for one in definition.params.params if one.name.value in SWITCHES)
    return next((one for one in switches if not mentions(definition.body, one.name.value)), None)


def _draft(event: DeviceTold, said: str, why: str, told: DraftStep) -> Draft:
    import libcst as cst

    changes = with_argument(event.node, event.parameter, said) if isinstance(event.node, cst.Call) else ()
    return Draft(
        node=event.node,
        scope=event.scope,
        severity=Severity.WARNING,
        message=f"{quoted(event.node, f'this call of `{event.function}`')} leaves `{event.parameter}` to its default, "
        f"{why}",
        confidence=Confidence.MEDIUM,
        trace=(told, DraftStep(event.node, event.scope, "left out here")),
        repair=Repair(Applicability.SUGGESTION, f"hand it on: `{event.parameter}={said}`", changes),
    )
