"""How the file itself calls its own helpers: a helper that only ever gets CPU tensors works on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain import CPU, Unknown, leaves
from devlint.placement.values import Opaque, Self, Tensor

if TYPE_CHECKING:
    from devlint.placement.events import Called
    from devlint.placement.scope import Scope


class CallSites:
    """The calls of methods through ``self`` and of functions with a leading underscore, by the last part of their name.

    Only of these are the callers in sight; a public function is also called by others.
    """

    def __init__(self) -> None:
        self._on_cpu: dict[str, bool] = {}

    def note(self, event: Called) -> None:
        name = event.name.rsplit(".", 1)[-1]
        if not isinstance(event.receiver, Self) and not name.startswith("_"):
            return
        values = [a.value for a in event.call.arguments if isinstance(a.value, (Tensor, Opaque))]
        if not values:
            return
        on_cpu = all(_from_the_cpu(value) for value in values)
        self._on_cpu[name] = on_cpu and self._on_cpu.get(name, True)

    def on_cpu(self, scope: Scope) -> bool:
        """Whether every call of this definition in the file hands it CPU tensors and nothing else."""
        return self._on_cpu.get(scope.qualname.rsplit(".", 1)[-1], False)


def _from_the_cpu(value: Tensor | Opaque) -> bool:
    """On the CPU, or made without a device and then mixed with what the walk cannot place."""
    if isinstance(value.device, Unknown):
        return value.origin is not None and value.origin.first.bare
    return set(leaves(value.device)) == {CPU}
