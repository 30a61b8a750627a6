"""Which classes in sight a parameter may be an object of: by its docstring, or by what is read of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_conventions import HAS_MEMBERS
from devlint.placement.declarations.evidence_docstrings import documented_parameters
from devlint.placement.declarations.evidence_kept import kept_in
from devlint.placement.declarations.evidence_uses import uses_in
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.parameter_evidence import Held, Role
from devlint.placement.domain.abstract_values import ClassValue
from devlint.source.dependency_parts import CLASSES

if TYPE_CHECKING:
    from devlint.placement.interpreter.program import Program

_CLASS_NAME = re.compile(r"\b[A-Z]\w*")


def documented_classes(info: FunctionInfo, parameter: str) -> tuple[str, ...]:
    """The classes that the docstring names for a parameter, without their modules: ``Mask`` for `~package.Mask`."""
    documented = documented_parameters(info).get(parameter, "")
    return tuple(name for name in _CLASS_NAME.findall(documented) if name not in _NO_CLASSES)


_NO_CLASSES = frozenset({"None", "Optional", "Union", "Any"})


def members_read(info: FunctionInfo, imports: ImportTable) -> Mapping[str, frozenset[str]]:
    """What is read of each parameter and no tensor has: by the body, and by the class that keeps it for good."""
    read = uses_in(info, imports).members
    kept = kept_in(info, imports) if info.name == "__init__" and info.owner is not None else {}
    return {**read, **{name: read.get(name, frozenset()) | one.members for name, one in kept.items()}} if kept else read


def with_members(program: Program, members: frozenset[str]) -> Held | None:
    """What a parameter is by the classes of the file, its own and imported ones, that have all that is read of it.

    A Module is known by a method that the project defines: configurations have numbers under the names of a layer's.
    """
    if not members:
        return None
    program.rests_on(CLASSES)
    found = dict(_having(program, members))
    if not found:
        return None
    general = [name for name, one in found.items() if all(one in other.order for other in found.values())]
    class_name = general[0] if len(general) == 1 else ""
    modules = {one.is_module for one in found.values()}
    if modules == {True} and all(one.defines(*members) for one in found.values()):
        return Held(Role.MODULE, HAS_MEMBERS, class_name)
    return Held(Role.NO_TENSOR, "", class_name) if modules == {False} and class_name else None


def _having(program: Program, members: frozenset[str]) -> Iterator[tuple[str, ClassInfo]]:
    for name in program.index.class_names:
        value = program.global_value(name)
        if isinstance(value, ClassValue) and _has(value.info, members):
            yield name, value.info


def _has(info: ClassInfo, members: frozenset[str]) -> bool:
    """Whether the class defines these as methods, or sets, declares, assigns or registers them as attributes.

    Its bases are looked up only where it does not have them itself: that may read other files.
    """
    left = members - info.members
    for one in info.order[1:] if left else ():
        left -= one.members
        if not left:
            break
    return not left
