"""What a parameter holds by where it is handed on: the functions of the project that it is, as it stands, passed to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.callers import is_declared_openly, role_by_callers
from devlint.placement.calls.classes_in_sight import documented_classes, members_read, with_members
from devlint.placement.calls.named_after_classes import named_after
from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.evidence_conventions import (
    DOCUMENTED_MODULE,
    GIVEN_BY_CALLERS,
    GRADIENT,
    HANDED_ON,
    HANDED_TO_A_MODULE,
    HANDED_TO_A_PART,
    MADE_WHERE_NONE,
    NAMED,
    NAMED_AFTER,
    NAMED_MODULE,
    OF_A_MODULE_CLASS,
    OVERRIDES,
    SIZES_A_CREATION,
)
from devlint.placement.declarations.evidence_grades import BUILT, INHERITED, HandedOn
from devlint.placement.declarations.evidence_names import (
    holds_many,
    names_a_function,
    names_a_module,
    names_a_module_in_use,
    names_a_part,
    names_a_tensordict,
    names_an_environment,
)
from devlint.placement.declarations.evidence_uses import uses_in
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.declarations.parameter_evidence import DOUBTED, Held, Role, module_class, roles_of
from devlint.placement.domain.abstract_values import ClassValue, Function, ProjectModule, Value
from devlint.placement.syntax.nodes import parameters_of
from devlint.source.dependency_parts import CLASSES

if TYPE_CHECKING:
    from devlint.placement.interpreter.program import Program

_TOLD = {
    Role.TENSOR: Role.LIKELY_TENSOR,
    Role.LIKELY_TENSOR: Role.LIKELY_TENSOR,
    Role.PLACED: Role.PLACED,
    Role.TENSORS: Role.TENSORS,
    Role.TENSORS_BY_NAME: Role.TENSORS_BY_NAME,
    Role.MODULE: Role.MODULE,
    Role.NAMED_TENSOR: Role.NAMED_TENSOR,
}
"""What is known of a parameter if that of a function that it is handed to has this role."""


_NO_OBJECT = frozenset({rows.COMPUTED, rows.TESTED})
"""What shows that a parameter that is called after a class is rather a number or a switch: ``Cutout(cutout)``."""
_TENSOR = frozenset({Role.LIKELY_TENSOR, Role.NAMED_TENSOR})
_WEAK = frozenset({NAMED, NAMED_MODULE, MADE_WHERE_NONE, SIZES_A_CREATION})
"""Conventions that count for less than what a callee takes the argument for."""
_OTHERWISE = frozenset({Role.NO_TENSOR, Role.SEVERAL, Role.HOST, Role.NUMPY})
_UNTOLD = frozenset({Role.ANYTHING, Role.NO_TENSOR})
_OPEN = frozenset({Role.ANYTHING, Role.NO_TENSOR, Role.SEVERAL})


def roles(program: Program, info: FunctionInfo) -> Mapping[str, Held]:
    """What each parameter of a definition holds, by its own body and by the functions that it is handed to.

    ``program`` is the module in which the definition looks names up.
    """
    find = partial(_roles, program, info)
    found = find() if info.linkage is None else info.linkage.query(("roles", info.key), find, None)
    # It is handed on to itself, by way of others.
    return found if found is not None else roles_of(info, program.index.imports)


def _roles(program: Program, info: FunctionInfo) -> dict[str, Held]:
    imports = program.index.imports
    found, uses = roles_of(info, imports), uses_in(info, imports)
    read = members_read(info, imports)
    for parameter in parameters_of(info.header)[info.has_receiver :]:
        name = parameter.name.value
        held = found[name]
        if parameter.annotation is not None:
            continue
        made = held.role is Role.HOST and isinstance(parameter.default, cst.Call)
        if (made or held.role in _OPEN) and _are_modules(program, uses.classes.get(name, ())):
            found[name] = Held(Role.MODULE, OF_A_MODULE_CLASS)
        elif names_a_tensordict(name):
            continue
        elif held.role in _OPEN or held.convention in _WEAK:
            told = [_role_at(program, info, handed) for handed in uses.handed_on.get(name, ())]
            function = names_a_function(name)
            ignored = NAMED_MODULE if function else NAMED if info.name == "__init__" else None
            found[name] = _by_callees(held, [one for one in told if one is not None and one.convention != ignored])
        if found[name] == Held(Role.ANYTHING):
            given = [_given_to(program, info, handed) for handed in uses.handed_on.get(name, ())]
            convention = next((one for one in given if one), "")
            if convention and not (convention == HANDED_TO_A_MODULE and holds_many(name)):
                found[name] = Held(Role.LIKELY_TENSOR, convention)
                continue
            if is_gradient(info):
                found[name] = Held(Role.LIKELY_TENSOR, GRADIENT)
                continue
            role = _role_by_overriding(program, info, name)
            if role is not None:
                found[name] = Held(role, OVERRIDES)
            elif (role := role_by_callers(program, info, name, parameter_at)) is not None:
                found[name] = Held(role, GIVEN_BY_CALLERS)
        signs = uses.signs.get(name, frozenset())
        if found[name].role in _UNTOLD and signs.isdisjoint(_NO_OBJECT):
            classes = named_after(program, name, found[name].role is Role.NO_TENSOR, info.owner)
            makes_it = any(handed.callee.rpartition(".")[2] in classes for handed in uses.handed_on.get(name, ()))
            if not makes_it and _are_modules(program, classes):
                found[name] = Held(Role.MODULE, NAMED_AFTER)
        if found[name].role in _UNTOLD:
            documented = documented_classes(info, name)
            if role_by_callers(program, info, name, parameter_at) is Role.MODULE:
                found[name] = Held(Role.MODULE, GIVEN_BY_CALLERS)
            elif _are_modules(program, documented):
                found[name] = Held(Role.MODULE, DOCUMENTED_MODULE, _one_class(program, documented))
            elif not names_an_environment(name):
                found[name] = with_members(program, read.get(name, frozenset())) or found[name]
    return found


def _are_modules(program: Program, classes: tuple[str, ...]) -> bool:
    """Whether there are classes named, and each is a Module's."""
    return bool(classes) and all(_is_module(program, name) for name in classes)


