"""The abstract interpreter: a recursion over LibCST nodes in Python's evaluation order.

An :class:`Interpreter` evaluates one definition. It holds the state at the current point, the scope and the list of
events. Its :class:`Handlers` map each type of node to a transfer function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import libcst as cst

from devlint.placement.declarations.parameter_evidence import NameUses
from devlint.placement.domain.abstract_state import AbstractState
from devlint.placement.domain.abstract_values import NONE, NOTHING, Module, Tensor, Value
from devlint.placement.domain.class_facts import ObjectStores
from devlint.placement.domain.events import CallRefused, Created, DeviceMismatch, Event, Fate, HostRead, Loaded
from devlint.placement.domain.handed_over import hands_over
from devlint.placement.domain.lattice import (
    CPU,
    Choice,
    Decided,
    Device,
    Guard,
    GuardKind,
    SameAs,
    in_later_calls,
    leaves,
    placed,
    relate,
)
from devlint.placement.domain.provenance import Provenance, Step, StepKind, extend
from devlint.placement.domain.scope import Scope
from devlint.placement.interpreter.exits import CountedLoop, Exits, Loop
from devlint.placement.syntax.nodes import FunctionNode, body_of
from devlint.records import dataclass
from devlint.semantics import Factory, Relation

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.interpreter.program import Program


Evaluate = Callable[["Interpreter", Any], "Value"]
"""The abstract value of an expression node."""

Execute = Callable[["Interpreter", Any], None]
"""The effect of a statement node."""

CallValue = Callable[["Interpreter", "cst.Call", "Value", "CallSite"], "Value"]
"""The result of calling a value."""


@dataclass(frozen=True, slots=True, eq=False)
class Handlers:
    """Transfer functions by node type."""

    expressions: Mapping[type[cst.CSTNode], Evaluate]
    """An expression of a type that is not listed evaluates to the unknown value."""
    statements: Mapping[type[cst.CSTNode], Execute]
    """A statement of a type that is not listed has no effect."""
    call_value: CallValue


class _Under:
    """A condition that is decided meanwhile: one for each arm, where a generator's context costs four times as much."""

    __slots__ = ("_conditions", "_decided")

    def __init__(self, conditions: list[Decided], decided: Decided) -> None:
        self._conditions = conditions
        self._decided = decided

    def __enter__(self) -> None:
        self._conditions.append(self._decided)

    def __exit__(self, *_: object) -> None:
        self._conditions.pop()


class _Trial:
    """A round whose events are discarded; no generator for the same reason."""

    __slots__ = ("_interp",)

    def __init__(self, interp: Interpreter) -> None:
        self._interp = interp

    def __enter__(self) -> None:
        self._interp.mute(1)

    def __exit__(self, *_: object) -> None:
        self._interp.mute(-1)


_UNGUARDED = nullcontext()


