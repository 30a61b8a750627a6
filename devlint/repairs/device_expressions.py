"""Expressions for the device of another tensor, at a place in a function, and how safe each of them is there."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from devlint.drafts.changes import keywords_of, suffixed, with_argument
from devlint.drafts.draft import Repair
from devlint.drafts.trace import provenance_of
from devlint.drafts.wording import code_of, device_expression_of, device_of, quoted
from devlint.finding import Applicability
from devlint.placement.declarations.evidence_conventions import CONVENTIONS, MAKES_BY_DEFAULT
from devlint.placement.domain.abstract_values import DeviceName, Evidence, Opaque, Tensor, Value
from devlint.placement.domain.provenance import Step, StepKind
from devlint.placement.domain.scope import Setting
from devlint.records import dataclass
from devlint.repairs.held_values import HeldValues

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.events import Begun, MismatchOperand, ParameterIgnored, Stored
    from devlint.placement.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class DeviceExpression:
    """The code of an expression for a device.

    ``applicability`` is SAFE where it certainly can be evaluated and certainly is the device that is meant.
    """

    code: str
    applicability: Applicability


@dataclass(slots=True)
class Definitions:
    """The definitions of a file, and the device expressions that each of them offers.

    A rule hands it every ``Begun`` with :meth:`note`, and every ``Stored`` with :meth:`note_stored`: what a name holds
    that is bound anew is not known otherwise. Each other method returns None where there is no such expression.
    """

    _begun: dict[Scope, Begun] = field(default_factory=dict)
    _ignoring: set[Scope] = field(default_factory=set)
    """Definitions with a device parameter that they never read."""
    _held: HeldValues = field(default_factory=HeldValues)

    def note(self, event: Begun) -> None:
        self._begun[event.scope] = event

    def note_stored(self, event: Stored) -> None:
        self._held.note(event)

    def note_ignored(self, event: ParameterIgnored) -> None:
        self._ignoring.add(event.scope)

    def for_operand(self, step: Step, theirs: MismatchOperand) -> DeviceExpression | None:
        """The device of another operand, queried where ``step`` makes a tensor."""
        from devlint.repairs.operand_roots import item_device

        given = _given_before(step, theirs)
        if given is not None:
            named = self.argument(step.scope, given.name, step.node)
            if named is not None:
                # An argument that may be None here, or is another value by now; what it meets is there.
                unsure = named.applicability is Applicability.SUGGESTION
                return (self._of_its_name(step, theirs.node, given.name) if unsure else None) or named
        target = (
            self._named_for(step, theirs)
            or device_expression_of(theirs)
            or item_device(theirs.node)
            or self._of_chain(step, theirs.node)
        )
        if target and not self._can_be_read(target, step.scope, step.node):
            target = ""
        if not target or target.startswith("next("):
            # An input of the function is on the same device as the module, and its device is cheaper to query.
            other = self.forward_input(step.scope, step.node) or self._in_the_same_place(step, theirs)
            if other is not None:
                return other
        if not target:
            return None
        root = re.match(r"(?:next\()?(\w+)", target)
        if root is None:
            return DeviceExpression(target, Applicability.SUGGESTION)  # a device written out
        if root[1] == "self":
            begun = self._begun.get(step.scope)
            if target.startswith("next(self.parameters") and not (begun and begun.owner and begun.owner.is_module):
                return None
            known = step.scope.class_name is not None and not (begun and _lacks(begun.owner, target))
            return DeviceExpression(target, Applicability.SUGGESTION) if known else None
        if root[1] == target and not step.scope.qualname:
            # Whether it is bound by then is left to the reader.
            return DeviceExpression(target, Applicability.SUGGESTION)
        if not self._is_bound(root[1], step):
            return self._of_its_name(step, theirs.node, given.name) if given is not None else None
        is_tensors = not target.startswith("next(") and step.scope not in self._ignoring
        return DeviceExpression(target, Applicability.UNSAFE if is_tensors else Applicability.SUGGESTION)

    def _of_its_name(self, step: Step, node: cst.CSTNode, argument: str) -> DeviceExpression | None:
        """``scores.device``, where that name is bound by then, and not to ``argument`` itself."""
        import libcst as cst

        from devlint.repairs.bound_names import is_bound_before

        function = self.node_of(step.scope)
        own = node.value if isinstance(node, cst.Name) else argument
        if own == argument or function is None or step.scope in self._ignoring:
            return None
        if not is_bound_before(own, function, step.node) or not self.holds_tensor(
            step.scope, own, step.node, used=True
        ):
            return None
        # What binds it again may do so before the two meet.
        bound = Applicability.UNSAFE if self._is_bound(own, step) else Applicability.SUGGESTION
        return DeviceExpression(f"{own}.device", bound)

    def _named_for(self, step: Step, theirs: MismatchOperand) -> str:
        """The name of the device the same definition put the other operand on, if bound before ``step``; else empty."""
        import libcst as cst

        for link in provenance_of(theirs.value) or ():
            if link.kind not in (StepKind.MADE, StepKind.MOVED):
                continue
            given = link.node.args if link.scope == step.scope and isinstance(link.node, cst.Call) else ()
            named = next((arg.value for arg in given if _names_device(arg, link.kind)), None)
            at_top_level = not step.scope.qualname
            if isinstance(named, cst.Name) and (at_top_level or self._is_bound(named.value, step)):
                return named.value
            return ""
        return ""

    def _in_the_same_place(self, step: Step, theirs: MismatchOperand) -> DeviceExpression | None:
        """The device of an argument that is a tensor on the other operand's device."""
        begun = self._begun.get(step.scope)
        device = device_of(theirs.value)
        for name, value in begun.arguments if begun is not None else ():
            if device is not None and _may_be_tensor(value) and device_of(value) == device:
                found = self.argument(step.scope, name, step.node)
                if found is not None and found.applicability is not Applicability.SUGGESTION:
                    return found
        return None

    def forward_input(self, scope: Scope, at: cst.CSTNode) -> DeviceExpression | None:
        """The device of the first input of a `forward` that is a tensor."""
        return self.first_tensor(scope, at) if scope.setting is Setting.FORWARD else None

    def first_tensor(self, scope: Scope, at: cst.CSTNode) -> DeviceExpression | None:
        """The device of the first argument that is a tensor; one that is never None before one that may be."""
        begun = self._begun.get(scope)
        given = begun.arguments if begun is not None else ()
        candidates = [self.argument(scope, name, at) for name, value in given if _may_be_tensor(value)]
        found = [expression for expression in candidates if expression is not None]
        sure = (expression for expression in found if expression.applicability is not Applicability.SUGGESTION)
        return next(sure, found[0] if found else None)

    def device(self, scope: Scope, at: cst.CSTNode) -> DeviceExpression | None:
        """The first argument that is a device and still has the caller's value."""
        from devlint.repairs.bound_names import is_untouched

        begun, function = self._begun.get(scope), self.node_of(scope)
        for name, value in begun.arguments if begun is not None and function is not None else ():
            if isinstance(value, DeviceName) and function is not None and is_untouched(name, function, at):
                return DeviceExpression(name, Applicability.UNSAFE)
        return None

    def has_argument(self, scope: Scope, name: str, at: cst.CSTNode) -> bool:
        """Whether the definition has such a parameter and it still has the caller's value."""
        from devlint.repairs.bound_names import is_untouched

        begun, function = self._begun.get(scope), self.node_of(scope)
        named = begun is not None and any(parameter == name for parameter, _ in begun.arguments)
        return named and function is not None and is_untouched(name, function, at)

    def argument(self, scope: Scope, name: str, at: cst.CSTNode) -> DeviceExpression | None:
        """``name.device`` of an argument that is a tensor and still has the caller's value.

        SAFE where it is certainly one: seen used as only a tensor can be, and annotated as one that is not optional, or
        dereferenced on every path to ``at``, where None would have failed before.
        """
        import libcst as cst

        from devlint.repairs.bound_names import is_dereferenced_before, is_untouched

        begun = self._begun.get(scope)
        if begun is None or not isinstance(begun.node, cst.FunctionDef):
            return None
        value = dict(begun.arguments).get(name)
        if not _may_be_tensor(value) or _is_converted(name, at):
            return None
        if not self._held.is_tensor(name, begun, at):
            # It is something else by then, or the function itself allows None for it (fixture `may_be_absent`).
            return None
        if not is_untouched(name, begun.node, at):
            return DeviceExpression(f"{name}.device", Applicability.SUGGESTION)
        if scope in self._ignoring:
            # A device parameter that nothing reads: whether it is the device that is meant is left to the reader.
            return DeviceExpression(f"{name}.device", Applicability.SUGGESTION)
        sure = isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN
        there = is_dereferenced_before(name, begun.node, at) or _is_annotated(name, begun.node)
        return DeviceExpression(f"{name}.device", Applicability.SAFE if sure and there else Applicability.UNSAFE)

    def holds_tensor(self, scope: Scope, name: str, at: cst.CSTNode, used: bool = False) -> bool:
        """Whether ``name.device`` can be read at a place of a definition, as far as that is known.

        ``used``: an operation takes it as a tensor later.
        """
        begun = self._begun.get(scope)
        return begun is None or self._held.is_tensor(name, begun, at, used)

    def may_be_absent(self, scope: Scope, name: str, at: cst.CSTNode) -> bool:
        """Whether a definition allows None for an argument, and nothing before ``at`` rules that out."""
        from devlint.repairs.held_values import may_be_absent

        function = self.node_of(scope)
        return function is not None and may_be_absent(name, function, at)

    def may_be_another_type(self, scope: Scope, name: str, at: cst.CSTNode) -> bool:
        """Whether a test of the definition lets a number, or a list, through to ``at``."""
        from devlint.repairs.bound_names import is_asked_for_another_type

        function = self.node_of(scope)
        return function is not None and is_asked_for_another_type(name, function, at)

    def _can_be_read(self, target: str, scope: Scope, at: cst.CSTNode) -> bool:
        """The same of ``x.device``, ``batch["x"].device`` and ``data.x.device``; others say it some other way."""
        holder = target.removesuffix(".device")
        root = re.match(r"\w+", holder)
        if holder == target or root is None or root[0] == "self":
            return True
        if root[0] == holder:
            return self.holds_tensor(scope, holder, at, used=True)
        return not self.may_be_absent(scope, root[0], at)

    def _of_chain(self, step: Step, node: cst.CSTNode) -> str:
        """`x.device` of `x.float()[:, -1].sum(-1)`: a name, read through items and methods that keep its device.

        Of a container, and of what may be one, it is the item that the code reads: `pairs[0].device`.
        """
        from devlint.repairs.operand_roots import root_of

        begun = self._begun.get(step.scope)

        def is_tensor(name: str, at: cst.CSTNode) -> bool:
            return begun is not None and self._held.is_one_tensor(name, begun, at)

        root = root_of(node, lambda name: is_tensor(name, node))
        if root is None:
            return ""
        if root.item is None or is_tensor(root.name, step.node):
            return f"{root.name}.device"
        return f"{root.item}.device" if root.item else ""

    def is_at_hand(self, scope: Scope, name: str, at: cst.CSTNode) -> bool:
        """Whether a definition can ask a name for its device, or the name is one: `device`, `self.device`."""
        from devlint.repairs.bound_names import bound_in, is_bound_before

        begun, function = self._begun.get(scope), self.node_of(scope)
        root = name.partition(".")[0]
        if begun is None or function is None or root == "self":
            return True
        handed = any(argument == root for argument, _ in begun.arguments)
        if not handed and not (bound_in(root, function) and is_bound_before(root, function, at)):
            return False
        return name.endswith("device") or self._held.is_tensor(name, begun, at)

    def is_available(self, code: str, step: Step) -> bool:
        """Whether an expression can be evaluated where ``step`` makes something, and keeps its value afterwards."""
        from devlint.repairs.bound_names import expression_stays_bound

        function = self.node_of(step.scope)
        return function is not None and expression_stays_bound(code, function, step.node)

    def node_of(self, scope: Scope) -> cst.FunctionDef | None:
        """The function of a scope; None for a module's or a class's scope."""
        import libcst as cst

        begun = self._begun.get(scope)
        return begun.node if begun is not None and isinstance(begun.node, cst.FunctionDef) else None

    def _is_bound(self, name: str, step: Step) -> bool:
        """Whether the name is bound where ``step`` makes a tensor, and keeps its value from there on."""
        import libcst as cst

        from devlint.repairs.bound_names import stays_bound

        begun = self._begun.get(step.scope)
        function = begun.node if begun is not None else None
        return isinstance(function, cst.FunctionDef) and stays_bound(name, function, step.node)


