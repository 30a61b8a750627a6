"""Helpers that no call tells a device: that one ignores it matters to nobody. Part of DEV308."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.placement.declarations.left_out_devices import is_left_out
from devlint.placement.syntax.nodes import dotted
from devlint.source.outline import is_private

if TYPE_CHECKING:
    from devlint.placement.domain.events import Called, ParameterIgnored


@dataclass(slots=True)
class NeverTold:
    _calls: dict[str, list[Called]] = field(default_factory=dict)
    """By the name of a private function: its calls in the file, which are most of them."""

    def called(self, event: Called) -> None:
        name = event.name.rpartition(".")[2]
        if is_private(name):
            self._calls.setdefault(name, []).append(event)

    def all_leave_out(self, ignored: ParameterIgnored) -> bool:
        """Whether a private function of the file has calls, and each leaves the parameter to its default."""
        calls = self._calls.get(ignored.scope.qualname, ())
        return bool(calls) and all(_leaves_out(one, ignored) for one in calls)


def _leaves_out(event: Called, ignored: ParameterIgnored) -> bool:
    import libcst as cst

    call, definition = event.call.node, ignored.definition
    if not isinstance(definition, cst.FunctionDef) or dotted(call.func) != ignored.scope.qualname:
        return False
    return not event.call.unpacks and is_left_out(call, definition, ignored.name, bound=False)
