"""Physical numbers of accelerators that a program reads back from the variable and counts visible ones by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence
from devlint.rules.naming.visible_devices import NAME
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Called, Event, Moved, Stored
    from devlint.placement.domain.scope import Scope

TAKES_ORDINAL = frozenset({"torch.cuda.set_device", "torch.device", "torch.cuda.device"})


@dataclass(slots=True)
class ReadBack:
    """What one file reads back, by definition and name. A name counts from its assignment on."""

    _lists: set[tuple[Scope, str]] = field(default_factory=set)
    """Names of the list of physical numbers."""
    _numbers: dict[tuple[Scope, str], cst.CSTNode] = field(default_factory=dict)
    """Names of one of the numbers, and the conversion that gave it."""
    _used: dict[int, tuple[cst.CSTNode, Event]] = field(default_factory=dict)
    """By conversion: the first use as an ordinal."""

    def stored(self, event: Stored) -> None:
        import libcst as cst

        place = (event.scope, event.target)
        if isinstance(event.value_node, cst.Call) and _is_split(event.value_node):
            self._lists.add(place)
        number = self._number(event.scope, event.value_node) if event.value_node is not None else None
        if number is not None:
            self._numbers[place] = number
        else:
            self._numbers.pop(place, None)

    def called(self, event: Called) -> None:
        if event.name in TAKES_ORDINAL:
            for argument in event.call.arguments:
                self._use(event, argument.node)

    def moved(self, event: Moved) -> None:
        if event.named is not None:
            self._use(event, event.named.node)

    def _use(self, event: Event, node: cst.BaseExpression) -> None:
        number = self._number(event.scope, node)
        if number is not None:
            self._used.setdefault(id(number), (number, event))

    def _number(self, scope: Scope, node: cst.BaseExpression) -> cst.CSTNode | None:
        """The conversion ``int(numbers[i])`` that an expression is, or that gave the name that it is."""
        import libcst as cst

        if isinstance(node, (cst.Name, cst.Attribute)):
            return self._numbers.get((scope, code_of(node))) if self._numbers else None
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Name) or node.func.value != "int":
            return None
        item = node.args[0].value if len(node.args) == 1 else None
        listed = item.value if isinstance(item, cst.Subscript) else None
        if isinstance(listed, cst.Call):
            return node if _is_split(listed) else None
        return node if listed is not None and (scope, code_of(listed)) in self._lists else None

    def drafts(self) -> Iterator[Draft]:
        for number, event in self._used.values():
            yield Draft(
                node=number,
                scope=event.scope,
                message=f"{quoted(number, 'the number')} is a physical number out of `{NAME}`, but torch counts the "
                "devices that the variable leaves visible, from 0",
                confidence=Confidence.LOW if event.scope.role is Role.TEST else Confidence.MEDIUM,
                trace=(DraftStep(event.node, event.scope, "used as an ordinal here"),),
                repair=Repair(Applicability.SUGGESTION, "use the position in the list, which is the visible number"),
            )


def _is_split(node: cst.Call) -> bool:
    """``os.environ["CUDA_VISIBLE_DEVICES"].split(",")``."""
    import libcst as cst

    called = node.func
    return isinstance(called, cst.Attribute) and called.attr.value == "split" and NAME in code_of(called.value)
