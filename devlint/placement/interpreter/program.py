"""What an interpreter asks of the module that it evaluates, and of the modules around it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.domain.abstract_values import ProjectModule, Value
    from devlint.placement.domain.class_facts import ClassFacts, ObjectStores
    from devlint.placement.domain.lattice import Device
    from devlint.source.role import Role


class Program(Protocol):
    """One module of a program, as the evaluation of its definitions sees it."""

    @property
    def index(self) -> FileIndex: ...
    @property
    def path(self) -> str: ...
    @property
    def role(self) -> Role: ...

    # -- names

    def global_value(self, name: str) -> Value:
        """A name of the module, an import, or a builtin."""

    def member(self, module: ProjectModule, name: str) -> Value:
        """An attribute of a module of the project."""

    def bind_global(self, name: str, value: Value) -> None:
        """A statement of the module level binds a name."""

    def note_default(self, device: Device) -> None:
        """A statement of the module level may have set the default device."""

    # -- definitions

    def defer(self, info: FunctionInfo) -> None:
        """A definition found inside another, to be evaluated after it."""

    def summary(self, info: FunctionInfo) -> Value | None:
        """What the definition returns, in terms of its parameters' symbols; None when that is not known yet."""

    def holder(self, info: FunctionInfo | ClassInfo) -> Program | None:
        """The module that declares a definition; None for one that only its own evaluation knows."""

    def running(self, info: FunctionInfo) -> AbstractContextManager[None]:
        """While a definition is evaluated for one call, queries for its summary have no answer."""

    def is_running(self, info: FunctionInfo) -> bool:
        """Whether a definition is being evaluated, or lies too deep to be."""

    def note_argument(self, key: str, value: Value) -> None:
        """A call gives an argument to the parameter of this symbol key."""

    # -- classes

    def facts(self, info: ClassInfo) -> ClassFacts:
        """The attributes of a class by its constructor and its bases in the project."""

    def in_progress(self, info: ClassInfo) -> bool:
        """Whether the facts of a class are being computed."""

    def stores_of(self, info: FunctionInfo) -> ObjectStores | None:
        """What the walk of a definition stores on objects; None while it runs, or too deep."""

    def builds(self, function: FunctionInfo | None, info: ClassInfo) -> bool:
        """Whether what a function stores on an object is what every object of the class begins with."""

    def registers(self, info: ClassInfo, name: str) -> bool:
        """Whether the class itself, which this module declares, registers a buffer of that name."""

    def note_buffer(self, info: ClassInfo, name: str) -> None:
        """A name is registered as a buffer, be it with None: what is assigned to it later takes its place."""
