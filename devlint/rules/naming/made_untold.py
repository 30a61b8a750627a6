"""Objects made by a definition that ignores its device, of classes that would take it: part of DEV308."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.placement.declarations.left_out_devices import leaves_out
from devlint.placement.domain.abstract_values import Instance, Module

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.domain.events import Called, ParameterIgnored


@dataclass(slots=True)
class MadeUntold:
    _made: dict[str, list[tuple[Called, FunctionInfo]]] = field(default_factory=dict)
    """By definition: the objects of the project's classes that it makes, with their constructors."""

    def called(self, event: Called) -> None:
        info = event.result.info if isinstance(event.result, (Instance, Module)) else None
        if info is None or event.name.rpartition(".")[2] != info.name:
            return
        constructor = info.method("__init__")
        if constructor is not None:
            self._made.setdefault(event.scope.qualname, []).append((event, constructor))

    def beside(self, ignored: ParameterIgnored) -> Iterator[Called]:
        """Where a class of the same parameter is told nothing."""
        for event, constructor in self._made.get(ignored.scope.qualname, ()):
            if not event.call.unpacks and leaves_out(event.call.node, constructor, ignored.name):
                yield event
