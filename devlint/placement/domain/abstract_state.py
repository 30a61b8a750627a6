"""The abstract state at one point of a definition, and the join of two states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from operator import attrgetter

from devlint.placement.domain.abstract_values import (
    NOTHING,
    Container,
    DeviceName,
    Instance,
    Module,
    Opaque,
    Tensor,
    Value,
)
from devlint.placement.domain.lattice import (
    CPU,
    SOME_INDEX,
    UNKNOWN,
    Choice,
    Decided,
    Device,
    Guard,
    assume,
    choose,
)
from devlint.placement.domain.stream_order import NO_SIDE_STREAM, StreamOrder
from devlint.placement.domain.value_join import join_values
from devlint.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Narrowing:
    """``path`` has the value ``value`` where the outcome of a condition is ``when``."""

    path: str
    value: Value
    when: bool


def root_of(path: str) -> str:
    """The name that a storage path starts with."""
    return path if path.isidentifier() else path.split(".", 1)[0].split("[", 1)[0]


@dataclass(slots=True)
class AbstractState:
    """Abstract values by storage path (``x``, ``self.w``, ``batch['x']``), and the process-wide settings."""

    values: dict[str, Value] = field(default_factory=dict)
    default_device: Device = CPU
    """Where a factory without ``device=`` allocates."""
    context_device: Device | None = None
    """The device of the innermost ``with torch.device(...)``; it overrides the default device."""
    current_index: int | None = None
    """The current accelerator's index; SOME_INDEX if it was set to an unknown one, None if it was not set."""
    streams: StreamOrder = NO_SIDE_STREAM
    moved_groups: dict[str, Device] = field(default_factory=dict)
    """Keys of symbols some of whose items were moved, and the target device."""
    moved_in_arms: frozenset[str] = frozenset()
    """Those of them whose items were moved in an arm of a condition alone."""
    moved_once: dict[str, Device] = field(default_factory=dict)
    """Keys of symbols of arguments that were moved themselves, on every way here, and the target device."""
    brought_to_host: frozenset[str] = frozenset()
    """Keys of the symbols of arguments of which something was moved to the CPU: they are not expected there."""
    dead: bool = False
    """Unreachable in the analysed configuration."""
    versions: dict[str, int] = field(default_factory=dict)
    on_cpu: bool = False
    """Reachable only where nothing is on an accelerator: the branch for the CPU, or after the other branch has left."""
    on_accelerator: bool = False
    """Reachable only where an accelerator is in use."""
    left: tuple[Decided, ...] = ()
    """The conditions whose other arm has left the definition, with the outcome that goes on."""

    def copy(self) -> AbstractState:
        # ``dataclasses.replace`` takes four times as long, and each branch copies a state.
        made = AbstractState(*_fields_of(self))
        made.values = dict(self.values)
        made.moved_groups = dict(self.moved_groups)
        made.versions = dict(self.versions)
        return made

    def store(self, path: str, value: Value) -> None:
        """Bind a path; values of its attributes and items are dropped."""
        self.forget_parts(path)
        self.values[path] = value
        root = root_of(path)
        self.versions[root] = self.versions.get(root, 0) + 1

    def forget_parts(self, path: str) -> None:
        parts = (f"{path}.", f"{path}[")
        stale = [key for key in self.values if key.startswith(parts)]
        for key in stale:
            del self.values[key]

    @property
    def factory_device(self) -> Device:
        return self.default_device if self.context_device is None else self.context_device

    def narrowed(self, guard: Guard, holds: bool) -> AbstractState:
        """This state in the branch where ``guard`` holds or not."""
        inside = self.copy()
        for path, value in self.values.items():
            if type(value) in _PLACED and type(value.device) is Choice:  # type: ignore[union-attr]
                device = assume(value.device, guard, holds)  # type: ignore[union-attr]
                inside.values[path] = replace(value, device=device)  # type: ignore[arg-type]
        return inside


_PLACED = frozenset({Tensor, Opaque, Module, DeviceName, Instance})
"""The values that have a device."""

_fields_of = attrgetter(*(field.name for field in fields(AbstractState)))


def join(guard: Guard | None, then: AbstractState | None, otherwise: AbstractState | None) -> AbstractState | None:
    """The state after a branch; None stands for an arm whose end is not reachable."""
    if then is None or otherwise is None:
        return then if otherwise is None else otherwise
    joined = then.copy()
    mine, theirs = then.values, otherwise.values
    for path, a in mine.items():
        b = theirs.get(path)
        if a is not b:
            b = _as_before(path, theirs) if b is None else b
            joined.values[path] = _of_one_arm(path, a) if b is None else join_values(guard, a, b)
    for path, b in theirs.items():
        if path not in mine:
            was = _as_before(path, mine)
            joined.values[path] = _of_one_arm(path, b) if was is None else join_values(guard, was, b)
    joined.default_device = choose(guard, then.default_device, otherwise.default_device)
    if then.context_device is not None and otherwise.context_device is not None:
        joined.context_device = choose(guard, then.context_device, otherwise.context_device)
    if then.current_index != otherwise.current_index:
        joined.current_index = SOME_INDEX
    joined.streams = then.streams.joined(otherwise.streams)
    joined.on_cpu = then.on_cpu and otherwise.on_cpu
    joined.on_accelerator = then.on_accelerator and otherwise.on_accelerator
    if joined.left:
        joined.left = tuple(decided for decided in then.left if decided in otherwise.left)
    joined.brought_to_host = then.brought_to_host | otherwise.brought_to_host
    joined.moved_groups = {**otherwise.moved_groups, **then.moved_groups}
    if joined.moved_once:
        theirs_moved = otherwise.moved_once
        joined.moved_once = {key: to for key, to in joined.moved_once.items() if theirs_moved.get(key) == to}
    in_arms = then.moved_groups.keys() ^ otherwise.moved_groups.keys()
    joined.moved_in_arms = then.moved_in_arms | otherwise.moved_in_arms | in_arms
    for name, version in otherwise.versions.items():
        if joined.versions.get(name) != version:
            joined.versions[name] = max(version, joined.versions.get(name, 0)) + 1
    return joined


def _as_before(path: str, values: Mapping[str, Value]) -> Value | None:
    """``pair[0]``, ``batch['x']`` in the arm that does not replace it, where the whole is known item by item."""
    if not path.endswith("]"):
        return None
    name, _, key = path[:-1].rpartition("[")
    whole = values.get(name)
    if not isinstance(whole, Container):
        return None
    if whole.keys is None and whole.rest is not None:
        return whole.rest if not whole.items else None
    keys = range(len(whole.items)) if whole.keys is None else whole.keys
    return next((item for known, item in zip(keys, whole.items, strict=True) if repr(known) == key), None)


def _of_one_arm(path: str, value: Value) -> Value:
    """The value of a path that the other arm does not bind."""
    # Where one arm replaced a part, the other has only the value of the whole: neither is certain.
    return _weakened(value) if "." in path or "[" in path else value


def _weakened(value: Value) -> Value:
    if isinstance(value, (Tensor, Opaque)):
        return replace(value, device=UNKNOWN)
    if isinstance(value, Container):
        # What kind of things it holds is certain where it is read.
        inside = (item if isinstance(item, Module) else _weakened(item) for item in value.items)
        rest = value.rest if value.rest is None or isinstance(value.rest, Module) else _weakened(value.rest)
        return replace(value, items=tuple(inside), rest=rest)
    return NOTHING
