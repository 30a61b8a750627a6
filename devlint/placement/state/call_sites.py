"""What the call sites of a file show about a definition's arguments, and about mismatches that depend on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from devlint.placement.domain.abstract_values import (
    Constant,
    Container,
    Module,
    Opaque,
    Tensor,
    Value,
    innermost_of,
)
from devlint.placement.domain.events import (
    CallersModuleCalled,
    DeviceMismatch,
    Event,
    HostRead,
    Moved,
    ReadInCallee,
    Returned,
    Stored,
    WrittenByIndex,
)
from devlint.placement.domain.lattice import (
    CPU,
    UNKNOWN,
    Anchor,
    Decided,
    Symbol,
)
from devlint.placement.domain.provenance import StepKind, was_moved
from devlint.placement.domain.scope import Scope
from devlint.placement.domain.symbols import kept_key, made_key
from devlint.placement.state.given_values import (
    call_of,
    construction_of,
    follows_parameter_of,
    is_a_tensor,
    is_certainly_a_tensor,
    is_elsewhere,
    is_handed_on,
    is_own_object,
    is_placed,
    is_placed_nowhere,
    is_put_on_a_device,
    keys_of,
    owner_of,
    stays_on_cpu,
    symbols_of,
)
from devlint.placement.state.left_out import is_never_left_out
from devlint.records import replace
from devlint.source.outline import is_private
from devlint.source.role import Role


class ArgumentLog:
    """The arguments at the call sites of one file.

    ``indirect`` are definitions whose callers are not all known. ``only_used_here`` returns whether a public function
    is neither exported by the package nor used in its other files. ``once`` are names that this file has once.
    """

    def __init__(
        self,
        indirect: frozenset[str],
        only_used_here: Callable[[str], bool],
        once: frozenset[str] = frozenset(),
    ) -> None:
        self._indirect = indirect
        self._once = once
        self._only_used_here = only_used_here
        self._arguments: dict[str, list[Value]] = {}
        self._are_tried_out = False

    def note(self, key: str, value: Value) -> None:
        """Record the argument at one call site for the parameter with this symbol key."""
        if not self._are_tried_out:
            self._arguments.setdefault(key, []).append(value)

    @contextmanager
    def beside(self, tries_out: bool) -> Iterator[None]:
        """While a definition is evaluated. What tries out its own file, on the CPU as a rule, is no user of it."""
        before, self._are_tried_out = self._are_tried_out, tries_out
        try:
            yield
        finally:
            self._are_tried_out = before

    def forget(self) -> None:
        """Drop the call sites and ``only_used_here``, which refers to the analysis: the two form a cycle."""
        self._arguments.clear()
        self._only_used_here = _nobody_knows

    def judged(self, event: Event, scope: Scope, parameters: Mapping[str, str]) -> Event | None:
        """A device mismatch of an argument, checked against the call sites; None if they are complete and rule it out.

        ``scope`` is the evaluated definition; the mismatch may be in a definition that it calls. ``parameters`` maps
        the definition's parameters to the keys of their symbols.
        """
        if type(event) not in _JUDGED:
            return event  # nearly all
        if isinstance(event, Moved):
            return self._with_receiver_as_given(event, scope)
        if isinstance(event, CallersModuleCalled):
            brought = self._brought_by_callers(event.module.value)
            if event.if_brought and not (isinstance(brought, Module) and brought.holds_state):
                return None
            return replace(event, brought=brought, if_brought=False)
        if isinstance(event, Returned):
            return replace(event, settled_by_callers=self._settles(event, scope))
        if isinstance(event, Stored):
            filled = isinstance(event.owner, Tensor)
            on_cpu = filled and (self._is_filled_on_cpu(event.value, scope) or self._is_for_nobody(scope))
            return replace(event, callers_on_cpu=True) if on_cpu else event
        if isinstance(event, WrittenByIndex):
            on_cpu = self._is_filled_on_cpu(event.index, scope) or self._is_for_nobody(scope)
            return replace(event, callers_on_cpu=True) if on_cpu else event
        if isinstance(event, HostRead) and event.in_flight and self._is_copied_from_cpu(event.value, scope):
            return None
        if isinstance(event, HostRead) and event.wants_cpu:
            if self._is_read_on_cpu(event.value, scope):
                return replace(event, callers_on_cpu=True)
            on_model = self._some_call_on_the_way(event.value, is_elsewhere)
            read = self._as_given(event.value, scope, is_a_tensor) if on_model else event.value
            return replace(event, value=read, callers_on_model=on_model)
        if isinstance(event, ReadInCallee):
            return replace(event, callers_on_cpu=True) if self._is_read_on_cpu(event.value, scope) else event
        if not isinstance(event, DeviceMismatch):
            return event
        if self._is_direct(scope.qualname, scope.is_nested) and self._never_asked_for(event.arms, parameters):
            return None
        if event.if_brought:
            return self._as_brought(event)
        if is_never_left_out(event, self._arguments, lambda owner: self._is_direct(owner, nested=False)):
            return None
        sides = [operand.value for operand in (event.offending, event.other)]
        if any(self._some_call_on_the_way(value, is_elsewhere) for value in sides):
            event = replace(event, callers_on_model=True)
        if self._is_own_class(scope) and any(self._objects_stay(value) for value in sides):
            return None
        name = scope.qualname.rsplit(".", 1)[-1]
        private = is_private(name)
        if self._is_for_nobody(scope):
            return replace(event, callers_on_cpu=True)
        direct = self._is_direct(scope.qualname, scope.is_nested)
        for value in sides:
            if self._each_call(value, stays_on_cpu) and (direct or self._owners_are_direct(value)):
                return None
        if any(self._each_call(value, stays_on_cpu) for value in sides):
            return replace(event, callers_on_cpu=private or scope.class_name is not None or self._only_used_here(name))
        if any(self._hands_on(value, direct) or self._is_brought_over(value, direct) for value in sides):
            return replace(event, callers_on_cpu=True)
        if name == "<lambda>" and any(map(self._is_given_nowhere, sides)):
            # Whoever gets it calls it, with tensors of their own.
            return replace(event, callers_on_cpu=True)
        if scope.is_nested and direct:
            # Where its own parameters have no part, it fails as the same line would in the function around.
            called = result_key(scope.qualname) in self._arguments
            if called and not any(follows_parameter_of(scope.qualname, value) for value in sides):
                return replace(event, placed_by_callers=True)
            if any(self._each_call(value, is_placed) for value in sides):
                return replace(event, placed_by_callers=True)
        nowhere = [value for value in sides if self._each_call(value, is_placed_nowhere)]
        if not nowhere:
            return event
        # All call sites are known, and none passes an argument that could be elsewhere. What a class hands to a method
        # of its own comes of its state and of its callers, and a public function is open to others: there an unknown
        # value says nothing of the CPU.
        some_on_cpu = any(self._some_call(value, stays_on_cpu) for value in nowhere)
        if scope.class_name is None and direct:
            return replace(event, callers_on_cpu=True)
        in_sight = direct or (scope.class_name is None and self._only_used_here(name))
        return replace(event, callers_on_cpu=in_sight and some_on_cpu)

    def _is_direct(self, qualname: str, nested: bool) -> bool:
        """Whether all calls of a definition are in this file, each by its name."""
        *around, name = qualname.split(".")
        return (is_private(name) or nested or any(map(is_private, around))) and name not in self._indirect

    def _is_for_nobody(self, scope: Scope) -> bool:
        """Whether it is, or stands in, a private function of a library whose name the package never says again."""
        first = scope.qualname.partition(".")[0]
        unused = scope.role is Role.LIBRARY and is_private(first) and first in self._once
        return unused and scope.class_name is None and self._only_used_here(first)

    def _owners_are_direct(self, value: Value) -> bool:
        """Whether all calls of the definitions are in sight whose parameters a value follows: a closure has others'."""
        owners = {owner_of(symbol) for symbol in symbols_of(value)}
        return bool(owners) and all(self._is_direct(owner, nested=False) for owner in owners)

    def _never_asked_for(self, arms: tuple[Decided, ...], parameters: Mapping[str, str]) -> bool:
        """Whether some condition on the way is a parameter that each call leaves, or sets, to the other arm."""
        return any(
            given and all(isinstance(one, Constant) and bool(one.value) is not arm.holds for one in given)
            for arm in arms
            if arm.guard.text in parameters and arm.guard.key.endswith("@")
            for given in (self._arguments.get(parameters[arm.guard.text], []),)
        )

    def _settles(self, event: Returned, scope: Scope) -> bool:
        """Whether each call moves the result, or all are in sight and each gives what makes it a CPU tensor.

        Who calls it from elsewhere finds the same result (fixture `moved_by_who_calls`).
        """
        results = self._arguments.get(result_key(scope.qualname), [])
        moved = {call_of(value) for value in self._arguments.get(MOVED, [])} - {None}
        if results and all(_calls_of(value) and _calls_of(value) <= moved for value in results):
            return True
        direct = self._is_direct(scope.qualname, scope.is_nested)
        runs_itself = scope.role in (Role.SCRIPT, Role.BENCHMARK) and scope.class_name is None
        direct = direct or (runs_itself and self._only_used_here(scope.qualname))
        if direct and self._each_call(event.value, stays_on_cpu):
            return True
        returned = event.value.items if isinstance(event.value, Container) else (event.value,)
        placed = [value for value in returned if isinstance(value, Tensor) and symbols_of(value)]
        # However often what came in is handed on (fixture `handed_on_from_the_cpu`).
        return bool(placed) and all(self._hands_on(value, direct) for value in placed)

    def _is_filled_on_cpu(self, value: Value, scope: Scope) -> bool:
        """Whether all calls are in sight, and each gives a CPU tensor for what a tensor is filled with, or by."""
        name = scope.qualname.rsplit(".", 1)[-1]
        return self._hands_on(value, self._is_direct(scope.qualname, scope.is_nested) or self._only_used_here(name))

    def _is_copied_from_cpu(self, value: Value, scope: Scope) -> bool:
        """Whether all calls are in sight, and each gives a CPU tensor for what a pending copy was made of."""
        provenance = value.provenance if isinstance(value, (Tensor, Opaque)) else None
        if provenance is None or not self._is_direct(scope.qualname, scope.is_nested):
            return False
        return self._each_call(Opaque(provenance.first.device), stays_on_cpu)

    def _is_read_on_cpu(self, value: Value, scope: Scope) -> bool:
        """Whether callers are in sight, and what they give comes from the CPU, however often it is handed on.

        Objects that they have made themselves hold what is theirs, and nothing that comes with a model.
        """
        name = scope.qualname.rsplit(".", 1)[-1]
        direct = self._is_direct(scope.qualname, scope.is_nested)
        if direct and self._each_call(value, is_own_object):
            return True
        return self._hands_on(value, direct or self._only_used_here(name))

    def _is_own_class(self, scope: Scope) -> bool:
        """Whether all objects of a class are in sight: it is private, or of a script that no other file reads."""
        name = (scope.class_name or "").rsplit(".", 1)[-1]
        return is_private(name) or (bool(name) and scope.role is Role.SCRIPT and self._only_used_here(name))

    def _objects_stay(self, value: Value) -> bool:
        """Whether every object of the class in this file is called, and on the CPU at each call."""
        symbols = symbols_of(value)
        if not symbols or any(symbol.anchor is not Anchor.MODULE for symbol in symbols):
            return False
        called = [self._arguments.get(symbol.key, []) for symbol in symbols]
        made = [self._arguments.get(made_key(symbol.key), []) for symbol in symbols]
        return all(called) and all(
            all(one.device == CPU for one in receivers if isinstance(one, Module))
            and {construction_of(one) for one in objects} <= {construction_of(one) for one in receivers}
            for receivers, objects in zip(called, made, strict=True)
        )

    def _is_given_nowhere(self, value: Value) -> bool:
        """Whether the value follows a parameter and no call in the file is seen."""
        return any(s.anchor is Anchor.PARAMETER and s.key not in self._arguments for s in symbols_of(value))

    def _each_call(self, value: Value, gives: Callable[[Value], bool]) -> bool:
        """Whether every call site in the file passes such an argument for the parameter that this value follows."""
        symbols = symbols_of(value)
        if not symbols or any(symbol.anchor is not Anchor.PARAMETER for symbol in symbols):
            return False
        # What a definition hands to itself is what others gave it (fixture `handed_to_itself`).
        given = [
            [one for one in self._arguments.get(symbol.key, []) if not _is_part_of(one, symbol)] for symbol in symbols
        ]
        return all(given) and all(gives(argument) for arguments in given for argument in arguments)

    def _with_receiver_as_given(self, event: Moved, scope: Scope) -> Moved:
        """A parameter that is moved is a tensor where all calls are in sight, and each gives one."""
        value = event.receiver
        if not isinstance(value, (Tensor, Opaque)):
            return event
        given = self._as_given(value, scope, is_certainly_a_tensor)
        return event if given is value else replace(event, receiver=given)

    def _as_given(self, value: Tensor | Opaque, scope: Scope, is_tensor: Callable[[Value], bool]) -> Tensor | Opaque:
        """What came in, as a tensor where all calls are in sight, and each gives one."""
        came_in = value.provenance is not None and value.provenance.step.kind is StepKind.GIVEN
        if not came_in or not self._is_direct(scope.qualname, scope.is_nested):
            return value
        if not self._each_call(value, is_tensor):
            return value
        return Tensor(value.device, provenance=value.provenance)

    def _hands_on(self, value: Value, direct: bool) -> bool:
        """Whether the value follows a parameter for which callers give their own, and theirs all give CPU tensors.

        All calls on the way have to be in sight: ``direct`` says it of the last definition.
        """
        symbols = symbols_of(value)
        if not direct or not symbols or any(symbol.anchor is not Anchor.PARAMETER for symbol in symbols):
            return False
        waiting, seen = list(symbols), set[str]()
        while waiting:
            symbol = waiting.pop()
            given = self._arguments.get(symbol.key, [])
            if not given:
                return False
            seen.add(symbol.key)
            for argument in given:
                own = symbols_of(argument) if is_handed_on(argument) else []
                if not own and not stays_on_cpu(argument):
                    return False
                if not all(self._is_in_sight(owner_of(one)) for one in own):
                    return False
                waiting += [one for one in own if one.key not in seen]
        return True

    def _is_brought_over(self, value: Value, direct: bool) -> bool:
        """Whether all callers hand on an argument of theirs that they bring to its place themselves, later on.

        What they read of it on the CPU, ``data["sizes"].cpu()``, says that it is elsewhere.
        """
        symbols = symbols_of(value)
        if not direct or not symbols or any(symbol.anchor is not Anchor.PARAMETER for symbol in symbols):
            return False
        given = [one for symbol in symbols for one in self._arguments.get(symbol.key, [])]
        moved = {symbol.key for one in self._arguments.get(BROUGHT, []) for symbol in symbols_of(one)}
        return bool(given) and all(is_handed_on(one) and moved.issuperset(keys_of(one)) for one in given)

    def _is_in_sight(self, owner: str) -> bool:
        """Whether a definition that hands a parameter on is called by this file alone, as far as that is known."""
        name = owner.rsplit(".", 1)[-1]
        return is_private(name) or "." in owner or self._only_used_here(name)

    def _some_call(self, value: Value, gives: Callable[[Value], bool]) -> bool:
        """Whether some call site in the file passes such an argument for a parameter that this value follows."""
        return any(gives(given) for symbol in symbols_of(value) for given in self._arguments.get(symbol.key, []))

    def _some_call_on_the_way(self, value: Value, gives: Callable[[Value], bool]) -> bool:
        """The same of the callers of callers who hand on an argument of theirs."""
        return any(map(gives, self._given_on_the_way(value)))

    def _given_on_the_way(self, value: Value) -> Iterator[Value]:
        """What the callers give for the parameters that this value follows, and theirs where they hand on an argument.

        Of modules also what the constructor of an object gets, which keeps it.
        """
        waiting, seen = symbols_of(value), set[str]()
        while waiting:
            symbol = waiting.pop()
            seen.add(symbol.key)
            for given in (*self._arguments.get(symbol.key, []), *self._arguments.get(kept_key(symbol.key), [])):
                yield given
                handed_on = is_handed_on(given) or isinstance(given, Module)
                waiting += [one for one in symbols_of(given) if handed_on and one.key not in seen]

    def _as_brought(self, event: DeviceMismatch) -> DeviceMismatch | None:
        """The mismatch with what some caller has put on a device that it names; None if no caller has."""
        handed = event.other.value
        given = next(filter(is_put_on_a_device, self._given_on_the_way(handed)), None)
        if given is None:
            return None
        other = replace(event.other, value=given)
        operands = tuple(other if one is event.other else one for one in event.operands)
        return replace(event, operands=operands, other=other, if_brought=False)

    def _brought_by_callers(self, module: Value) -> Module | Opaque | None:
        """A module that some caller brought to another place than the CPU before it handed it on."""
        for given in self._given_on_the_way(module):
            if not isinstance(given, (Module, Opaque)) or given.device in (CPU, UNKNOWN):
                continue
            if was_moved(given.provenance):
                return given
        return None


