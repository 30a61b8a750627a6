"""What the functions of one file show about the place of their arguments: copies that are made for the host.

Who writes `.cpu()` in one function of a library expects its argument on an accelerator, and a public function beside it
that takes an argument of the same name gets the same one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devlint.finding import Confidence
from devlint.placement.domain.abstract_values import Evidence, Tensor
from devlint.placement.domain.lattice import CPU, GuardKind, is_of_parameter, leaves
from devlint.placement.domain.scope import Scope, Setting
from devlint.placement.state.host_reads import METHOD
from devlint.source.role import Role

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun, HostRead, Moved


_WORKING = (Setting.FUNCTION, Setting.METHOD)


@dataclass(slots=True)
class ExpectedElsewhere:
    _definitions: dict[str, cst.CSTNode] = field(default_factory=dict)
    _brought: dict[tuple[str, str], Moved] = field(default_factory=dict)
    """By public definition and argument: its transfer to the CPU."""
    _for_numpy: set[str] = field(default_factory=set)
    """Definitions that hand numpy what is on the CPU."""

    def begun(self, event: Begun) -> None:
        self._definitions[event.scope.qualname] = event.node

    def brought_to_cpu(self, event: Moved) -> None:
        argument = _argument_of(event.receiver)
        if _is_public(event.scope) and argument is not None:
            self._brought.setdefault((event.scope.qualname, argument), event)

    def read_on_host(self, event: HostRead) -> None:
        if event.value.device == CPU:
            self._for_numpy.add(event.scope.qualname)

    def witness(self, event: HostRead) -> Moved | None:
        """Another function that brings its argument of the same name over for numpy, and does not hand on the copy."""
        scope, argument = event.scope, _argument_of(event.value)
        if not _is_public(scope) or argument is None or event.arms:
            # A condition may tell what came from the host: `if kind is np.ndarray` (fixture `curves`).
            return None
        name = scope.qualname.rpartition(".")[2]
        alike = (moved for (_, given), moved in self._brought.items() if given == argument)
        others = (moved for moved in alike if moved.scope.qualname != scope.qualname)
        for_numpy = (moved for moved in others if moved.scope.qualname in self._for_numpy)
        return next((moved for moved in for_numpy if not self._mentions(moved.scope, name)), None)

    def _mentions(self, scope: Scope, name: str) -> bool:
        import libcst as cst

        from devlint.placement.syntax.nodes import descend

        node = self._definitions.get(scope.qualname)
        return node is None or any(isinstance(part, cst.Name) and part.value == name for part in descend(node))


def confidence_by_test(event: HostRead) -> Confidence:
    """`if isinstance(x, torch.Tensor): x = x.numpy()`: what takes arrays and tensors alike takes them from anywhere.

    An object that is called with an item is a transform, which works on the host (fixture `converters`).
    """
    scope = event.scope
    works = scope.role is Role.LIBRARY and scope.setting in _WORKING and not scope.qualname.endswith(".__call__")
    tested = any(arm.holds and arm.guard.kind is GuardKind.IS_TENSOR for arm in event.arms)
    return Confidence.MEDIUM if works and tested else Confidence.LOW


def takes_any_tensor(event: HostRead) -> bool:
    """`def query(self, points: torch.Tensor)`: a public function reads an argument that is a tensor, as it came.

    Its contract says nothing of a place, so that whoever has the tensor on an accelerator hands it over from there.
    An object that is called with an item is a transform, which works on the host; a function in a function is for those
    who are in sight.
    """
    value, scope = event.value, event.scope
    if not _is_public(scope) or scope.is_nested or scope.qualname.endswith((".__call__", ".forward")):
        return False
    if event.reader != METHOD or event.arms or _argument_of(value) is None:
        return False
    return isinstance(value, Tensor) and value.evidence is Evidence.CERTAIN


def _is_public(scope: Scope) -> bool:
    """A private function is for callers in sight, which may have brought the tensor over."""
    private = any(part.startswith("_") for part in scope.qualname.split("."))
    return scope.role is Role.LIBRARY and scope.setting in _WORKING and not private


def _argument_of(value: object) -> str | None:
    """The name of the argument that a value follows."""
    device = getattr(value, "device", None)
    found = leaves(device) if device is not None else ()
    names = (leaf.symbol.name for leaf in found if is_of_parameter(leaf))
    return next(names, None)
