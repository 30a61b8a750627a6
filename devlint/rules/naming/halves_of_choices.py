"""Switches that are half of the question by which a device is chosen, and are asked alone elsewhere: part of DEV312.

``torch.device("cuda" if args.cuda and torch.cuda.is_available() else "cpu")``, and then ``if args.cuda:``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep
from devlint.finding import Confidence
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.placement.syntax.nodes import code_of, descend, dotted, unpacked
from devlint.rules.naming.ways_out import asking, leaves_without, untried
from devlint.semantics import is_device_probe, raises_without
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Called
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class HalvesOfChoices:
    _definitions: dict[Scope, cst.CSTNode] = field(default_factory=dict)
    _calls: list[tuple[Called, str]] = field(default_factory=list)
    """Calls under one switch alone of what raises without an accelerator, and which one."""

    def begun(self, event: Begun) -> None:
        self._definitions[event.scope] = event.node

    def called(self, event: Called) -> None:
        kind = raises_without(event.name)
        if kind is not None and not event.on_cpu and event.arms and all(one.holds for one in event.arms):
            self._calls.append((event, kind))

    def drafts(self) -> Iterator[Draft]:
        """One a definition: they are mended by one question."""
        told: set[Scope] = set()
        for event, kind in self._calls:
            scope, definition = event.scope, self._definitions.get(event.scope)
            if definition is None or scope in told or scope.role not in (Role.LIBRARY, Role.SCRIPT):
                continue
            whole = _halves(definition)
            switches = [decided.guard.text for decided in event.arms]
            if not all(text in whole for text in switches) or is_named_for_accelerator(scope.qualname):
                continue
            if id(event.node) not in untried(definition) or leaves_without(definition):
                continue
            told.add(scope)
            yield Draft(
                node=event.node,
                scope=scope,
                message=f"`{event.name}` raises on a machine without {kind}; `{switches[0]}` alone does not ask for "
                "one, as it is done with it elsewhere here",
                confidence=Confidence.MEDIUM,
                trace=(DraftStep(whole[switches[0]], scope, "the device is chosen by both here"),),
                repair=asking(kind),
            )


def _halves(definition: cst.CSTNode) -> dict[str, cst.CSTNode]:
    """What a definition asks together with a probe, and does not change: alone it holds without an accelerator too."""
    import libcst as cst

    found: dict[str, cst.CSTNode] = {}
    bound: set[str] = set()
    for node in descend(definition):
        match node:
            case cst.BooleanOperation(operator=cst.And()):
                parts = _conjuncts(node)
                if any(map(_is_probe, parts)):
                    plain = (part for part in parts if isinstance(part, (cst.Name, cst.Attribute)))
                    found.update((code_of(part), node) for part in plain)
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.NamedExpr(target=target):
                bound.update(code_of(one) for one in (target, *unpacked(target)))
            case _:
                pass
    return {name: node for name, node in found.items() if bound.isdisjoint((name, name.partition(".")[0]))}


def _conjuncts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    import libcst as cst

    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And):
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


def _is_probe(node: cst.BaseExpression) -> bool:
    import libcst as cst

    return isinstance(node, cst.Call) and is_device_probe(dotted(node.func) or "")
