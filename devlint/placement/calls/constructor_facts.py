"""Class facts from the evaluations of a class's constructor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.constructor_parts import registered_attributes
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.self_attributes import is_made_of
from devlint.placement.domain.abstract_state import AbstractState, join
from devlint.placement.domain.abstract_values import NONE, Kind, Module, Self, Tensor, UnknownValue, Value
from devlint.placement.domain.class_facts import AttributeFact, ClassFacts, is_registered, kept, kind_of
from devlint.placement.domain.lattice import CPU, SameAs, may_be_cpu
from devlint.placement.domain.symbols import module_symbol
from devlint.placement.syntax.nodes import code_of, descend, parameters_of
from devlint.records import replace
from devlint.source.outline import PLACING

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def add_own_facts(facts: ClassFacts, constructor: Interpreter | None, builders: Sequence[Interpreter]) -> None:
    """Add the class's own attributes, from the evaluations of ``__init__`` and of the methods that are parts of it.

    A class without an ``__init__`` of its own may override parts of a base's.
    """
    info = facts.info
    evaluations = builders if constructor is None else (constructor, *builders)
    end = None if constructor is None else _at_end(constructor)
    assigned_later = info.assigned_outside_init
    for interp in evaluations:
        # The constructor has walked the part of the base that this class overrides.
        ends = [] if end is None or _overrides(interp, info) else [(end, constructor), (_at_end(interp), interp)]
        for name, (value, node, scope) in interp.object_stores.stored.get(info, {}).items():
            final = _last(name, ends) or value
            if isinstance(final, UnknownValue) and (is_registered(value) or (value == NONE and name in assigned_later)):
                # Created in one arm only: where it is used, that arm was taken. An attribute that begins as None is
                # what a method stores, which the constructor may call as well.
                final = value
            elif (
                isinstance(value, Tensor)
                and final != value
                and not _is_registered_in_one_arm(value, final)
                and _is_stored_once(evaluations, name, value)
                and not is_buffer(interp, info, name)
            ):
                final = value
            if _is_given_or_registered(interp, info, name, final):
                final = interp.object_stores.registered[info, name]
            if info.is_module:
                if isinstance(final, Tensor) and not is_registered(final) and may_be_cpu(final.device):
                    node, scope = interp.object_stores.plain.get((info, name), (node, scope))
                final = kept(_as_built(final, info), name, node, scope)
            stores = 1 + (name in assigned_later)
            facts.attributes[name] = AttributeFact(name, final, node, scope, kind_of(final), stores)
        facts.dynamic = facts.dynamic or info in interp.object_stores.dynamic


def is_stored_still(info: ClassInfo, parent: ClassInfo, fact: AttributeFact) -> bool:
    """Whether the method of a base that stores an attribute runs on objects of a class, which may override it."""
    method = parent.methods.get(fact.scope.qualname.rpartition(".")[2])
    return method is None or method.name == "__init__" or info.runs(parent, method)


def _overrides(interp: Interpreter, info: ClassInfo) -> bool:
    return (
        interp.info is not None
        and interp.info.name != "__init__"
        and any(interp.info.name in one.methods for one in info.order[1:])
    )


def _at_end(constructor: Interpreter) -> AbstractState | None:
    """What holds when it returns, by whichever way."""
    end: AbstractState | None = constructor.env
    for state in constructor.exits.states:
        end = join(None, end, state)
    return end


def _last(name: str, ends: Iterable[tuple[AbstractState | None, Interpreter | None]]) -> Value | None:
    """What an attribute holds at the first of the ends that knows: what is moved in place after it was stored."""
    for state, interp in ends:
        if state is not None and interp is not None:
            found = state.values.get(f"{_self_name(interp)}.{name}")
            if found is not None:
                return found
    return None


def _as_built(value: Value, info: ClassInfo) -> Value:
    """A plain tensor that the constructor puts where the module is stays there: a module is built on the CPU.

    ``self.steps = torch.zeros(3, device=self.device)``: Lightning and transformers build a module there as well, and
    so does ``next(self.parameters()).device`` say. Not so where the constructor is told a device, or moves something
    to another place than that.
    """
    init = info.method("__init__")
    if not isinstance(value, Tensor) or not _is_plain(value) or init is None or _places_elsewhere(init):
        return value
    told = any("device" in parameter.name.value for parameter in parameters_of(init.header))
    own = {SameAs(module_symbol(one)) for one in info.order}
    return replace(value, device=CPU) if value.device in own and not told else value


_WHERE_IT_IS = frozenset({"self.device", "torch.device(self.device)", "next(self.parameters()).device"})


def _places_elsewhere(init: FunctionInfo) -> bool:
    """Whether the constructor moves something, but for what it puts where the module is: ``t.to(self.device)``."""
    if not init.places_itself:
        return False
    parts = list(descend(init.node.body))
    there = {
        id(part.func)
        for part in parts
        if isinstance(part, cst.Call) and len(part.args) == 1 and code_of(part.args[0].value) in _WHERE_IT_IS
    }
    moves = (part for part in parts if isinstance(part, cst.Attribute) and part.attr.value in PLACING)
    return any(id(move) not in there for move in moves)


def _is_plain(value: Tensor) -> bool:
    return value.kind in (Kind.PLAIN, Kind.UNWRAPPED)


def completed(facts: ClassFacts, reads: Mapping[str, Set[str]]) -> ClassFacts:
    """The facts completed with the reads in the whole class; ``reads``: for each method, the attributes it reads."""
    registered = registered_attributes(facts.info)
    attributes = {
        name: replace(
            fact,
            loaded_in=frozenset(reads.get(name, ())),
            registered=name in registered or (facts.dynamic and not isinstance(fact.value, Module)),
        )
        for name, fact in facts.attributes.items()
    }
    return replace(facts, attributes=attributes)


def _is_stored_once(evaluations: Sequence[Interpreter], name: str, last: Tensor) -> bool:
    """Whether one statement alone gives an attribute its value, in whatever arm it stands.

    Others may go on with it, as long as it stays on the CPU: of a move in one arm the other does not know.
    """
    infos = [interp.info for interp in evaluations if interp.info is not None]
    written = [expression for info in infos for expression in info.stored_expressions.get(name, ())]
    if None in written or [is_made_of(one, name) for one in written].count(False) != 1:
        return False
    return len(written) == 1 or last.device == CPU


def _is_registered_in_one_arm(last: Tensor, final: Value) -> bool:
    """``self.w = torch.ones(3); if learned: self.w = nn.Parameter(self.w)``: in the other arm it is a plain tensor."""
    return is_registered(last) and isinstance(final, Tensor) and not is_registered(final)


def _is_given_or_registered(interp: Interpreter, info: ClassInfo, name: str, final: Value) -> bool:
    """``self.w = nn.Parameter(torch.ones(3)) if weights is None else weights``: on the CPU is the parameter alone.

    Where the other arm's tensor is, the caller knows, who may hand in a parameter as well.
    """
    if not isinstance(final, Tensor) or is_registered(final) or not may_be_cpu(final.device):
        return False
    stores = interp.object_stores
    return (info, name) in stores.registered and (info, name) not in stores.left_on_cpu


def _self_name(interp: Interpreter) -> str:
    assert interp.info is not None
    parameters = parameters_of(interp.info.header)
    return parameters[0].name.value if parameters else "self"


def note_attribute(interp: Interpreter, owner: Self, name: str, value: Value, node: cst.CSTNode) -> None:
    """An attribute stored on an object, by its constructor or a part of it, or by another method later."""
    if interp.program.builds(interp.info, owner.info):
        stored = interp.object_stores.stored.setdefault(owner.info, {})
        before = stored.get(name)
        if before is not None and isinstance(before[0], Tensor) and _is_left_behind(before[0], value):
            interp.object_stores.plain[owner.info, name] = before[1:]
        stored[name] = (value, node, interp.scope)
        if is_registered(value):
            interp.object_stores.registered[owner.info, name] = value
        elif isinstance(value, Tensor) and may_be_cpu(value.device):
            interp.object_stores.left_on_cpu.add((owner.info, name))
    elif interp.info is not None:
        interp.object_stores.later.setdefault((interp.info.qualname, name), {})[id(node)] = value


def _is_left_behind(before: Tensor, after: Value) -> bool:
    """Whether what one arm stores is the one to repair, whatever the other arm stores further down, be it None."""
    made = before.device == CPU and (after == NONE or getattr(after, "device", CPU) != CPU)
    return not is_registered(before) and (is_registered(after) or made)


def is_buffer(interp: Interpreter, info: ClassInfo, name: str) -> bool:
    """Whether the class or an ancestor registers a buffer of that name."""
    program = interp.program
    return any(
        (one, name) in interp.object_stores.buffers or (program.holder(one) or program).registers(one, name)
        for one in info.order
    )


def note_buffer(interp: Interpreter, info: ClassInfo, name: str) -> None:
    """Record a registered buffer, with a value or None: later assignments to the name replace the buffer."""
    interp.object_stores.buffers.add((info, name))
    interp.program.note_buffer(info, name)
