"""What the methods of a base hand to a step that a class overrides: ``self.train_step(batch)`` of an epoch's loop.

The base has brought the batch to a device. In the class that overrides the step nothing else tells of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.placement.calls.summaries import arguments_of
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.symbol_keys import symbol_key
from devlint.placement.domain.abstract_values import Self, Tensor
from devlint.placement.domain.events import Called, Event, HostRead
from devlint.placement.domain.handed_over import is_brought
from devlint.placement.domain.lattice import SameAs, leaves
from devlint.placement.state.host_reads import METHOD
from devlint.placement.syntax.nodes import parameters_of
from devlint.records import replace
from devlint.source.dependency_parts import body_part

if TYPE_CHECKING:
    from devlint.placement.interpreter.program import Program


def read_as_handed(program: Program, method: FunctionInfo, event: Event) -> Event:
    """A read by ``.numpy()`` of a parameter, or of an item of one, that a base hands over from a device."""
    if not isinstance(event, HostRead) or event.reader != METHOD or not event.wants_cpu or event.callers_on_model:
        return event
    owner = method.owner
    if owner is None or method.is_static or not any(method.name in base.methods for base in owner.order[1:]):
        return event
    name = _parameter_read(method, event)
    for call in _calls_in_bases(program, owner, method.name) if name is not None else ():
        given = dict(arguments_of(method, call.call, Self(owner), program))
        if name in given and is_brought(given[name]):
            # What has a method `numpy` is a tensor.
            value = Tensor(event.value.device, provenance=event.value.provenance)
            return replace(event, value=value, handed_over=call)
    return event


def _parameter_read(method: FunctionInfo, event: HostRead) -> str | None:
    """The parameter that what is read follows, in every arm."""
    places = leaves(event.value.device)
    keys = {place.symbol.key if isinstance(place, SameAs) else "" for place in places}
    names = (parameter.name.value for parameter in parameters_of(method.header))
    return next((name for name in names if keys == {symbol_key(method, name)}), None)


def _calls_in_bases(program: Program, owner: ClassInfo, step: str) -> Iterator[Called]:
    for base in owner.order[1:]:
        for user in base.methods.values():
            if user.linkage is not None:
                # A body that does not call the step today may do so tomorrow.
                user.linkage.depends_on(body_part(user.qualname))
            holder = program.holder(user) if step in user.own.mentioned and owner.method(user.name) is user else None
            for event in holder.events_of(user) if holder is not None else ():
                if isinstance(event, Called) and event.name == f".{step}" and isinstance(event.receiver, Self):
                    yield event
