"""Defaults that torch refuses, of parameters that reach it as they are: part of DEV309.

`device="auto"` is a word for what chooses one. Where nobody looks for it, whoever leaves the device out hands it on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep
from devlint.drafts.wording import code_of
from devlint.finding import Confidence, Severity
from devlint.semantics import Refused, parse_device
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.abstract_values import Argument
    from devlint.placement.domain.events import Begun, Created, Moved, Stored
    from devlint.placement.domain.scope import Scope

_CHOSEN_LATER = frozenset({"auto", "gpu", "gpus", "any", "nvidia", "best"})
"""Words that stand for a device which is still to be chosen."""


@dataclass(slots=True)
class RefusedDefaults:
    _defaults: dict[tuple[Scope, str], cst.SimpleString] = field(default_factory=dict)
    """By definition and parameter: such a word, where the caller gives nothing."""
    _begun: dict[Scope, Begun] = field(default_factory=dict)
    _stored: dict[tuple[str, str], list[Stored]] = field(default_factory=dict)
    """By class and attribute: what it keeps as its device."""
    _rebound: set[tuple[Scope, str]] = field(default_factory=set)
    _used: list[tuple[Moved | Created, Argument]] = field(default_factory=list)

    def begun(self, event: Begun) -> None:
        self._begun[event.scope] = event
        for name, node in _words(event.node):
            self._defaults[event.scope, name] = node

    def stored(self, event: Stored) -> None:
        self._rebound.add((event.scope, event.target))
        if event.target.startswith("self.") and event.scope.class_name is not None:
            self._stored.setdefault((event.scope.class_name, event.target), []).append(event)

    def used(self, event: Moved | Created) -> None:
        if event.named is not None:
            self._used.append((event, event.named))

    def drafts(self) -> Iterator[Draft]:
        told: set[int] = set()
        for event, named in self._used if self._defaults else ():
            default = self._default_of(event.scope, code_of(named.node))
            if default is None or id(default) in told or event.scope.role is Role.TEST:
                continue
            told.add(id(default))
            word = code_of(default)
            yield Draft(
                node=default,
                scope=event.scope,
                message=f"`{word}` reaches `torch` for whoever leaves the device out, which refuses it: nothing here "
                "chooses a device for that word",
                severity=Severity.WARNING,
                confidence=Confidence.MEDIUM,
                trace=(DraftStep(event.node, event.scope, "it is used as a device here"),),
            )

    def _default_of(self, scope: Scope, spelled: str) -> cst.SimpleString | None:
        owner = scope.class_name
        if owner is not None and spelled.startswith("self."):
            stores = self._stored.get((owner, spelled), [])
            if len(stores) != 1 or stores[0].value_node is None:
                return None
            scope, spelled = stores[0].scope, code_of(stores[0].value_node)
        default = self._defaults.get((scope, spelled))
        if default is None or (scope, spelled) in self._rebound:
            return None
        return None if self._is_looked_for(default) else default

    def _is_looked_for(self, default: cst.SimpleString) -> bool:
        """Whether the word stands elsewhere in the file's definitions: in a comparison, or in a table of choices."""
        import libcst as cst

        from devlint.placement.syntax.nodes import descend, parameters_of

        word = default.evaluated_value
        for event in self._begun.values():
            whole = event.owner.node if event.owner is not None else event.node
            defaults = {
                id(one.default)
                for function in descend(whole)
                if isinstance(function, cst.FunctionDef)
                for one in parameters_of(function)
            }
            strings = (node for node in descend(whole) if isinstance(node, cst.SimpleString))
            if any(node.evaluated_value == word and id(node) not in defaults for node in strings):
                return True
        return False


def _words(node: cst.CSTNode) -> Iterable[tuple[str, cst.SimpleString]]:
    import libcst as cst

    from devlint.placement.syntax.nodes import parameters_of

    for one in parameters_of(node) if isinstance(node, cst.FunctionDef) else ():
        word = one.default.evaluated_value if isinstance(one.default, cst.SimpleString) else None
        is_device = one.name.value.endswith("device") and isinstance(word, str) and word in _CHOSEN_LATER
        if is_device and isinstance(parse_device(str(word)), Refused) and isinstance(one.default, cst.SimpleString):
            yield one.name.value, one.default
