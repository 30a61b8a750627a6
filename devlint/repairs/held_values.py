"""What a name holds at a place of a function: whether its ``.device`` can be read there.

The walk says what each assignment binds; the syntax says which of them may have run by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Opaque, Tensor, UnknownValue, Value
from devlint.records import dataclass

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, Stored
    from devlint.placement.domain.scope import Scope


@dataclass(slots=True)
class HeldValues:
    """The values that the definitions of a file bind to their names."""

    _stored: dict[tuple[Scope, str], dict[int, Value]] = field(default_factory=dict)
    """By the definition and the name: what each target is bound to, by the identity of its node."""

    def note(self, event: Stored) -> None:
        if event.attribute is None and event.target.isidentifier():
            self._stored.setdefault((event.scope, event.target), {})[id(event.node)] = event.value

    def is_tensor(self, name: str, begun: Begun, at: cst.CSTNode, used: bool = False) -> bool:
        """Whether a local name is a tensor when ``at`` is evaluated, on every path, and not None.

        ``used``: an operation takes it as a tensor later, so what is of unknown type is one. Names of the module, and
        of functions around this one, are taken to be tensors.
        """
        import libcst as cst

        from devlint.repairs.bound_names import bound_in, is_asked_for_another_type

        function = begun.node
        if not isinstance(function, cst.FunctionDef) or not bound_in(name, function):
            return True
        held = self._held(name, begun, function, at)
        tensors = all(_may_be_tensor(value) or (used and isinstance(value, (Opaque, UnknownValue))) for value in held)
        return tensors and not (may_be_absent(name, function, at) or is_asked_for_another_type(name, function, at))

    def is_one_tensor(self, name: str, begun: Begun, at: cst.CSTNode) -> bool:
        """Whether a local name is known to be a tensor itself: then so is each item, on the same device."""
        import libcst as cst

        function = begun.node
        if not isinstance(function, cst.FunctionDef):
            return False
        held = list(self._held(name, begun, function, at))
        return bool(held) and all(isinstance(value, Tensor) for value in held)

    def _held(self, name: str, begun: Begun, function: cst.FunctionDef, at: cst.CSTNode) -> Iterator[Value | None]:
        """What it may be bound to by then; None where nobody knows."""
        import libcst as cst

        from devlint.placement.syntax.nodes import descend
        from devlint.repairs.bound_names import bindings_before, is_always_before, path_to

        stored = self._stored.get((begun.scope, name), {})
        around = path_to(function, at)
        for binding in reversed(bindings_before(name, function, at)):
            if isinstance(binding, cst.AugAssign):
                continue  # what it was before, it still is
            found = [stored[id(node)] for node in descend(binding) if id(node) in stored]
            yield found[-1] if found else None
            of_block = isinstance(binding, (cst.For, cst.With, cst.CompFor)) and binding in around
            if of_block or is_always_before(binding, function, at):
                return
        given = dict(begun.arguments)
        if name in given:
            yield given[name]


def may_be_absent(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether it is a parameter that the function allows to be None, and nothing before ``at`` rules that out."""
    from devlint.repairs.bound_names import (
        bindings_before,
        is_always_before,
        is_behind_a_test,
        is_dereferenced_before,
        is_filled_in,
        may_be_none,
    )

    if not may_be_none(name, function) or is_dereferenced_before(name, function, at):
        return False
    if is_behind_a_test(name, function, at):
        return False
    before = bindings_before(name, function, at)
    return not any(is_always_before(one, function, at) or is_filled_in(name, function, one) for one in before)


def _may_be_tensor(value: Value | None) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)