def _lacks(owner: ClassInfo | None, target: str) -> bool:
    """Whether no class in sight has the attribute of ``self.codes.device``, which another class has."""
    named = re.match(r"(?:next\()?self\.(\w+)", target)
    attribute = named[1] if named is not None else ""
    if owner is None or not attribute or not owner.complete or owner.is_module:
        return False
    return not any(attribute in one.members for one in owner.order)


def _is_converted(name: str, made: cst.CSTNode) -> bool:
    """``torch.FloatTensor(rows)``: what is made a tensor of its values need not be one, and then has no device."""
    import libcst as cst

    from devlint.placement.syntax.nodes import dotted

    if not isinstance(made, cst.Call) or not made.args or made.args[0].keyword is not None:
        return False
    factory = (dotted(made.func) or "").rpartition(".")[2]
    converts = factory in _CONVERTING or factory.endswith("Tensor")
    given = made.args[0].value
    return converts and isinstance(given, cst.Name) and given.value == name


_CONVERTING = frozenset({"tensor", "as_tensor", "asarray", "from_numpy"})


def _names_device(argument: cst.Arg, kind: StepKind) -> bool:
    """`device=d`, and in a transfer `.to(device)`: of other names it is not known whether they are a tensor's."""
    import libcst as cst

    if argument.keyword is not None:
        return argument.keyword.value == "device"
    name = argument.value.value if isinstance(argument.value, cst.Name) else ""
    return kind is StepKind.MOVED and not argument.star and name.endswith("device")


