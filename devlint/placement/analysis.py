"""The analysis of one file: every definition walked once, summaries and class facts computed on demand."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement import calls as _calls  # noqa: F401  (registers the evaluation of calls)
from devlint.placement import comparisons as _comparisons  # noqa: F401  (registers the comparisons)
from devlint.placement import comprehensions as _comprehensions  # noqa: F401  (registers the comprehensions)
from devlint.placement import definitions as _definitions  # noqa: F401  (registers the definitions)
from devlint.placement import statements as _statements  # noqa: F401  (registers the statements)
from devlint.placement.attributes import module_symbol
from devlint.placement.callers import Callers
from devlint.placement.classes import AttributeFact, ClassFacts, is_registered, kept, kind_of
from devlint.placement.devices import device_of
from devlint.placement.domain import CPU, UNKNOWN, Device
from devlint.placement.environment import Environment, join
from devlint.placement.events import CallSite, ClassWalked, Event, Loaded, Sink
from devlint.placement.index import FileIndex, index_file
from devlint.placement.infos import ClassInfo, FunctionInfo
from devlint.placement.own_attributes import registered_attributes
from devlint.placement.parameters import announce, bind_parameters, scope_of
from devlint.placement.scope import Scope, Setting
from devlint.placement.summaries import Summary, substitute
from devlint.placement.syntax import body_of, parameters_of
from devlint.placement.values import (
    NONE,
    NOTHING,
    ClassValue,
    Constant,
    Function,
    Module,
    ProjectModule,
    Reference,
    Self,
    UnknownValue,
    Value,
)
from devlint.placement.walk import Walk
from devlint.source.asked import MODULE
from devlint.source.outline import DEFAULTING
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.placement.project import Project

MAX_STARS = 32
"""Modules that a file imports whole; in an index of hundreds of them, looking one name up would read them all."""

MAX_DEPTH = 12
"""How many definitions deep a question leads; beyond, the answer is unknown."""


def analyse(
    tree: cst.Module,
    path: str,
    role: Role,
    project: Project | None = None,
    file: Path | None = None,
    index: FileIndex | None = None,
) -> Iterator[Event]:
    """The events of one file: module level first, then each definition in the order of the source, then the classes.

    With a ``project``, ``file`` is where the text stands, and what it imports from around there is known as well.
    """
    yield from Analysis(tree, path, role, project, file, index).events()


class Analysis:
    """What is known of one file. The seam to other files is :meth:`global_value`, where imported names are resolved."""

    def __init__(
        self,
        tree: cst.Module,
        path: str,
        role: Role,
        project: Project | None = None,
        file: Path | None = None,
        index: FileIndex | None = None,
        asked_only: bool = False,
    ) -> None:
        """``index`` is that of the file; one that is ``asked_only`` has its module level walked if a name wants it."""
        self.tree = tree
        self._asked_only = asked_only
        self.index: FileIndex = index if index is not None else index_file(tree)
        self.path = path
        self.role = role
        self.file = file
        self.project = project
        self._globals: dict[str, Value] = {}
        self._walks: dict[int, Walk] = {}
        self._running: list[int] = project.running if project is not None else []
        self._facts: dict[int, ClassFacts] = {}
        self._facts_running: set[int] = set()
        self._noted: dict[int, dict[str, tuple[Value, cst.CSTNode, Scope]]] = {}
        self._dynamic: set[int] = set()
        self._buffers: set[tuple[int, str]] = set()
        self._deferred: list[FunctionInfo] = []
        self.callers = Callers(self.index.indirect, self._only_used_here)
        self._default: Device = CPU
        for function in self.index.functions.values():
            function.home = self
        for defined in self.index.classes.values():
            defined.home = self
        if project is not None and file is not None:
            project.enter(file, self)
        self._module: Walk | None = None
        sets_default = not DEFAULTING.isdisjoint(self.index.read_names)
        if not self._asked_only or sets_default:
            self._walk_module()
        if self._default == CPU and sets_default:
            # Set inside some function: when it has run is not known here.
            self._default = UNKNOWN

    def dissolve(self) -> None:
        """Lets go of everything, so that no cycle keeps the tree in memory once the events have been read."""
        self._module = None
        self._walks.clear()
        self._facts.clear()
        self.callers.forget()
        self._noted.clear()
        self._globals.clear()
        self._deferred.clear()
        for function in self.index.functions.values():
            function.home = None
            function.closure = {}
        for info in self.index.classes.values():
            info.forget()
            if not self._asked_only:
                info.methods.clear()

    # -- events ---------------------------------------------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        loaded: dict[str, dict[str, set[str]]] = {}
        yield from self._walk_module().events
        functions = self.index.in_order()
        for info in self.index.classes.values():
            self.facts(info)
        for function in functions:
            self._walked(function)
        position = 0
        while position < len(self._deferred):
            # Walking one lambda may find another.
            self._walked(self._deferred[position])
            position += 1
        nested = [info for info in self._deferred if info.key not in self.index.functions]
        for function in (*functions, *nested):
            yield from self._events_of(function, loaded)
        for info in self.index.classes.values():
            yield ClassWalked(info.node, self._class_scope(info), self._completed(info, loaded))

    def _events_of(self, function: FunctionInfo, loaded: dict[str, dict[str, set[str]]]) -> Iterator[Event]:
        walk = self._walked(function)
        if walk is None:
            return
        for event in walk.events:
            if isinstance(event, Loaded) and event.scope.class_name is not None:
                by_name = loaded.setdefault(event.scope.class_name, {})
                by_name.setdefault(event.attribute, set()).add(function.name)
            judged = self.callers.judged(event, walk.scope)
            if judged is not None:
                yield judged

    def _only_used_here(self, name: str) -> bool:
        if self.project is None or self.file is None or name in self.index.indirect:
            return False
        return self.project.only_used_inside(self.file, name)

    def _class_scope(self, info: ClassInfo) -> Scope:
        return Scope(self.path, self.role, info.qualname, Setting.MODULE_LEVEL, info.qualname)

    # -- walks ----------------------------------------------------------------------------------------------------

    def rests_on(self, part: str) -> None:
        """Note that a part of this file was looked at, if it is another one than that which is analysed."""
        if self._asked_only and self.project is not None and self.file is not None:
            self.project.rests_on(self.file, part)

    def _walk_module(self) -> Walk:
        self.rests_on(MODULE)
        if self._module is None:
            walk = self._module = Walk(self, Scope(self.path, self.role, "", Setting.MODULE_LEVEL))
            walk.run(iter(list(body_of(self.tree))))
            if walk.env is not None:
                self._globals = dict(walk.env.values)
        return self._module

    def _walked(self, info: FunctionInfo) -> Walk | None:
        """The walk of a definition; None while it runs, or too deep."""
        if info.home is not None and info.home is not self:
            return info.home._walked(info)
        key = info.key
        found = self._walks.get(key)
        if found is not None:
            return found
        if self.is_running(info):
            return None
        walk = Walk(self, scope_of(info, self.path, self.role), info)
        walk.state.default_device = self._default
        bind_parameters(walk, info)
        if not self._asked_only:
            announce(walk, info)
        with self.running(info):
            walk.run_definition(info.node)
        self._walks[key] = walk
        return walk

    @contextmanager
    def running(self, info: FunctionInfo) -> Iterator[None]:
        """While a definition is walked, what is asked of it again has no answer yet."""
        self._running.append(info.key)
        try:
            yield
        finally:
            self._running.pop()

    def is_running(self, info: FunctionInfo) -> bool:
        return info.key in self._running or len(self._running) >= MAX_DEPTH

    def defer(self, info: FunctionInfo) -> None:
        """A definition found inside another, to be walked after it."""
        if all(info.key != other.key for other in self._deferred):
            self._deferred.append(info)

    def summary(self, info: FunctionInfo) -> Summary | None:
        """What the definition returns; None when that is not known yet."""
        if info.owner is not None and self.in_progress(info.owner):
            return None
        walk = self._walked(info)
        return None if walk is None else Summary(walk.result())

    def property_value(self, walk: Walk, owner: Self, method: FunctionInfo) -> Value:
        """What a property gives, for the object it is asked of."""
        summary = self.summary(method)
        if summary is None or method.owner is None:
            return NOTHING
        return substitute(summary.value, {module_symbol(method.owner).key: owner}, walk, None)

    # -- names ----------------------------------------------------------------------------------------------------

    def global_value(self, name: str) -> Value:
        """A name of the module, an import, or a builtin."""
        found = self.exported(name)
        if found is not None:
            return found
        if hasattr(builtins, name):
            return Reference(name)
        found = self.from_star(name)
        return NOTHING if found is None else found

    def exported(self, name: str) -> Value | None:
        """A name that the module binds or imports; None where it does neither.

        ``box_area = None`` stands in for an import that failed: where it is used, it did not.
        """
        if name in self.index.rebound:
            return NOTHING
        if self._module is not None or name in self.index.bound:
            self._walk_module()
        found = self._globals.get(name)
        if found is not None and not (found == NONE and name in self.index.names):
            return found
        defined = self.index.top_level.get(name) if self._asked_only else None
        if isinstance(defined, FunctionInfo):
            return Function(defined, f"{self.path}:{name}") if defined.keeps_signature else NOTHING
        if defined is not None:
            return ClassValue(defined, f"{self.path}:{name}")
        qualified = self.index.names.get(name)
        if qualified is not None:
            return self.imported(qualified)
        return None

    def imported(self, qualified: str) -> Value:
        """What an imported name stands for: a value of the project, or a reference to what is outside."""
        found = None
        if self.project is not None and self.file is not None:
            found = self.project.resolve(self.file, qualified)
        return Reference(qualified) if found is None else found

    def from_star(self, name: str) -> Value | None:
        """A public name that ``from module import *`` brings in; None if none does, or too many might."""
        if self.project is None or self.file is None or name.startswith("_") or len(self.index.stars) > MAX_STARS:
            return None
        for module in self.index.stars:
            found = self.project.resolve(self.file, f"{module}{'' if module.endswith('.') else '.'}{name}")
            if found is not None:
                return found
        return None

    def member(self, module: ProjectModule, name: str) -> Value:
        """An attribute of a module of the project."""
        found = self.project.member(module.file, name) if self.project is not None else None
        return NOTHING if found is None else found

    def imported_class(self, qualified: str) -> ClassInfo | str:
        """The project's class of that name, else the name."""
        found = self.imported(qualified)
        return found.info if isinstance(found, ClassValue) else qualified

    def bind_global(self, name: str, value: Value) -> None:
        """Module-level bindings are seen by definitions."""
        self._globals[name] = value

    def note_default(self, walk: Walk) -> None:
        if walk.info is None:
            self._default = walk.state.default_device

    def check_defaults(self, walk: Walk, node: cst.FunctionDef) -> None:
        """Evaluates default arguments; a device spelled in one is a choice made for every caller."""
        for parameter in parameters_of(node):
            if parameter.default is None:
                continue
            value = walk.evaluate(parameter.default)
            if "device" in parameter.name.value and isinstance(value, Constant) and isinstance(value.value, str):
                device_of(walk, value, parameter.default, Sink.DEFAULT)

    # -- classes --------------------------------------------------------------------------------------------------

    def in_progress(self, info: ClassInfo) -> bool:
        home = info.home or self
        return id(info) in home._facts_running

    def facts(self, info: ClassInfo) -> ClassFacts:
        """The attributes of a class by its constructor and its bases in the project."""
        if info.home is not None and info.home is not self:
            return info.home.facts(info)
        found = self._facts.get(id(info))
        if found is not None:
            return found
        facts = ClassFacts(info)
        if id(info) in self._facts_running:
            return facts
        self._facts_running.add(id(info))
        for parent in reversed(info.order[1:]):
            facts.attributes.update(self.facts(parent).attributes)
        init = info.methods.get("__init__")
        walk = self._walked(init) if init is not None else None
        if walk is not None:
            for method in info.builders:
                self._walked(method)
                # Its own walk comes later, when the attributes are known.
                self._walks.pop(method.key, None)
            self._collect(info, facts, walk)
        self._facts_running.discard(id(info))
        facts.dynamic = id(info) in self._dynamic
        self._facts[id(info)] = facts
        return facts

    def _collect(self, info: ClassInfo, facts: ClassFacts, walk: Walk) -> None:
        end: Environment | None = walk.env
        for state in walk.exits:
            end = join(None, end, state)
        me, assigned_later = _self_name(walk), info.assigned_outside_init
        for name, (value, node, scope) in self._noted.get(id(info), {}).items():
            final = value if end is None else end.values.get(f"{me}.{name}", value)
            if isinstance(final, UnknownValue) and is_registered(value):
                # Made in one arm only: where it is used, that arm was taken.
                final = value
            if info.is_module:
                final = kept(final, name, node, scope)
            stores = 1 + (name in assigned_later)
            facts.attributes[name] = AttributeFact(name, final, node, scope, kind_of(final), stores)

    def note_attribute(self, walk: Walk, owner: Self, name: str, value: Value, node: cst.CSTNode) -> None:
        """An attribute stored on ``self`` in the constructor."""
        builds = self.in_progress(owner.info) and walk.info in owner.info.builders
        if builds or (walk.info is not None and walk.info.name == "__init__"):
            self._noted.setdefault(id(owner.info), {})[name] = (value, node, walk.scope)

    def note_buffer(self, owner: Self, name: str) -> None:
        """A name registered as a buffer, be it with None: what is assigned to it later takes its place."""
        self._buffers.add((id(owner.info), name))

    def is_buffer(self, info: ClassInfo, name: str) -> bool:
        return any((id(c), name) in (c.home or self)._buffers for c in info.order)

    def note_dynamic_registration(self, owner: Self, site: CallSite) -> None:
        self._dynamic.add(id(owner.info))

    def _completed(self, info: ClassInfo, loaded: dict[str, dict[str, set[str]]]) -> ClassFacts:
        """The facts with what the whole class does with each attribute."""
        facts = self.facts(info)
        registered = registered_attributes(info)
        reads = loaded.get(info.qualname, {})
        attributes = {
            name: replace(
                fact,
                loaded_in=frozenset(reads.get(name, ())),
                registered=name in registered or (facts.dynamic and not isinstance(fact.value, Module)),
            )
            for name, fact in facts.attributes.items()
        }
        return ClassFacts(info, attributes, facts.dynamic)


def _self_name(walk: Walk) -> str:
    assert walk.info is not None
    parameters = parameters_of(walk.info.header)
    return parameters[0].name.value if parameters else "self"
