"""What the functions of one file show about the place of their arguments: copies that are made for the host, devices.

Who writes `.cpu()` in one function of a library expects that file's tensors on an accelerator, and a public function
beside it gets the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import DeviceName
from devlint.placement.domain.lattice import CPU, Anchor, SameAs, leaves
from devlint.placement.domain.scope import Scope, Setting
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, HostRead, Moved


_WORKING = (Setting.FUNCTION, Setting.METHOD)


@dataclass(slots=True)
class ExpectedElsewhere:
    _definitions: dict[str, cst.CSTNode] = field(default_factory=dict)
    _devices: dict[str, str] = field(default_factory=dict)
    """By definition: the parameter that names a device."""
    _brought: dict[str, Moved] = field(default_factory=dict)
    """By public definition: a transfer of an argument to the CPU."""
    _for_numpy: set[str] = field(default_factory=set)
    """Definitions that hand numpy what is on the CPU."""

    def begun(self, event: Begun) -> None:
        self._definitions[event.scope.qualname] = event.node
        named = [name for name, value in event.arguments if isinstance(value, DeviceName)]
        if named and event.scope.setting in _WORKING:
            self._devices[event.scope.qualname] = named[0]

    def brought_to_cpu(self, event: Moved) -> None:
        if _is_public(event.scope) and _follows_argument(event.receiver):
            self._brought.setdefault(event.scope.qualname, event)

    def read_on_host(self, event: HostRead) -> None:
        if event.value.device == CPU:
            self._for_numpy.add(event.scope.qualname)

    def device_parameter(self, event: HostRead) -> str | None:
        """The parameter by which the public function that reads its argument is told the device to work on."""
        told = _is_public(event.scope) and _follows_argument(event.value) and not event.arms
        return self._devices.get(event.scope.qualname) if told else None

    def witness(self, event: HostRead) -> Moved | None:
        """Another function of the file that brings an argument over for numpy, and does not hand this one the copy."""
        scope = event.scope
        if not _is_public(scope) or not _follows_argument(event.value) or event.arms:
            # A condition may tell what came from the host: `if kind is np.ndarray` (fixture `curves`).
            return None
        name = scope.qualname.rpartition(".")[2]
        others = (moved for qualname, moved in self._brought.items() if qualname != scope.qualname)
        for_numpy = (moved for moved in others if moved.scope.qualname in self._for_numpy)
        return next((moved for moved in for_numpy if not self._mentions(moved.scope, name)), None)

    def _mentions(self, scope: Scope, name: str) -> bool:
        import libcst as cst

        from devlint.placement.syntax.nodes import descend

        node = self._definitions.get(scope.qualname)
        return node is None or any(isinstance(part, cst.Name) and part.value == name for part in descend(node))


def _is_public(scope: Scope) -> bool:
    """A private function is for callers in sight, which may have brought the tensor over."""
    private = any(part.startswith("_") for part in scope.qualname.split("."))
    return scope.role is Role.LIBRARY and scope.setting in _WORKING and not private


def _follows_argument(value: object) -> bool:
    device = getattr(value, "device", None)
    found = leaves(device) if device is not None else ()
    return any(isinstance(leaf, SameAs) and leaf.symbol.anchor is Anchor.PARAMETER for leaf in found)
