"""What the objects of a class are built of in its file, where the constructor keeps a list that it is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.finding import Confidence
from devlint.placement.domain.abstract_values import Container, Module
from devlint.placement.syntax.nodes import positions_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.domain.events import Called


class HandedLists:
    """The calls of a file that build its modules."""

    def __init__(self) -> None:
        self._calls: dict[str, list[CallSite]] = {}
        """By class."""

    def called(self, event: Called) -> None:
        if isinstance(event.result, Module) and event.result.info is not None:
            self._calls.setdefault(event.result.info.qualname, []).append(event.call)

    def confidence(self, info: ClassInfo, modules: Iterable[Module]) -> Confidence | None:
        """That the list which holds these modules, by its annotation, registers none of them; None if it does.

        `Part(self.layers[:4])`: a slice of an `nn.ModuleList` is an `nn.ModuleList` (fixture `slices_of_lists`).
        """
        names = {one.provenance.first.name.partition("[")[0] for one in modules if one.provenance is not None}
        given = [value for name in names for value in self._given(info, name)]
        if not given or any(isinstance(value, Container) for value in given):
            return Confidence.MEDIUM
        return None if all(isinstance(value, Module) for value in given) else Confidence.LOW

    def _given(self, info: ClassInfo, parameter: str) -> Iterable[Value]:
        constructor = info.method("__init__")
        if constructor is None:
            return
        for position, declared in positions_of(constructor.header, bound=True):
            if declared.name.value == parameter:
                for call in self._calls.get(info.qualname, ()):
                    argument = call.argument(parameter, position)
                    if argument is not None:
                        yield argument.value