_JUDGED = frozenset(
    {Moved, CallersModuleCalled, Returned, Stored, WrittenByIndex, HostRead, ReadInCallee, DeviceMismatch}
)

MOVED = "moved"
"""The key under which is noted what is transferred."""

BROUGHT = "brought"
"""The key under which is noted what is transferred to another place than the CPU."""


def result_key(qualname: str) -> str:
    """The key under which the results of the calls of a definition are noted."""
    return f"result:{qualname}"


def _is_part_of(value: Value, given: Symbol) -> bool:
    """Whether a value is where an argument of the same definition is: itself, or items of it, also in a list."""
    followed = [symbols_of(item) for item in innermost_of(value)]
    return bool(followed) and all(
        symbols and all(_is_the_same(symbol, given) for symbol in symbols) for symbols in followed
    )


def _is_the_same(symbol: Symbol, given: Symbol) -> bool:
    drawn = symbol.anchor is Anchor.BATCH and symbol.source == given.name and owner_of(symbol) == owner_of(given)
    return symbol.key == given.key or drawn


def _calls_of(value: Value) -> set[int | None]:
    """The calls that gave a value, or the items of a tuple."""
    items = value.items if isinstance(value, Container) and value.rest is None else (value,)
    return {call_of(item) for item in items}


def _nobody_knows(_: str) -> bool:
    return False