class Interpreter:
    """The evaluation of one definition of one file."""

    def __init__(
        self, program: Program, handlers: Handlers, scope: Scope, info: FunctionInfo | None = None, depth: int = 0
    ) -> None:
        """``depth``: the number of calls through which this definition is inlined; 0 for an evaluation of its own."""
        self.program = program
        self.handlers = handlers
        self._expressions = handlers.expressions
        self.index = program.index
        self.scope = scope
        self.info = info
        self.depth = depth
        self.closure: dict[str, Value] = info.closure if info is not None else {}
        self.places: dict[str, Device] = {}
        """Keys of symbols whose place the call that is evaluated settles, and where that is."""
        self.kept_on_cpu: Mapping[str, Tensor] = {}
        """Tensors on the CPU that the object was built with whose method is evaluated, by the keys of their symbols."""
        self.kept_models: Mapping[str, Module] = {}
        """The modules that it was built with where they were moved, by the same keys."""
        self.handed_modules: tuple[Step, ...] = ()
        """The constructions of Modules that the caller made for the call that is evaluated, and for nothing else."""
        self.env: AbstractState | None = AbstractState(moved_groups=dict(info.parted) if info is not None else {})
        """The state at the current point; None if the point is unreachable."""
        self.uses = NameUses()
        """How the definition uses its names. Set once, when its parameters are bound."""
        self.class_body = ""
        """The class whose body the current statements are in, by its qualified name; empty outside of class bodies."""
        self.events: list[Event] = []
        self.object_stores = ObjectStores()
        """The stores on objects seen so far."""
        self.exits = Exits()
        self.decided: list[Decided] = []
        self._loops: list[Loop] = []
        self._muted = 0
        self._fates: dict[int, str] = {}
        self._left_out: dict[int, str] = {}
        self.load_places: set[str] = set()
        """Parameters of the definition that a ``torch.load`` takes as its ``map_location``."""
        self.host_reads: dict[str, HostRead] = {}
        """What each call reads by numpy of its arguments, by the keys of the parameters' symbols."""
        self.looks_ahead = False
        """Whether an expression is evaluated that stands further down, for what it stores."""
        self.tries = 0
        """How many ``try`` statements with handlers the current point is in."""
        self.seconds = 0
        """Second operands of `and` and `or` around the current point: the first may have kept it from being reached."""
        self._global_names: set[str] = set()
        self.counted: list[CountedLoop] = []
        """The loops around the current point whose iterations are told apart."""
        self._first_iteration_clashes: set[int] = set()
        self.begun: set[int] = set()
        """Expressions that are in the first iteration what their loops begin with."""

    # -- evaluation -----------------------------------------------------------------------------------------------

    def evaluate(self, node: cst.BaseExpression) -> Value:
        """The value of an expression; the unknown value for a type of node without a handler."""
        handler = self._expressions.get(type(node))
        return NOTHING if handler is None else handler(self, node)

    def evaluate_quietly(self, node: cst.BaseExpression) -> Value:
        """Evaluate an expression again, without events and effects."""
        if type(node) is cst.Name:  # which has no effects
            with self.trial():
                return self.evaluate(node)
        before = self.state
        self.env = before.copy()
        with self.trial():
            value = self.evaluate(node)
        self.env = before
        return value

    def execute(self, statement: cst.CSTNode) -> None:
        handler = self.handlers.statements.get(type(statement))
        if handler is not None:
            handler(self, statement)

    def call_value(self, node: cst.Call, callee: Value, site: CallSite) -> Value:
        """The result of calling a value."""
        return self.handlers.call_value(self, node, callee, site)

    def run(self, statements: Iterator[cst.CSTNode]) -> None:
        for statement in statements:
            if self.env is None:
                return
            self.execute(statement)

    def run_definition(self, node: FunctionNode) -> None:
        """Evaluate the body of a definition with bound parameters. Reaching its end counts as ``return None``."""
        if isinstance(node, cst.Lambda):
            self.exits.returned.append((self.evaluate(node.body), ()))
            return
        self.run(iter(list(body_of(node.body))))
        if self.env is not None and self.exits.returned and not self._generates:
            self.exits.returned.append((NONE, ()))

    @property
    def state(self) -> AbstractState:
        """The state at the current point, which must be reachable."""
        assert self.env is not None
        return self.env

    # -- leaving early ------------------------------------------------------------------------------------------------

    def leave(self) -> None:
        """The code after the current point is unreachable from here."""
        self.env = None

    def leave_with(self, value: Value) -> None:
        """``return value`` at the current point; of a generator the caller sees what it yields alone."""
        if not self._muted and not self._generates:
            self.exits.returned.append((value, tuple(self.decided)))
        self.exits.states.append(self.state)
        self.env = None

    @property
    def _generates(self) -> bool:
        return self.info is not None and self.info.is_generator

    def yield_from(self, items: Value) -> None:
        """``yield``: a call of the generator gives a sequence of these items among others, and goes on."""
        if not self._muted:
            self.exits.returned.append((items, tuple(self.decided)))

    def leave_loop(self) -> None:
        """A ``break``."""
        if self._loops:
            self._loops[-1].breaks.append(self.state)
        self.env = None

    def leave_iteration(self) -> None:
        """A ``continue``."""
        if self._loops:
            self._loops[-1].continues.append(self.state)
        self.env = None

    @contextmanager
    def in_loop(self) -> Iterator[Loop]:
        """The body of a loop; the yielded object collects the states that leave it early."""
        loop = Loop()
        self._loops.append(loop)
        try:
            yield loop
        finally:
            self._loops.pop()

    # -- what becomes of a result, notes on nodes ------------------------------------------------------------------

    def expect(self, node: cst.CSTNode, fate: str) -> None:
        """Record how the enclosing statement uses the result of a call."""
        self._fates[id(node)] = fate

    def take_fate(self, node: cst.CSTNode) -> str:
        """How the result of a call is used; USED unless the enclosing statement recorded otherwise."""
        return self._fates.pop(id(node), Fate.USED)

    def note_left_out(self, node: cst.CSTNode, parameter: str) -> None:
        """Record a parameter that a call leaves out, by which the callee would load to where the caller says."""
        self._left_out[id(node)] = parameter

    def take_left_out(self, node: cst.CSTNode) -> str:
        return self._left_out.pop(id(node), "")

    def declare_global(self, names: Iterable[str]) -> None:
        """Record names that are declared ``global`` or ``nonlocal``."""
        self._global_names.update(names)

    def is_declared_global(self, name: str) -> bool:
        return name in self._global_names

    def note_first_iteration_clash(self, node: cst.CSTNode) -> None:
        """Record a device mismatch in the trial round, which is the first iteration of its loop."""
        self._first_iteration_clashes.add(id(node))

    def clashed_in_first_iteration(self, node: cst.CSTNode) -> bool:
        return id(node) in self._first_iteration_clashes

    # -- names ----------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        """The value of a name: local, of an enclosing definition, of the module, imported, or unknown."""
        found = self.state.values.get(name)
        if found is None and self.closure:
            found = self.closure.get(name)
        return self.program.global_value(name) if found is None else found

    # -- events ---------------------------------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        if not self._muted:
            self.events.append(event)

    def trial(self) -> AbstractContextManager[None]:
        """A round whose events are discarded."""
        return _Trial(self)

    def mute(self, more: int) -> None:
        """Begin a round whose events are discarded, by 1, or end it, by -1."""
        self._muted += more

    @property
    def muted(self) -> bool:
        return self._muted > 0

    def under(self, guard: Guard | None, holds: bool) -> AbstractContextManager[None]:
        """Evaluation of the branch where ``guard`` holds or not."""
        return _UNGUARDED if guard is None else _Under(self.decided, Decided(guard, holds))

    @property
    def arms(self) -> tuple[Decided, ...]:
        """The conditions under which the current point is reached."""
        return tuple(self.decided)

    @property
    def is_dead(self) -> bool:
        """The current point is unreachable in the analysed configuration and is evaluated only for its own facts."""
        return self.env is not None and self.env.dead

    @property
    def in_cpu_world(self) -> bool:
        """The current point is reachable only where nothing is on an accelerator."""
        return self.state.on_cpu

    @property
    def under_device_guard(self) -> bool:
        """A condition about devices decides whether the current point is reached."""
        state = self.state
        if state.on_cpu or state.on_accelerator:
            return True
        # Asked at each call: nothing is decided at most of them.
        return bool(self.decided) and any(d.guard.kind is GuardKind.ON_ACCELERATOR for d in self.decided)

    # -- devices --------------------------------------------------------------------------------------------------

    @property
    def may_be_a_later_call(self) -> bool:
        """Whether a condition leads here that may tell the first call of a method from others: ``if self.count:``."""
        return bool(self.decided) or any("self." in decided.guard.text for decided in self.state.left)

    def relate(self, a: Device, b: Device) -> Relation:
        """:func:`domain.relate`, refined by the state: partly moved batches, and branches for the CPU."""
        if (isinstance(a, Choice) or isinstance(b, Choice)) and self.may_be_a_later_call:
            a, b = in_later_calls(a), in_later_calls(b)
        a, b = placed(a, self.places), placed(b, self.places)
        moved = self._sibling_moved(a, b)
        if moved is not None:
            return moved
        relation = relate(a, b)
        # What another test for an accelerator moved there was not moved in a run that comes here.
        return Relation.UNKNOWN if relation is Relation.DIFFERENT and self.in_cpu_world else relation

    def _sibling_moved(self, a: Device, b: Device) -> Relation | None:
        """The relation of an item that was not moved to the device where another item of its batch was."""
        if not self.state.moved_groups:
            return None
        for left, right in ((a, b), (b, a)):
            if isinstance(left, SameAs):
                target = self.state.moved_groups.get(left.symbol.key)
                if target is not None and right == CPU:
                    # The item was not moved, so it is where loaders create batches: on the CPU.
                    return Relation.SAME
                if target is not None and left != right and _is_one_of(target, right):
                    return Relation.DIFFERENT
        return None

    # -- provenance -----------------------------------------------------------------------------------------------

    def step(
        self,
        kind: StepKind,
        node: cst.CSTNode,
        device: Device,
        name: str = "",
        previous: Provenance | None = None,
        factory: Factory | None = None,
        bare: bool = False,
        note: str = "",
    ) -> Provenance:
        return extend(previous, Step(kind, node, self.scope, device, name, factory, bare, note=note))

    # -- results --------------------------------------------------------------------------------------------------

    def keep_results(self) -> None:
        """Drop what is not needed of a definition of another file: its callers ask what it makes, and what fails."""
        kept = (CallRefused, Created, DeviceMismatch)
        self.events[:] = [
            event
            for event in self.events
            if isinstance(event, kept) or hands_over(event) or (isinstance(event, Loaded) and _stays(event.value))
        ]
        self._fates.clear()
        if self.info is None or self.info.name != "__init__":
            self.env = None
            self.exits.states.clear()

    def result(self) -> Value:
        """The result of a call of this definition: the join of its returned values."""
        return self.exits.result()


def _stays(value: Value) -> bool:
    """Whether an attribute is a tensor on the CPU, which what a caller hands over may meet."""
    return isinstance(value, Tensor) and value.device == CPU


def _is_one_of(target: Device, place: Device) -> bool:
    """Whether a place is that of a transfer, or what the transfer's is under the condition that is looked at."""
    return any(relate(one, place) is Relation.SAME for one in (target, *leaves(target)))