def _one_class(program: Program, names: tuple[str, ...]) -> str:
    """The class of the project that is named; empty for several and for those of libraries."""
    return names[0] if len(set(names)) == 1 and isinstance(program.global_value(names[0]), ClassValue) else ""


def _is_module(program: Program, name: str) -> bool:
    if module_class(name, program.index.imports):
        return True
    value = _named(program, name)
    return isinstance(value, ClassValue) and value.info.is_module


def _by_callees(held: Held, told: list[Held]) -> Held:
    """What the callees take for it what is ``held`` to be nothing in particular; the same where they differ."""
    found = {_TOLD[one.role] for one in told if one.role in _TOLD}
    named_module = held.convention == NAMED_MODULE and found == {Role.PLACED}
    if len(found) == 1 and not named_module and not (held.role is Role.NO_TENSOR and found <= _TENSOR):
        return Held(found.pop(), HANDED_ON)
    roles_told = {one.role for one in told}
    if held.role is Role.ANYTHING and roles_told in ({Role.NO_TENSOR}, {Role.SEVERAL}):
        return Held(roles_told.pop())
    if held.convention == NAMED_MODULE and roles_told == {Role.HOST}:
        # ``get_decoder(backbone)``: the name of one.
        return Held(Role.HOST)
    doubtable = held.role is Role.NAMED_TENSOR or held.convention in (MADE_WHERE_NONE, SIZES_A_CREATION)
    otherwise = any(one.role in _OTHERWISE or one.convention == DOUBTED for one in told)
    return Held(Role.ANYTHING, DOUBTED) if otherwise and doubtable else held


def is_gradient(info: FunctionInfo) -> bool:
    """Whether autograd calls it, with gradients; where it is the context, that is known before."""
    autograd = info.owner is not None and info.owner.kind is ClassKind.AUTOGRAD
    return autograd and info.is_static and info.name == "backward"


def _given_to(program: Program, info: FunctionInfo, handed: HandedOn) -> str:
    """The convention by which the callee takes a tensor; empty where none speaks.

    ``self.encoder(x)`` in a Module that has no method of the name: what it keeps there is a Module as a rule; so is
    what is called as modules and their parts are: ``model(x)``, ``self.vit.patch_embed(x)``.
    """
    first, _, name = handed.callee.partition(".")
    owner = info.owner
    if info.name == "__init__" or handed.position or handed.keyword:
        return ""
    last = handed.callee.rpartition(".")[2]
    if "." not in handed.callee:
        declared = last in program.index.top_level or last in program.index.imports  # ``prepare_model(token)``
        return HANDED_TO_A_MODULE if names_a_module_in_use(last) and not declared else ""
    if first != "self":
        return ""
    named = names_a_module(last) or names_a_part(last)
    if "." in name:
        return HANDED_TO_A_MODULE if named else ""
    if owner is None or owner.method(name) is not None:
        return ""
    if owner.is_module and not name.endswith(("fn", "func", "function")):
        return HANDED_TO_A_PART
    return HANDED_TO_A_MODULE if named else ""


def _role_by_overriding(program: Program, info: FunctionInfo, parameter: str) -> Role | None:
    """What the method that is overridden takes it for, else what its overrides do; a constructor has neither."""
    if info.owner is None or info.name == "__init__":
        return None
    return _role_in_base(program, info, info.owner, parameter) or _role_in_overrides(program, info, parameter)


