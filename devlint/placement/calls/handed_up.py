"""What the constructor of a class says to those of its bases: ``super().__init__(device="cuda", model=model)``.

The attributes that a base stores follow the parameters of its constructor. An object of the derived class has what that
class says there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from devlint.placement.calls.summaries import substitute
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import NONE, Module, Opaque, Tensor, UnknownValue, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.class_facts import ClassFacts, kept
from devlint.placement.domain.lattice import SameAs
from devlint.placement.domain.provenance import StepKind
from devlint.placement.syntax.nodes import parameters_of
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def note_handed_up(interp: Interpreter, callee: FunctionInfo, site: CallSite, bound: bool) -> None:
    """Record what is said to the constructor of a base; what is left out, or not known, stays open.

    ``bound``: the receiver is no argument of the call.
    """
    caller = interp.info
    if callee.name != "__init__" or caller is None or caller.name != "__init__" or caller.owner is None:
        return
    if callee.owner is None or callee.owner not in caller.owner.order[1:]:
        return
    for position, parameter in enumerate(parameters_of(callee.header)[1 if bound else 0 :]):
        given = site.argument(parameter.name.value, position)
        if given is not None and given.value != NONE and not isinstance(given.value, UnknownValue):
            interp.object_stores.handed_up[symbol_key(callee, parameter.name.value)] = given.value
            interp.object_stores.said_at = (site.node, interp.scope)


def take_handed_up(facts: ClassFacts, constructor: Interpreter, facts_of: Callable[[ClassInfo], ClassFacts]) -> None:
    """Put what the constructor says for what the inherited attributes follow, and for what the bases say in turn."""
    own = constructor.object_stores.handed_up
    for parent in reversed(facts.info.parents):
        above = facts_of(parent).handed_up
        facts.handed_up.update((key, _put(value, own, constructor)) for key, value in above.items())
    facts.handed_up.update(own)
    facts.said_at = constructor.object_stores.said_at
    if not facts.handed_up:
        return
    for name, fact in facts.attributes.items():
        value = _put(fact.value, facts.handed_up, constructor)
        if value is not fact.value:
            given = facts.info.is_module and isinstance(value, Tensor)
            value = kept(value, name, fact.node, fact.scope) if given and not _is_stored(value) else value
            facts.attributes[name] = replace(fact, value=value)
            facts.said.add(name)


def _put(value: Value, said: Mapping[str, Value], interp: Interpreter) -> Value:
    if isinstance(value, Module) and value.provenance is not None and value.provenance.first.kind is StepKind.GIVEN:
        # ``model: VAE`` of the base is the ``model: VAMP`` of the derived class, wherever it was moved since.
        came_in = value.provenance.first.device
        given = said.get(came_in.symbol.key) if isinstance(came_in, SameAs) else None
        if isinstance(given, Module) and given.info is not None and _is_narrower(given.info, value.info):
            value = replace(value, info=given.info, holds_state=given.holds_state)
    if isinstance(value, Opaque) and value.info is not None and isinstance(value.device, SameAs):
        # What the base states of its class, the derived class need not state again.
        given = said.get(value.device.symbol.key)
        if isinstance(given, (Module, Opaque)) and given.info is None:
            return replace(value, device=given.device, provenance=given.provenance)
    if isinstance(value, (Opaque, Tensor)) and isinstance(value.device, SameAs) and _is_as_it_came(value):
        given = said.get(value.device.symbol.key)
        if isinstance(given, Tensor):
            return given
    return substitute(value, dict(said), interp, None)


def _is_as_it_came(value: Opaque | Tensor) -> bool:
    """Whether an attribute keeps an argument of the constructor itself, and nothing made or computed of it."""
    return value.provenance is not None and all(
        step.kind in (StepKind.GIVEN, StepKind.STORED) for step in value.provenance
    )


def _is_stored(value: Value) -> bool:
    return isinstance(value, Tensor) and value.provenance is not None and value.provenance.step.kind is StepKind.STORED


def _is_narrower(one: ClassInfo, other: ClassInfo | None) -> bool:
    return other is None or other in one.order
