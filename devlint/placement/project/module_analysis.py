"""The analysis of one file: each definition is evaluated once; summaries and class facts are computed on demand."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import libcst as cst

from devlint.placement.calls.constructor_facts import add_own_facts, completed, is_stored_still
from devlint.placement.calls.conventional_results import of_maker
from devlint.placement.calls.handed_to_overrides import read_as_handed
from devlint.placement.calls.handed_up import take_handed_up
from devlint.placement.calls.inherited_methods import mismatches_of_inherited
from devlint.placement.calls.parameters import announce, bind_parameters, scope_of
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_uses import uses_at_module_level
from devlint.placement.declarations.index import FileIndex, index_file
from devlint.placement.declarations.known_classes import is_for_another_framework
from devlint.placement.declarations.parameter_evidence import name_uses
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import (
    NONE,
    NOTHING,
    ClassValue,
    Constant,
    Function,
    ProjectModule,
    Reference,
    Value,
)
from devlint.placement.domain.class_facts import ClassFacts, ObjectStores, stored_by
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.events import ClassCompleted, Event, HostRead, Loaded
from devlint.placement.domain.lattice import CPU, UNKNOWN, Device
from devlint.placement.domain.scope import Scope, Setting
from devlint.placement.evaluation.handlers import HANDLERS
from devlint.placement.interpreter.interpreter import Handlers, Interpreter
from devlint.placement.interpreter.memo import LocalMemo, MemoTable
from devlint.placement.interpreter.program import Program
from devlint.placement.project.bound_names import BoundNames
from devlint.placement.project.linkage import ModuleLinkage
from devlint.placement.project.other_modules import OtherModules
from devlint.placement.project.unbound_names import is_unbound
from devlint.placement.state.call_sites import ArgumentLog
from devlint.placement.syntax.nodes import body_of, literal, parameters_of
from devlint.source.deadline import checkpoint
from devlint.source.dependency_parts import MODULE, binding_part, only_mention_part
from devlint.source.role import Role, names_a_test


class _ModuleLevel(NamedTuple):
    """The result of evaluating the module-level statements."""

    events: list[Event]
    names: dict[str, Value]
    default: Device
    """The default device afterwards."""


def _stands_in(value: Value) -> bool:
    """Whether a value is what programs bind to a name whose import has failed."""
    return isinstance(value, Constant) or (isinstance(value, Reference) and value.name in _STAND_INS)


_STAND_INS = frozenset({"object", "typing.Any", "type", "dict"})


class ModuleAnalysis:
    """The analysis of one file. Its ``linkage`` resolves imported names in other files."""

    def __init__(
        self,
        tree: cst.Module,
        path: str,
        role: Role,
        others: OtherModules | None = None,
        file: Path | None = None,
        index: FileIndex | None = None,
        memo: MemoTable | None = None,
        handlers: Handlers = HANDLERS,
    ) -> None:
        """``index`` is that of the file. Its definitions are evaluated by ``handlers``.

        With a shared ``memo`` only queried names are analysed, and results are stored in the memo; the module level is
        then evaluated when a name needs it.
        """
        self.tree = tree
        self._handlers = handlers
        self._queried = memo is not None
        self.memo: MemoTable = memo if memo is not None else LocalMemo()
        self.index: FileIndex = index if index is not None else index_file(tree)
        self.path = path
        self.role = Role.SCRIPT if role is Role.DEMONSTRATED else role
        """The role of what runs where the file is the main program."""
        self._is_demonstrated = role is Role.DEMONSTRATED
        self.file = file
        self.others = others
        self.linkage = ModuleLinkage(self.index, self.memo, others, file, self._queried)
        self._bound_names = BoundNames()
        self._deferred: list[FunctionInfo] = []
        self._is_ahead = False
        self._before: dict[FunctionInfo, Value] = {}
        """What methods give of which a class in construction is made, by what is known until then."""
        self._walks: dict[int, Interpreter] = {}
        """The evaluations in progress, by the keys of their definitions."""
        self._buffers: set[tuple[ClassInfo, str]] = set()
        """All registered buffers seen so far."""
        self.argument_log = (
            ArgumentLog(self.index.indirect, self._only_used_here, self.index.once) if not self._queried else None
        )
        self._default: Device = CPU
        self._sets_default = self.index.sets_default
        for function in self.index.functions.values():
            function.linkage = self.linkage
        for defined in self.index.classes.values():
            defined.linkage = self.linkage

    def dissolve(self) -> None:
        """Drop all references, so that no cycle keeps the tree in memory after the events have been read."""
        if isinstance(self.memo, LocalMemo):
            self.memo.clear()
        if self.argument_log is not None:
            self.argument_log.forget()
        self._buffers.clear()
        self._deferred.clear()
        self._before.clear()
        for function in self.index.functions.values():
            function.linkage = None
            function.closure, function.parted = {}, {}
        for info in self.index.classes.values():
            info.linkage = None
            if not self._queried:
                info.methods.clear()

    # -- events ---------------------------------------------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        if not self.index.stars and is_for_another_framework(self.index.imports.packages):
            # Its `.numpy()` may copy, and its `.cuda()` do nothing: PyTorch's semantics say nothing of it.
            return
        loaded: dict[str, dict[str, set[str]]] = {}
        level = self._module_level()
        yield from level.events if level is not None else ()
        functions = self.index.in_order()
        for info in self.index.classes.values():
            checkpoint()
            self.facts(info)
        for function in functions:
            checkpoint()
            self._evaluated(function)
        position = 0
        while position < len(self._deferred):
            # Evaluating one lambda may find another.
            self._evaluated(self._deferred[position])
            position += 1
        nested = [info for info in self._deferred if info.key not in self.index.functions]
        for function in (*functions, *nested):
            checkpoint()
            yield from self._events_of(function, loaded)
        for info in self.index.classes.values():
            yield from self._of_inherited(info)
        for info in self.index.classes.values():
            yield ClassCompleted(
                info.node, self._class_scope(info), completed(self.facts(info), loaded.get(info.qualname, {}))
            )

    def _events_of(self, function: FunctionInfo, loaded: dict[str, dict[str, set[str]]]) -> Iterator[Event]:
        interp = self._evaluated(function)
        if interp is None:
            return
        parameters = _symbol_keys(function)
        judged: Event | None
        for event in interp.events:
            if isinstance(event, Loaded) and (around := self._method_around(event.scope, function)) is not None:
                class_name, method = around
                loaded.setdefault(class_name, {}).setdefault(event.attribute, set()).add(method)
            judged = event
            if self.argument_log is not None:
                judged = self.argument_log.judged(event, interp.scope, parameters)
            if judged is not None:
                yield read_as_handed(self, function, judged)

    def _of_inherited(self, info: ClassInfo) -> Iterator[Event]:
        for method, event in mismatches_of_inherited(self, info, self._handlers):
            log = self.argument_log
            judged = event if log is None else log.judged(event, event.scope, _symbol_keys(method))
            if judged is not None:
                yield judged

    @cached_property
    def _classes(self) -> frozenset[str]:
        return frozenset(info.qualname for info in self.index.classes.values())

    def _method_around(self, scope: Scope, function: FunctionInfo) -> tuple[str, str] | None:
        """The class and the method that a definition is, or is nested in."""
        if scope.class_name is not None:
            return scope.class_name, function.name
        outer, _, name = scope.qualname.rpartition(".")
        while outer and outer not in self._classes:
            outer, _, name = outer.rpartition(".")
        return (outer, name) if outer else None

    def _only_used_here(self, name: str) -> bool:
        if self.others is None or self.file is None or name in self.index.indirect:
            return False
        return not self.others.mentioned_elsewhere(self.file, name)

    def _class_scope(self, info: ClassInfo) -> Scope:
        return Scope(self.path, self.role, info.qualname, Setting.MODULE_LEVEL, info.qualname)

    # -- walks ----------------------------------------------------------------------------------------------------

    def _module_level(self) -> _ModuleLevel | None:
        """The result of evaluating the module-level statements; None while they are being evaluated."""
        return self.memo.query(("module", self), self._walk_module, None)

    def _walk_module(self) -> _ModuleLevel:
        self.linkage.depends_on(MODULE)
        self._default = CPU
        interp = Interpreter(self, self._handlers, Scope(self.path, self.role, "", Setting.MODULE_LEVEL))
        self._bound_names.begin(interp)
        interp.uses = name_uses(uses_at_module_level(self.tree.body, self.index.imports))
        with self._noting_calls(self._is_demonstrated):
            interp.run(iter(list(body_of(self.tree))))
        # Some function sets it; whether that has run is not known here.
        default = UNKNOWN if self._default == CPU and self._sets_default else self._default
        return _ModuleLevel([] if self._queried else interp.events, self._bound_names.end(), default)

    @property
    def _default_device(self) -> Device:
        level = self._module_level() if self._sets_default else None
        return self._default if level is None else level.default

    def _evaluated(self, info: FunctionInfo) -> Interpreter | None:
        """The evaluation of a definition; None while it is in progress or nested too deep."""
        # Captured values come from the enclosing evaluation, so the result is not reusable.
        return self.memo.query(_evaluation_key(info), partial(self._evaluate, info), None, True, not info.closure)

    def _evaluate(self, info: FunctionInfo) -> Interpreter:
        interp = Interpreter(self, self._handlers, scope_of(info, self.path, self._role_of(info)), info)
        interp.state.default_device = self._default_device
        bind_parameters(interp, info)
        if not self._queried:
            announce(interp, info)
        self._walks[info.key] = interp
        try:
            with self._noting_calls(self._tries_out(info)):
                if not info.is_kernel:
                    interp.run_definition(info.node)
        finally:
            self._walks.pop(info.key, None)
        if self._queried:
            interp.keep_results()
        return interp

    def _tries_out(self, info: FunctionInfo) -> bool:
        """``def test_net():`` beside what it tests. ``test(net, loader)`` is a part of a program, as ``train`` is."""
        return self.role is not Role.TEST and names_a_test(info.qualname) and not parameters_of(info.header)

    def _noting_calls(self, tries_out: bool) -> AbstractContextManager[None]:
        return nullcontext() if self.argument_log is None else self.argument_log.beside(tries_out)

    def _role_of(self, info: FunctionInfo) -> Role:
        """What a script never names is not run by it: whoever imports it calls it, as what a library defines. So is
        what it only shows."""
        if self.role is not Role.SCRIPT:
            return self.role
        outermost = info.qualname.partition(".")[0]
        self.rests_on(only_mention_part(outermost))
        shown = self._is_demonstrated and not names_a_test(outermost)
        return Role.LIBRARY if shown or outermost in self.index.once else Role.SCRIPT

    def holder(self, info: FunctionInfo | ClassInfo) -> Program | None:
        """The module that declares a definition; None for a definition known only inside its own evaluation."""
        linkage = info.linkage
        if linkage is None or linkage is self.linkage:
            return None if linkage is None else self
        return self.others.module_of(linkage) if self.others is not None else None

    def _other_holder(self, info: FunctionInfo | ClassInfo) -> Program | None:
        """The module that declares a definition, if it is another module; else None."""
        if info.linkage is None or info.linkage is self.linkage:
            return None
        return self.holder(info)

    def running(self, info: FunctionInfo) -> AbstractContextManager[None]:
        """While a definition is evaluated for one call, its summary is not available."""
        return self.memo.computing(_evaluation_key(info))

    def is_running(self, info: FunctionInfo) -> bool:
        return self.memo.is_in_progress(_evaluation_key(info), True)

    def defer(self, info: FunctionInfo) -> None:
        """Evaluate a nested definition after its enclosing definition."""
        if all(info.key != other.key for other in self._deferred):
            self._deferred.append(info)

    def summary(self, info: FunctionInfo) -> Value | None:
        """The returned value in terms of its parameters' symbols; None while it is not available."""
        other = self._other_holder(info)
        if other is not None:
            return other.summary(info)
        if info.gives_none:
            # What it does to its arguments is asked elsewhere: a walk would lead through all that it calls.
            return NONE
        if self._reads_what_is_made(info):
            return self._result_before(info)
        interp = self._evaluated(info)
        return None if interp is None else of_maker(interp, info, interp.result())

    def _reads_what_is_made(self, info: FunctionInfo) -> bool:
        """Whether a method reads of an object whose class is being constructed."""
        info.depend_on_body()
        return info.owner is not None and bool(info.own.mentioned) and self.in_progress(info.owner)

    def _result_before(self, info: FunctionInfo) -> Value | None:
        """What a method gives while its class is constructed: what it reads of ``self`` is not known yet.

        Of the methods that it calls in turn nothing is known: the deeper the queries, the more of them are cut short.
        """
        if info in self._before:
            return self._before[info]
        if self._is_ahead or self.is_running(info):
            return None
        self._is_ahead = True
        try:
            with self.running(info):
                found = self._before[info] = self._evaluate(info).result()
        finally:
            self._is_ahead = False
        return found

    def note_argument(self, key: str, value: Value) -> None:
        """Record an argument for the parameter with this symbol key."""
        if self.argument_log is not None:
            self.argument_log.note(key, value)

    # -- names ----------------------------------------------------------------------------------------------------

    def global_value(self, name: str) -> Value:
        """The value of a module-level name, an import, or a builtin."""
        found = self.exported(name)
        if found is not None:
            return found
        if hasattr(builtins, name):
            return Reference(name)
        found = self.linkage.from_star(name)
        return NOTHING if found is None else found

    def rests_on(self, part: str) -> None:
        """Record that a part of the module was read that its readers cannot know of by themselves."""
        self.linkage.depends_on(part)

    def is_unbound(self, name: str) -> bool:
        """Whether a name is certainly neither a module-level one, nor a builtin, nor of a star import."""
        self.rests_on(binding_part(name))
        return is_unbound(name, self.index, self.linkage, self.path, self.role)

    def exported(self, name: str) -> Value | None:
        """A name that the module binds or imports; None if it does neither.

        ``box_area = None`` or ``= object`` stands in for a failed import: where the name is used, it has succeeded.
        """
        if name in self.index.rebound:
            return NOTHING
        found = self._bound(name)
        if found is not None and not (name in self.index.imports and _stands_in(found)):
            return found
        defined = self.index.top_level.get(name) if self._queried else None
        if isinstance(defined, FunctionInfo):
            return Function(defined, f"{self.path}:{name}")
        if defined is not None:
            return ClassValue(defined, f"{self.path}:{name}")
        qualified = self.index.imports.get(name)
        if qualified is not None:
            return self.linkage.imported(qualified)
        return None

    def _bound(self, name: str) -> Value | None:
        """The value of a name after the module-level statements; ``Class.name`` is what a class body binds."""
        if self._queried and "." not in name:
            if name not in self.index.bound:
                return None
            literal_node = self.index.literals.get(name)
            value = None if literal_node is None else Constant(literal(literal_node), literal_node)
            if value is not None and name_of_constant(value) is None:
                # Nothing else has a say in what it holds: the other statements are left alone.
                return value
        level = self._module_level()
        return (self._bound_names if level is None else level.names).get(name)

    def member(self, module: ProjectModule, name: str) -> Value:
        """An attribute of a module of the project."""
        found = self.others.member(module.file, name) if self.others is not None else None
        return NOTHING if found is None else found

    def bind_global(self, name: str, value: Value) -> None:
        """Bind a module-level name, visible to definitions."""
        self._bound_names.bind(name, value)

    def note_default(self, device: Device) -> None:
        """Record that a module-level statement may have set the default device."""
        self._default = device

    # -- classes --------------------------------------------------------------------------------------------------

    def in_progress(self, info: ClassInfo) -> bool:
        """Whether the facts of a class are being computed."""
        other = self._other_holder(info)
        return other.in_progress(info) if other is not None else self.memo.is_in_progress(("facts", info))

    def facts(self, info: ClassInfo) -> ClassFacts:
        """The attributes of a class by its constructor and its bases in the project."""
        other = self._other_holder(info)
        if other is not None:
            return other.facts(info)
        return self.memo.query(("facts", info), partial(self._find_facts, info), ClassFacts(info))

    def _find_facts(self, info: ClassInfo) -> ClassFacts:
        facts = ClassFacts(info)
        self._before.clear()  # of another class, whose facts are known
        for parent in reversed(info.order[1:]):
            stored = stored_by(self.facts(parent), map(self.facts, parent.parents))
            facts.attributes.update(
                (name, fact) for name, fact in stored.items() if is_stored_still(info, parent, fact)
            )
        constructor, builders = self._constructing(info)
        if constructor is not None:
            take_handed_up(facts, constructor, self.facts)
        for method in info.builders if constructor is not None or builders else ():
            # The method is evaluated again once the attributes are known.
            self.memo.forget(_evaluation_key(method))
        add_own_facts(facts, constructor, builders)
        return facts

    def _constructing(self, info: ClassInfo) -> tuple[Interpreter | None, list[Interpreter]]:
        """The evaluations of the class's own constructor, if it has one, and of the parts of a constructor.

        None of them while the constructor is in progress.
        """
        init = info.methods.get("__init__")
        constructor = self._evaluated(init) if init is not None else None
        if constructor is None and init is not None:
            return None, []
        return constructor, [part for method in info.builders if (part := self._evaluated(method)) is not None]

    def stores_of(self, info: FunctionInfo) -> ObjectStores | None:
        interp = self._evaluated(info) or self._walks.get(info.key)
        return None if interp is None else interp.object_stores

    def load_places_of(self, info: FunctionInfo) -> frozenset[str]:
        interp = None if self._reads_what_is_made(info) else self._evaluated(info)
        return frozenset() if interp is None else frozenset(interp.load_places)

    def events_of(self, info: FunctionInfo) -> Sequence[Event]:
        interp = None if self._reads_what_is_made(info) else self._evaluated(info)
        return () if interp is None else interp.events

    def host_reads_of(self, info: FunctionInfo) -> Mapping[str, HostRead]:
        interp = None if self._reads_what_is_made(info) else self._evaluated(info)
        return {} if interp is None else interp.host_reads

    def builds(self, function: FunctionInfo | None, info: ClassInfo) -> bool:
        if self._other_holder(info) is not None:
            return False
        constructs = function is not None and function.name == "__init__"
        return constructs or (self.in_progress(info) and function in info.builders)

    def registers(self, info: ClassInfo, name: str) -> bool:
        """Whether the class itself registers a buffer of that name."""
        if not self._queried:
            return (info, name) in self._buffers
        constructor, builders = self._constructing(info)
        return any(one is not None and (info, name) in one.object_stores.buffers for one in (constructor, *builders))

    def note_buffer(self, info: ClassInfo, name: str) -> None:
        if not self._queried:
            self._buffers.add((info, name))


def _evaluation_key(info: FunctionInfo) -> tuple[str, int]:
    """The memo key for the evaluation of a definition."""
    return "walk", info.key


def _symbol_keys(function: FunctionInfo) -> dict[str, str]:
    return {p.name.value: symbol_key(function, p.name.value) for p in parameters_of(function.header)}
