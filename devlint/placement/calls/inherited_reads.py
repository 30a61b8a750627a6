"""Inherited methods that read what the derived class alone keeps: ``self.mask``, of which the base knows nothing.

The walk of the base's own method finds no such attribute. It is evaluated again with the derived class for ``self``. So
is one that computes with a tensor of the base's own and with what a method gives that the derived class overrides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.domain.abstract_values import Kind, Module, Self, Tensor, Value, innermost_of
from devlint.placement.domain.class_facts import AttributeFact
from devlint.placement.domain.lattice import may_be_cpu
from devlint.placement.domain.provenance import Step
from devlint.source.dependency_parts import body_part

if TYPE_CHECKING:
    from devlint.placement.interpreter.program import Program


def read_of_derived(program: Program, method: FunctionInfo, receiver: Value | None) -> Iterator[Step]:
    """The stores of plain CPU tensors that the method reads of a class derived from the one that defines it.

    Where it calls what that class overrides, all that it reads.
    """
    info = receiver.info if isinstance(receiver, (Self, Module)) else None
    owner = method.owner
    if info is None or owner is None or info is owner or program.in_progress(info):
        return
    method.depend_on_body()
    mentioned, known = method.own.mentioned, {one.qualname for one in owner.order}
    anew = calls_what_is_overridden(info, method)
    facts = program.facts(info)
    for name, fact in facts.attributes.items():
        if name in mentioned and (anew or fact.scope.class_name not in known or name in facts.said):
            yield from _stored_on_cpu(fact)


def calls_what_is_overridden(info: ClassInfo, method: FunctionInfo) -> bool:
    """Whether a method of a base mentions another one that the class gives a body of its own."""
    owner = method.owner
    if owner is None:
        return False
    method.depend_on_body()
    below = info.order[: info.order.index(owner)] if owner in info.order else ()
    overridden = (name for one in below for name in one.methods if name != method.name and not name.startswith("__"))
    return any(name in method.own.mentioned and owner.method(name) is not None for name in overridden)


def inherited_readers(program: Program, info: ClassInfo) -> Iterator[FunctionInfo]:
    """The methods that a class inherits unchanged and that read a plain CPU tensor which it stores itself.

    So may be one of the base's where they call what the class overrides.
    """
    facts = program.facts(info)
    inherited = {name for base in info.order[1:] for name in base.methods}
    overrides = any(name in inherited and not name.startswith("__") for name in info.methods)
    names = {
        name
        for name, fact in facts.attributes.items()
        if (overrides or fact.scope.class_name == info.qualname or name in facts.said) and any(_stored_on_cpu(fact))
    }
    if not names:
        return
    for base in info.order[1:]:
        for method in base.methods.values():
            if method.linkage is not None:
                # A body that reads nothing of the class today may do so tomorrow.
                method.linkage.depends_on(body_part(method.qualname))
            unchanged = info.method(method.name) is method and not names.isdisjoint(method.own.mentioned)
            if unchanged and any(read_of_derived(program, method, Self(info, ""))):
                yield method


def _stored_on_cpu(fact: AttributeFact) -> Iterator[Step]:
    value = fact.value
    for one in innermost_of(value):
        if isinstance(one, Tensor) and one.kind in (Kind.PLAIN, Kind.UNWRAPPED) and may_be_cpu(one.device):
            yield from () if one.provenance is None else (one.provenance.step,)