def repair_creation(step: Step, expression: DeviceExpression) -> Repair:
    """The repair of a creation without a device: ``device=``, or a transfer where the factory takes no device."""
    if step.of_object:
        return Repair(Applicability.SUGGESTION, f"make its arguments tensors on `{expression.code}`")
    factory = step.factory
    # What is handed over in the place of a default need not take a device.
    by_default = step.note == CONVENTIONS[MAKES_BY_DEFAULT]
    if factory is not None and factory.random and "generator" in keywords_of(step.node):
        # A generator draws where it is: which of the two is brought over is the caller's choice.
        drawn = f"bring over what is drawn, or draw with a generator of `{expression.code}`"
        return Repair(Applicability.SUGGESTION, drawn)
    if factory is None or not factory.takes_device or factory.legacy or by_default:
        changes = suffixed(step.node, f".to({expression.code})")
        message = f"`{quoted(step.node, f'{step.name}(...)').strip('`')}.to({expression.code})`"
        return Repair(_at_most(Applicability.UNSAFE, expression.applicability), message, changes)
    changes = with_argument(step.node, "device", expression.code)
    message = f"pass `device={expression.code}`"
    if _is_handed_over(step):
        return Repair(Applicability.SUGGESTION, f"{message} to `{step.name}`")
    applicability = expression.applicability
    given = keywords_of(step.node)
    if "out" in given or "pin_memory" in given:
        # Neither goes with a device elsewhere.
        return Repair(Applicability.SUGGESTION, message)
    if factory.random:
        message += " (the stream of random numbers changes with the device)"
        applicability = _at_most(Applicability.UNSAFE, applicability)
    return Repair(applicability, message, changes)


