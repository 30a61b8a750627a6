"""What module-level names hold while the module level is evaluated: definitions that it calls read them then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Value
    from devlint.placement.interpreter.interpreter import Interpreter


@dataclass(slots=True)
class BoundNames:
    """The names bound so far; empty once the module level is evaluated."""

    _bound: dict[str, Value] = field(default_factory=dict)
    _walk: Interpreter | None = None

    def begin(self, walk: Interpreter) -> None:
        self._bound, self._walk = {}, walk

    def end(self) -> dict[str, Value]:
        """The names after the last statement."""
        state = self._walk.env if self._walk is not None else None
        of_classes = {name: value for name, value in self._bound.items() if "." in name}
        names = {**state.values, **of_classes} if state is not None else self._bound
        self._bound, self._walk = {}, None
        return names

    def bind(self, name: str, value: Value) -> None:
        self._bound[name] = value

    def get(self, name: str) -> Value | None:
        """What a statement did to a value since it was bound, as ``model.cuda()`` does, the state of the walk knows."""
        state = self._walk.env if self._walk is not None else None
        now = state.values.get(name) if state is not None else None
        return self._bound.get(name) if now is None else now
