"""The interface of an interpreter to the module that it evaluates, and to other modules of the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.domain.abstract_values import ProjectModule, Value
    from devlint.placement.domain.class_facts import ClassFacts, ObjectStores
    from devlint.placement.domain.events import Event, HostRead
    from devlint.placement.domain.lattice import Device
    from devlint.source.role import Role


class Program(Protocol):
    """One module of a program, as the interpreter sees it."""

    @property
    def tree(self) -> cst.Module:
        """The file, where the bodies of definitions may be left out."""

    @property
    def index(self) -> FileIndex: ...
    @property
    def path(self) -> str: ...
    @property
    def role(self) -> Role: ...

    def rests_on(self, part: str) -> None:
        """Record that a part of the module was read that its readers cannot know of by themselves."""

    # -- names

    def global_value(self, name: str) -> Value:
        """The value of a module-level name, an import, or a builtin."""

    def is_unbound(self, name: str) -> bool:
        """Whether a name is certainly neither a module-level one, nor a builtin, nor of a star import."""

    def member(self, module: ProjectModule, name: str) -> Value:
        """An attribute of a module of the project."""

    def bind_global(self, name: str, value: Value) -> None:
        """Bind a name by a module-level statement."""

    def note_default(self, device: Device) -> None:
        """Record that a module-level statement may have set the default device."""

    # -- definitions

    def defer(self, info: FunctionInfo) -> None:
        """Evaluate a nested definition after its enclosing definition."""

    def summary(self, info: FunctionInfo) -> Value | None:
        """The returned value in terms of its parameters' symbols; None while it is not available."""

    def holder(self, info: FunctionInfo | ClassInfo) -> Program | None:
        """The module that declares a definition; None for a definition known only inside its own evaluation."""

    def running(self, info: FunctionInfo) -> AbstractContextManager[None]:
        """Mark a definition as being evaluated for one call; meanwhile its summary is not available."""

    def is_running(self, info: FunctionInfo) -> bool:
        """Whether a definition is being evaluated, or is nested too deep to be."""

    def note_argument(self, key: str, value: Value) -> None:
        """Record an argument for the parameter with this symbol key."""

    # -- classes

    def facts(self, info: ClassInfo) -> ClassFacts:
        """The attributes of a class by its constructor and its bases in the project."""

    def in_progress(self, info: ClassInfo) -> bool:
        """Whether the facts of a class are being computed."""

    def stores_of(self, info: FunctionInfo) -> ObjectStores | None:
        """What the walk of a definition stores on objects, or has stored so far; None if nested too deep."""

    def load_places_of(self, info: FunctionInfo) -> frozenset[str]:
        """The parameters that a definition hands to ``torch.load`` as ``map_location``; empty while it runs."""

    def events_of(self, info: FunctionInfo) -> Sequence[Event]:
        """What the evaluation of a definition by itself emitted; nothing while it runs."""

    def host_reads_of(self, info: FunctionInfo) -> Mapping[str, HostRead]:
        """What each call of a definition reads by numpy, by the keys of symbols; empty while it runs."""

    def builds(self, function: FunctionInfo | None, info: ClassInfo) -> bool:
        """Whether what a function stores on an object is present on every new object of the class."""

    def registers(self, info: ClassInfo, name: str) -> bool:
        """Whether the class itself, which this module declares, registers a buffer of that name."""

    def note_buffer(self, info: ClassInfo, name: str) -> None:
        """Record a registered buffer, with a value or None: later assignments to the name replace the buffer."""
