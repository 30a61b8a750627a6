"""Numbers of accelerators that a program hides the others by, and then counts the visible ones by: part of DEV303.

``os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu)`` leaves one device, which is `cuda:0` from then on, whatever `gpu` is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of
from devlint.finding import Applicability, Confidence
from devlint.placement.domain.abstract_values import Constant
from devlint.placement.domain.lattice import Decided, exclude
from devlint.placement.syntax.nodes import descend, dotted
from devlint.rules.naming.cuda_start import MODULE_LEVEL
from devlint.rules.naming.visible_devices import NAME
from devlint.rules.naming.visible_devices_read import TAKES_ORDINAL
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called, Event, Moved, Stored
    from devlint.placement.domain.scope import Scope

_WRAPPERS = ("DataParallel", "DistributedDataParallel")


@dataclass(frozen=True, slots=True, eq=False)
class _Hidden:
    """One setting, and the expression whose number it leaves."""

    event: Event
    number: str


@dataclass(slots=True)
class HiddenByNumber:
    """The settings of one file that leave the device of a number, and the uses of that number as an ordinal."""

    _hidden: list[_Hidden] = field(default_factory=list)
    _handed: dict[Scope, frozenset[str]] = field(default_factory=dict)
    """By definition: the names of its arguments, which are not those of the top level."""
    _used: list[tuple[_Hidden, Event, cst.CSTNode]] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        self._handed[event.scope] = frozenset(name for name, _ in event.arguments)

    def set(self, event: Event, node: cst.BaseExpression | None) -> None:
        number = _number_of(node) if node is not None else ""
        if number:
            self._hidden.append(_Hidden(event, number))

    def stored(self, event: Stored) -> None:
        """``args.gpu = 0``: from here on the name counts what is visible."""
        if not self._hidden:
            return
        if event.value_node is not None and not isinstance(event.value, Constant):
            self._use(event, event.value_node, *_named_in(event.value_node))
        target = event.target
        self._hidden = [
            one for one in self._hidden if not (_reaches(one, event.scope) and _is_rebound(one.number, target))
        ]

    def called(self, event: Called) -> None:
        if not self._hidden:
            return
        if event.name in TAKES_ORDINAL:
            for argument in event.call.arguments:
                self._use(event, argument.node, *_ordinals(argument.node))
        elif event.name.rpartition(".")[2] in _WRAPPERS:
            given = event.call.argument("device_ids", 1)
            if given is not None:
                self._use(event, given.node, *_listed(given.node))

    def moved(self, event: Moved) -> None:
        if self._hidden and event.named is not None:
            self._use(event, event.named.node, *_ordinals(event.named.node))

    def _use(self, event: Event, node: cst.CSTNode, *numbers: str) -> None:
        arms: tuple[Decided, ...] = getattr(event, "arms", ())
        for one in self._hidden:
            other: tuple[Decided, ...] = getattr(one.event, "arms", ())
            # Where the variable is left alone, the number counts what the machine has (fixture `hidden_by_number`).
            if one.number in numbers and self._is_seen(one, event.scope) and not exclude(other, arms):
                self._used.append((one, event, node))
                return

    def _is_seen(self, one: _Hidden, scope: Scope) -> bool:
        root = one.number.partition(".")[0].partition("[")[0]
        own = one.event.scope == scope
        return own or (_reaches(one, scope) and (root == "self" or root not in self._handed.get(scope, frozenset())))

    def drafts(self) -> Iterator[Draft]:
        told: set[int] = set()
        for one, event, node in self._used:
            if id(one) in told:
                continue
            told.add(id(one))
            yield Draft(
                node=node,
                scope=event.scope,
                message=f"`{one.number}` is the number that `{NAME}` was set to; what that leaves visible is counted "
                "from 0, so that this device is hidden for any number but 0",
                confidence=Confidence.LOW if event.scope.role is Role.TEST else Confidence.MEDIUM,
                trace=(DraftStep(one.event.node, one.event.scope, "the others are hidden here"),),
                repair=Repair(Applicability.SUGGESTION, "count the visible devices from 0"),
            )


def _reaches(one: _Hidden, scope: Scope) -> bool:
    """Whether a definition runs behind the setting: itself, one of its object, or any where a file sets it first."""
    set_in = one.event.scope
    if set_in == scope or set_in.qualname == MODULE_LEVEL:
        return True
    return set_in.class_name is not None and set_in.class_name == scope.class_name and one.number.startswith("self.")


def _is_rebound(number: str, target: str) -> bool:
    return number == target or number.startswith((f"{target}.", f"{target}["))


def _number_of(node: cst.BaseExpression) -> str:
    """``gpu`` of ``str(gpu)``, of ``f"{gpu}"`` and of ``gpu`` itself; empty for a constant or anything else."""
    import libcst as cst

    if isinstance(node, cst.Call) and dotted(node.func) == "str" and len(node.args) == 1:
        return _number_of(node.args[0].value)
    if isinstance(node, cst.FormattedString) and len(node.parts) == 1:
        part = node.parts[0]
        return _number_of(part.expression) if isinstance(part, cst.FormattedStringExpression) else ""
    return code_of(node) if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)) else ""


def _ordinals(node: cst.CSTNode) -> Iterator[str]:
    """The numbers that an argument names a device by: ``gpu``, ``int(gpu)``, ``f"cuda:{gpu}"``."""
    import libcst as cst

    if isinstance(node, cst.Call) and dotted(node.func) == "int" and len(node.args) == 1:
        node = node.args[0].value
    if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
        yield code_of(node)
    else:
        yield from _named_in(node)


def _named_in(node: cst.CSTNode) -> Iterator[str]:
    """The numbers in the names of devices: ``f"cuda:{gpu}"``, ``"cuda:" + str(gpu)``, ``"cuda:%d" % gpu``."""
    import libcst as cst

    for part in descend(node):
        if isinstance(part, cst.FormattedString) and len(part.parts) == 2:
            text, number = part.parts
            if isinstance(text, cst.FormattedStringText) and isinstance(number, cst.FormattedStringExpression):
                yield _number_of(number.expression) if text.value == "cuda:" else ""
        elif isinstance(part, cst.BinaryOperation) and isinstance(part.left, cst.SimpleString):
            joins = isinstance(part.operator, cst.Add) and part.left.evaluated_value == "cuda:"
            fills = isinstance(part.operator, cst.Modulo) and part.left.evaluated_value in ("cuda:%d", "cuda:%s")
            yield _number_of(part.right) if joins or fills else ""
        elif isinstance(part, cst.Call) and isinstance(part.func, cst.Attribute) and len(part.args) == 1:
            pattern = part.func.value if part.func.attr.value == "format" else None
            if isinstance(pattern, cst.SimpleString) and pattern.evaluated_value == "cuda:{}":
                yield _number_of(part.args[0].value)


def _listed(node: cst.CSTNode) -> Iterator[str]:
    """``device_ids=[gpu]``."""
    import libcst as cst

    for element in node.elements if isinstance(node, cst.List) else ():
        yield from _ordinals(element.value)
