"""What a private method's parameter holds by its calls: those of its file, where its class stands, are most of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_grades import Grade, HandedOn, Shows, grade_of, tensor_grade
from devlint.placement.declarations.evidence_uses import uses_in
from devlint.placement.declarations.index import FileIndex
from devlint.placement.declarations.parameter_evidence import Role, roles_of
from devlint.placement.syntax.nodes import parameters_of
from devlint.source.dependency_parts import calls_part
from devlint.source.outline import is_private

if TYPE_CHECKING:
    from devlint.placement.interpreter.program import Program

Site = tuple[FunctionInfo, str]
"""A caller, and the name that stands as the argument."""

Sites = Mapping[tuple[int, str], Sequence[Site]]
"""By the key of a definition and the name of its parameter, where it is called with a name."""

ParameterAt = Callable[["Program", FunctionInfo, HandedOn], tuple[FunctionInfo, cst.Param] | None]


def role_by_callers(program: Program, info: FunctionInfo, parameter: str, parameter_at: ParameterAt) -> Role | None:
    """A tensor or a module where some caller certainly gives one, and none anything else that is known."""
    if not is_private(info.name):
        return None
    told = {_role(program, *site) for site in _sites(program, info, parameter_at).get((info.key, parameter), ())}
    told.discard(None)
    return told.pop() if told in ({Role.LIKELY_TENSOR}, {Role.MODULE}) else None


def is_declared_openly(index: FileIndex, qualname: str) -> bool:
    """Whether it stands in the file or a class of it; what stands in a function is known once that is parsed."""
    first, *inner = qualname.split(".")[:-1] or [""]
    if not first or not isinstance(index.top_level.get(first), ClassInfo):
        return not first
    classes = {info.qualname for info in index.classes.values()} if inner else set()
    return all(".".join([first, *inner[:count]]) in classes for count in range(1, len(inner) + 1))


def _role(program: Program, caller: FunctionInfo, name: str) -> Role | None:
    """What the argument is by the body of the caller: None where nothing is known, ``HOST`` for all that is neither.

    A name that the caller binds is certain, or nothing.
    """
    imports = program.index.imports
    first = parameters_of(caller.header)[:1]
    if caller.owner is not None and not caller.is_static and [name] == [one.name.value for one in first]:
        return Role.MODULE if caller.owner.is_module and not caller.is_classmethod else Role.HOST
    held = roles_of(caller, imports).get(name)
    if held is not None:
        told = {Role.TENSOR: Role.LIKELY_TENSOR, Role.LIKELY_TENSOR: Role.LIKELY_TENSOR, Role.MODULE: Role.MODULE}
        unknown = held.role in (Role.ANYTHING, Role.NAMED_TENSOR, Role.PLACED, Role.NO_TENSOR)
        return None if unknown else told.get(held.role, Role.HOST)
    uses = uses_in(caller, imports)
    signs = uses.signs.get(name, frozenset())
    if tensor_grade(signs) is Grade.CERTAIN or name in uses.computed:
        return Role.LIKELY_TENSOR
    return Role.MODULE if grade_of(signs, Shows.MODULE) is Grade.CERTAIN else None


def _sites(program: Program, info: FunctionInfo, parameter_at: ParameterAt) -> Sites:
    """The calls in its file of what has the private name of a definition: gathered once for all that have it."""

    def find() -> dict[tuple[int, str], list[Site]]:
        program.rests_on(calls_part(info.name))
        found: dict[tuple[int, str], list[Site]] = {}
        for caller in list(program.index.functions.values()):
            if not caller.may_call(info.name) or not is_declared_openly(program.index, caller.qualname):
                continue
            for name, several in uses_in(caller, program.index.imports).handed_on.items():
                for handed in several:
                    if handed.callee.rpartition(".")[2] == info.name:
                        at = parameter_at(program, caller, handed)
                        if at is not None:
                            found.setdefault((at[0].key, at[1].name.value), []).append((caller, name))
        return found

    return find() if info.linkage is None else info.linkage.query(("callers", info.linkage, info.name), find, {})