def _is_handed_over(step: Step) -> bool:
    """`map(torch.arange, sizes)`: the call at hand is of what calls the factory, and takes no device itself."""
    import libcst as cst

    node, name = step.node, step.name
    arguments = node.args if isinstance(node, cst.Call) else ()
    return bool(name) and any(
        code_of(argument.value).rsplit(".", 1)[-1] == name.rsplit(".", 1)[-1] for argument in arguments
    )


_ORDER = (Applicability.SAFE, Applicability.UNSAFE, Applicability.SUGGESTION)


def _at_most(one: Applicability, other: Applicability) -> Applicability:
    return max(one, other, key=_ORDER.index)


def _may_be_tensor(value: Value | None) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)


def _given_before(step: Step, theirs: MismatchOperand) -> Step | None:
    """The parameter of the creating function that the other operand comes from; None if a transfer comes in between."""
    for link in provenance_of(theirs.value) or ():
        if link.kind is StepKind.MOVED:
            return None
        named = link.name.isidentifier() and link.name != "self"
        if link.kind is StepKind.GIVEN and link.scope == step.scope and named:
            return link
    return None


def _is_annotated(name: str, function: cst.FunctionDef) -> bool:
    """As a tensor, not Optional, no default of None: dereferencing it is what its contract allows."""
    from devlint.placement.syntax.nodes import parameters_of

    node = next((parameter for parameter in parameters_of(function) if parameter.name.value == name), None)
    if node is None or node.annotation is None or node.default is not None:
        return False
    return code_of(node.annotation.annotation).strip("\"'").rsplit(".", 1)[-1] == "Tensor"