def _role_in_base(program: Program, info: FunctionInfo, owner: ClassInfo, parameter: str) -> Role | None:
    """What the parameter of this name holds in the method that is overridden."""
    method = next((one.methods[info.name] for one in owner.order[1:] if info.name in one.methods), None)
    holder = program.holder(method) if method is not None else None
    held = roles(holder, method).get(parameter) if method is not None and holder is not None else None
    return _TOLD.get(held.role) if held is not None else None


def _role_in_overrides(program: Program, info: FunctionInfo, parameter: str) -> Role | None:
    """What all overrides in the same file whose own bodies say something take it for. A method that overrides another
    one learns of its siblings by that."""
    overrides = _overrides(program, info).get(info.key, ())
    held = [of.role for one in overrides if (of := roles_of(one, program.index.imports).get(parameter)) is not None]
    told = {_TOLD.get(role) for role in held if role is not Role.ANYTHING}
    return told.pop() if len(told) == 1 else None


def _overrides(program: Program, info: FunctionInfo) -> Mapping[int, Sequence[FunctionInfo]]:
    """The methods of a file that override another one, by that one: gathered once for all that is asked of the file."""

    def find() -> dict[int, list[FunctionInfo]]:
        program.rests_on(CLASSES)
        found: dict[int, list[FunctionInfo]] = {}
        for derived in list(program.index.classes.values()):
            if not is_declared_openly(program.index, derived.qualname):
                continue
            for base in derived.order[1:]:
                for name in derived.methods.keys() & base.methods.keys():
                    found.setdefault(base.methods[name].key, []).append(derived.methods[name])
        return found

    return find() if info.linkage is None else info.linkage.query(("overrides", info.linkage), find, {})


def _role_at(program: Program, info: FunctionInfo, handed: HandedOn) -> Held | None:
    """What the callee's own parameter holds."""
    found = parameter_at(program, info, handed)
    holder = program.holder(found[0]) if found is not None else None
    if found is None or holder is None or not found[0].keeps_signature:
        return None
    return roles(holder, found[0]).get(found[1].name.value)


def parameter_at(program: Program, info: FunctionInfo, handed: HandedOn) -> tuple[FunctionInfo, cst.Param] | None:
    """The callee, and its parameter that gets the argument; None for itself and what the project does not define."""
    callee, bound = _callee(program, info, handed.callee)
    if callee is None or callee is info:
        return None
    parameter = next(_parameter(callee, handed, bound), None)
    return None if parameter is None else (callee, parameter)


def _parameter(callee: FunctionInfo, handed: HandedOn, bound: bool) -> Iterator[cst.Param]:
    parameters = parameters_of(callee.header)[bound:]
    if handed.keyword:
        yield from (one for one in parameters if one.name.value == handed.keyword)
    else:
        yield from parameters[handed.position : handed.position + 1]


def _callee(program: Program, info: FunctionInfo, name: str) -> tuple[FunctionInfo | None, bool]:
    """The definition that a dotted name calls, and whether its first parameter is bound."""
    if name.startswith(INHERITED) and info.owner is not None:
        inherited = name.removeprefix(INHERITED)
        method = next((one.methods[inherited] for one in info.owner.order[1:] if inherited in one.methods), None)
        return method, method is not None and not method.is_static
    if name.startswith(BUILT):
        made = _named(program, name.removeprefix(BUILT))
        forward = made.info.method("forward") if isinstance(made, ClassValue) and made.info.is_module else None
        return forward, forward is not None and not forward.is_static
    first, _, rest = name.partition(".")
    if first == "self" and info.owner is not None:
        method = info.owner.method(rest) or _forward_of(program, info.owner, rest)
        return method, method is not None and not method.is_static
    value, rest = _resolved(program, name)
    if isinstance(value, ClassValue):
        method = value.info.method(rest or "__init__")
        return method, not rest or (method is not None and method.is_classmethod)
    return (value.info, False) if isinstance(value, Function) and not rest else (None, False)


def _forward_of(program: Program, owner: ClassInfo, attribute: str) -> FunctionInfo | None:
    """The ``forward`` of a part: that of the one class of which the constructor of a Module makes the attribute."""
    constructor = owner.methods.get("__init__")
    if not owner.is_module or constructor is None or attribute in owner.assigned_outside_init:
        return None
    uses = uses_in(constructor, program.index.imports)
    made = {class_name for name, class_name in uses.made if name == attribute}
    value = _named(program, made.pop()) if len(made) == 1 else None
    part = value.info if isinstance(value, ClassValue) and value.info.is_module else None
    return part.method("forward") if part is not None else None


def _named(program: Program, name: str) -> Value | None:
    """What a dotted name stands for; None where not all of it is resolved."""
    value, rest = _resolved(program, name)
    return None if rest else value


def _resolved(program: Program, name: str) -> tuple[Value, str]:
    """What the longest part of a dotted name stands for that leads through modules of the project, and what is left."""
    first, _, rest = name.partition(".")
    value = program.global_value(first)
    while rest and isinstance(value, ProjectModule):
        part, _, rest = rest.partition(".")
        value = program.member(value, part)
    return value, rest
