"""Modules that are handed to other code as they stand: ``Trainer(model)`` may bring what it got to its own device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.evidence_modules import KEEPING
from devlint.placement.domain.abstract_values import ClassValue, Function, Module
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU, UNKNOWN
from devlint.placement.domain.scope import Setting
from devlint.placement.syntax.nodes import code_of, dotted, inner_nodes, names_in, parameters_of, path_of
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter
    from devlint.placement.interpreter.program import Program

HARMLESS = frozenset(
    "print len type isinstance hasattr repr str id count_parameters copy.copy copy.deepcopy deepcopy torch.save".split()
)

_KEEPING = frozenset("append extend insert update add setdefault".split())
"""Methods of containers that keep what they are given."""

_MOVING = frozenset("to cuda cpu apply _apply to_empty share_memory".split())

Leaves = Callable[[cst.Call, Sequence[int]], bool]
"""Whether a call leaves its arguments of these numbers where they are."""


def hands_on(definition: cst.CSTNode, path: str, known: cst.Call | None = None, leaves: Leaves | None = None) -> bool:
    """Whether a definition passes the module of this path to code other than ``known``, or lets that change it."""
    for child in inner_nodes(definition):
        if type(child) is not cst.Call or child is known or (dotted(child.func) or "") in HARMLESS:
            continue
        given = [n for n, a in enumerate(child.args) if _is_a_path(a.value) and code_of(a.value) == path]
        if given and not (leaves is not None and leaves(child, given)):
            return True
        moves = isinstance(child.func, cst.Attribute) and child.func.attr.value in ("_apply", "apply", "to_empty")
        if moves and isinstance(child.func, cst.Attribute) and code_of(child.func.value) == path:
            return True
    return False


def _is_a_path(node: cst.BaseExpression) -> bool:
    return isinstance(node, (cst.Name, cst.Attribute))


def _keeps(interp: Interpreter, owner: ClassInfo, body: cst.CSTNode, call: cst.Call) -> bool:
    """Whether a container keeps it that is only read: ``parts.append(self.net)`` for the parameters of an optimizer."""
    match call.func:
        case cst.Attribute(value=container, attr=cst.Name(value=name)) if name in _KEEPING and _is_a_path(container):
            path = code_of(container)
        case _:
            return False
    leaves = partial(_leaves, interp, owner, None)
    if isinstance(container, cst.Name):
        return not _lets_go(body, path) and not hands_on(body, path, leaves=leaves) and not _moves_items(body, path)
    methods = (method.node.body for one in owner.order for method in one.methods.values())
    return path.startswith("self.") and not any(
        hands_on(one, path, leaves=leaves) or _moves_items(one, path) for one in methods
    )


def _lets_go(body: cst.CSTNode, path: str) -> bool:
    """Whether a local container is returned, or kept under another name."""
    left = (node.value for node in inner_nodes(body) if isinstance(node, (cst.Return, cst.Assign, cst.Yield)))
    return any(isinstance(value, cst.BaseExpression) and _mentions(value, path) for value in left)


def _mentions(node: cst.CSTNode, path: str) -> bool:
    """Whether the container stands there as a whole, by itself or with others; not what is computed of its items."""
    match node:
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            return any(_mentions(one.value, path) for one in elements)
        case cst.Dict(elements=entries):
            return any(_mentions(one.value, path) for one in entries)
        case _:
            return isinstance(node, (cst.Name, cst.Attribute)) and code_of(node) == path


def _moves_items(body: cst.CSTNode, path: str) -> bool:
    """Whether a loop over the container moves its items, or passes them on: ``for part in parts: part.to(device)``."""
    for node in inner_nodes(body):
        match node:
            case cst.For(iter=source, target=target, body=inner):
                parts: tuple[cst.CSTNode, ...] = (inner,)
            case cst.ListComp() | cst.SetComp() | cst.GeneratorExp() | cst.DictComp():
                source, target, parts = node.for_in.iter, node.for_in.target, (node,)
            case _:
                continue
        if path not in code_of(source):
            continue
        names = {one.value for one in (target, *inner_nodes(target)) if isinstance(one, cst.Name)}
        calls = (call for part in parts for call in (part, *inner_nodes(part)) if isinstance(call, cst.Call))
        if any(_takes(call, names) for call in calls):
            return True
    return False


def _takes(call: cst.Call, names: set[str]) -> bool:
    """Whether a call moves what is under one of these names, or gets it as it stands."""
    method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    if method in _MOVING:
        return True
    if method in _KEEPING or (dotted(call.func) or "") in HARMLESS:
        return False
    return any(isinstance(one.value, cst.Name) and one.value.value in names for one in call.args)


def _leaves(
    interp: Interpreter, owner: ClassInfo, body: cst.CSTNode | None, call: cst.Call, given: Sequence[int]
) -> bool:
    """Whether a function or method of the project is called that neither moves these arguments nor hands them on.

    ``soft_update(self.target, self.net)`` copies values, an optimizer of the project keeps what it asks of the modules.
    """
    if body is not None and _keeps(interp, owner, body, call):
        return True
    match call.func:
        case cst.Name(value=name):
            found = interp.program.global_value(name)
            made = found.info.method("__init__") if isinstance(found, ClassValue) else None
            callee = found.info if isinstance(found, Function) else made
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            callee = owner.method(name)
        case _:
            return False
    if callee is None or callee.places_itself:
        return False
    taken, inside = list(_taken(callee, call, given)), callee.node.body
    return len(taken) == len(given) and not any(hands_on(inside, one) or _moves_items(inside, one) for one in taken)


_DEEP = 3
"""Calls of functions that hand a module on to the next, and no further."""


def leaves_module(interp: Interpreter, call: cst.Call, given: Sequence[int]) -> bool:
    """Whether a function of the project is called that neither moves these arguments nor lets go of them.

    ``train(model, loader, device)`` and ``test(model, loader, device)`` of a script, one after the other.
    """
    callee = interp.evaluate_quietly(call.func) if isinstance(call.func, (cst.Name, cst.Attribute)) else None
    if not isinstance(callee, Function):
        return False
    return _leaves_arguments(interp.program, callee.info, call, given, callee.receiver is not None, _DEEP)


def _leaves_arguments(
    program: Program, info: FunctionInfo, call: cst.Call, given: Sequence[int], bound: bool, deep: int
) -> bool:
    holder = program.holder(info)
    if holder is None or not deep or info.decorators or (info.owner is not None and not bound):
        return False
    taken = list(_taken(info, call, given))
    return len(taken) == len(given) and all(_stays_in(holder, info, name, deep - 1) for name in taken)


def _taken(info: FunctionInfo, call: cst.Call, given: Sequence[int]) -> Iterator[str]:
    """The parameters that get the arguments of these numbers."""
    parameters = [one.name.value for one in parameters_of(info.node)[info.has_receiver :]]
    for number in given:
        keyword = call.args[number].keyword
        starred = any(argument.star for argument in call.args[: number + 1])
        by_position = parameters[number] if number < len(parameters) and not starred else ""
        name = keyword.value if keyword is not None else by_position
        if name in parameters:
            yield name


def _stays_in(holder: Program, info: FunctionInfo, name: str, deep: int) -> bool:
    """Whether a body only calls the module that it gets under this name, and hands it to functions that do no more."""

    def leaves(call: cst.Call, given: Sequence[int]) -> bool:
        called = holder.global_value(call.func.value) if isinstance(call.func, cst.Name) else None
        if not isinstance(called, Function) or called.receiver is not None:
            return False
        return _leaves_arguments(holder, called.info, call, given, False, deep)

    body = info.node.body
    kept = (node.value for node in inner_nodes(body) if isinstance(node, (cst.Assign, cst.AnnAssign, cst.NamedExpr)))
    if any(isinstance(value, cst.BaseExpression) and _mentions(value, name) for value in kept):
        return False
    return not (_is_changed(body, name) or _moves_items(body, name) or hands_on(body, name, leaves=leaves))


def _is_changed(body: cst.CSTNode, name: str) -> bool:
    """``model.to(device)``, ``model.module.cuda()``; ``place(model.eval())``, which is handed on as it is."""
    for node in inner_nodes(body):
        if type(node) is not cst.Call:
            continue
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in _MOVING and _is_of(node.func.value, name):
            return True
        given = (argument.value for argument in node.args if isinstance(argument.value, cst.Call))
        methods = (call.func for call in given if isinstance(call.func, cst.Attribute))
        if any(method.attr.value in KEEPING and _is_of(method.value, name) for method in methods):
            return True
    return False


def _is_of(node: cst.BaseExpression, name: str) -> bool:
    return code_of(node).partition(".")[0] == name


def is_used_by_definitions(interp: Interpreter, name: str) -> bool:
    """Whether a function of a script reads a module-level name, which it may do anything with."""
    for info in list(interp.index.functions.values()):
        if name in names_in(info.node) and all(parameter.name.value != name for parameter in parameters_of(info.node)):
            return True
    return False


def is_handed_on_by_its_owner(interp: Interpreter, node: cst.BaseExpression) -> bool:
    """Whether some method of the class hands on the module that ``self`` keeps under this name."""
    path = path_of(node)
    owner = interp.info.owner if interp.info is not None else None
    if owner is None or path is None or not path.startswith("self."):
        return False
    name = path.split(".")[1]
    return any(
        hands_on(method.node.body, path, leaves=partial(_leaves, interp, owner, method.node.body))
        for method in owner.mentioning(name)
    )


def note_handed_on(interp: Interpreter, name: str, site: CallSite) -> None:
    """A statement of a script hands a module on. (For a function, what builds and calls it there decides.)"""
    if interp.scope.setting is not Setting.MODULE_LEVEL or name in HARMLESS or name.startswith("torch."):
        return
    for argument in site.arguments:
        value, path = argument.value, path_of(argument.node)
        if isinstance(value, Module) and value.device == CPU and path is not None:
            numbers = [n for n, given in enumerate(site.node.args) if given.value is argument.node]
            if numbers and leaves_module(interp, site.node, numbers):
                continue
            interp.state.store(path, replace(value, device=UNKNOWN))
