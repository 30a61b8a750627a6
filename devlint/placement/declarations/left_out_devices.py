"""Calls that leave a device parameter of their own definition to its default: recursion into parts, and delegation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.ignored_parameters import (
    documented_as_unused,
    keeps_contract,
    mentions,
    names_device,
)
from devlint.placement.syntax.nodes import (
    FunctionNode,
    body_of,
    code_of,
    descend,
    dotted,
    inner_nodes,
    parameters_of,
    positions_of,
    semantic_children,
)
from devlint.records import dataclass

if TYPE_CHECKING:
    from devlint.placement.declarations.index import FileIndex


SWITCHES = frozenset({"use_cuda", "use_gpu", "cuda", "gpu", "to_cuda", "to_gpu", "on_cuda", "on_gpu"})
"""Names of parameters that switch the accelerator on."""

_OPENS = (cst.If, cst.For, cst.While, cst.With, cst.Try)
"""Statements that hold others, as far as a recursion is looked for in them."""


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """``call`` calls a definition that takes ``parameter``, and does not say it."""

    call: cst.Call
    parameter: str
    recursive: bool


def left_out_devices(info: FunctionInfo, index: FileIndex) -> Iterator[LeftOut]:
    """The calls by which the caller's device gets lost on the way."""
    node = info.node
    if not isinstance(node, cst.FunctionDef) or not keeps_contract(info):
        return
    wanted = [p.name.value for p in parameters_of(node) if names_device(p) or p.name.value in SWITCHES]
    if not wanted:
        return
    recursive = [call for call in _calls_of_its_name(info) if any(leaves_out(call, info, name) for name in wanted)]
    for name in wanted:
        if not mentions(node.body, name):
            yield from (LeftOut(call, name, False) for call in _delegation(info, index, name))
        elif recursive:
            yield from (LeftOut(call, name, True) for call in _Recursion(info, name).calls(body_of(node.body)))


def _calls_of_its_name(info: FunctionInfo) -> Iterator[cst.Call]:
    """The calls in the body that may be recursive: by the definition's own name, and not of a base class."""
    if info.name == "__init__":
        return  # what a constructor calls by this name is that of a base
    for child in inner_nodes(info.node.body, into_definitions=False):
        if type(child) is not cst.Call:
            continue
        function = child.func
        if info.owner is None:
            named = type(function) is cst.Name and function.value == info.name
        else:
            named = type(function) is cst.Attribute and function.attr.value == info.name and not _is_super(function)
        if named:
            yield child


def _is_super(function: cst.Attribute) -> bool:
    return type(function.value) is cst.Call and dotted(function.value.func) == "super"


def _delegation(info: FunctionInfo, index: FileIndex, name: str) -> Iterator[cst.Call]:
    """``def cuda(self, device="cuda"): return self.to()``: all that the body does is a call that could have told."""
    node = info.node
    assert isinstance(node, cst.FunctionDef)
    body = [s for s in body_of(node.body) if not _is_text(s)]
    call = body[0].value if len(body) == 1 and isinstance(body[0], (cst.Return, cst.Expr)) else None
    if not isinstance(call, cst.Call) or documented_as_unused(node):
        return
    callee = _callee(info, index, call)
    if callee is not None and callee is not info and leaves_out(call, callee, name):
        yield call


def _is_text(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.Expr) and isinstance(statement.value, (cst.SimpleString, cst.ConcatenatedString))


def _callee(info: FunctionInfo, index: FileIndex, call: cst.Call) -> FunctionInfo | None:
    function = call.func
    if isinstance(function, cst.Name):
        found = index.top_level.get(function.value)
        return found if isinstance(found, FunctionInfo) else None
    if isinstance(function, cst.Attribute) and info.owner is not None and _is_own(info, function.value):
        return info.owner.method(function.attr.value)
    return None


def leaves_out(call: cst.Call, callee: FunctionInfo, name: str) -> bool:
    """Whether the callee has a parameter of that name with a default, and the call gives it nothing."""
    return is_left_out(call, callee.header, name, callee.has_receiver)


def is_left_out(call: cst.Call, header: FunctionNode, name: str, bound: bool) -> bool:
    """The same of a definition by its header; ``bound``: its first parameter is the receiver."""
    if any(a.star or (a.keyword is not None and a.keyword.value == name) for a in call.args):
        return False
    found = next(((at, p) for at, p in positions_of(header, bound=bound) if p.name.value == name), None)
    if found is None or found[1].default is None:
        return False
    return found[0] is None or sum(a.keyword is None for a in call.args) <= found[0]


def _is_own(info: FunctionInfo, receiver: cst.BaseExpression) -> bool:
    """``self``, ``cls``, ``type(self)`` or the class by its name."""
    parameters = parameters_of(info.header)
    first = parameters[0].name.value if parameters and not info.is_static else ""
    own = (first, f"type({first})", f"{first}.__class__") if first else ()
    return code_of(receiver) in (*own, *((info.owner.name,) if info.owner is not None else ()))


@dataclass
class _Recursion:
    """A walk through the body of a definition, in the order of its flow, for recursive calls that drop the device."""

    info: FunctionInfo
    name: str
    _placed: set[str] = field(default_factory=set)
    """Names whose values the parameter already had a say in: what is moved before the recursion needs no device."""

    def calls(
        self, body: Iterable[cst.CSTNode], tests: tuple[cst.CSTNode, ...] = (), heeded: bool = False
    ) -> Iterator[cst.Call]:
        """``tests`` decide whether the body runs; ``heeded``: what runs after it may still move what it made."""
        statements = list(body)
        if statements and isinstance(statements[-1], (cst.Return, cst.Raise)):
            heeded = False
        last = next((at for at in reversed(range(len(statements))) if mentions(statements[at], self.name)), -1)
        for position, statement in enumerate(statements):
            later = heeded or position < last
            if isinstance(statement, _OPENS):
                yield from self._opened(statement, tests, later)
                continue
            if not later or isinstance(statement, cst.Return):
                yield from self._judged(statement, tests)
            if isinstance(statement, cst.Assign):
                for target in statement.targets:
                    self._bind(target.target, statement.value)

    def _opened(self, statement: cst.CSTNode, tests: tuple[cst.CSTNode, ...], later: bool) -> Iterator[cst.Call]:
        if isinstance(statement, cst.If):
            yield from self._arms(statement, tests, later)
        elif isinstance(statement, cst.For):
            self._bind(statement.target, statement.iter)
            yield from self.calls(body_of(statement.body), tests, later)
        elif isinstance(statement, cst.While):
            yield from self.calls(body_of(statement.body), (*tests, statement.test), later)
        elif isinstance(statement, cst.With):
            yield from self.calls(body_of(statement.body), (*tests, *statement.items), later)
        elif isinstance(statement, cst.Try):
            # A handler that starts again with the default has given the device up on purpose (fixture `given_up`).
            yield from self.calls(body_of(statement.body), tests, later)

    def _arms(self, statement: cst.If, tests: tuple[cst.CSTNode, ...], later: bool) -> Iterator[cst.Call]:
        before = self._placed
        tests = (*tests, statement.test)
        yield from self.calls(body_of(statement.body), tests, later)
        first, self._placed = self._placed, before
        if isinstance(statement.orelse, cst.If):
            yield from self._arms(statement.orelse, tests, later)
        elif statement.orelse is not None:
            yield from self.calls(body_of(statement.orelse.body), tests, later)
        self._placed = self._placed | first

    def _judged(self, statement: cst.CSTNode, tests: tuple[cst.CSTNode, ...]) -> Iterator[cst.Call]:
        if any(mentions(node, self.name) for node in (statement, *tests)):
            return
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return
        for call in descend(statement, into_definitions=False):
            if not isinstance(call, cst.Call) or not self._is_recursive(call, (*tests, statement)):
                continue
            if not any(isinstance(n, cst.Name) and n.value in self._placed for n in descend(call)):
                yield call

    def _is_recursive(self, call: cst.Call, tests: tuple[cst.CSTNode, ...]) -> bool:
        info, function = self.info, call.func
        if not leaves_out(call, info, self.name):
            return False
        if isinstance(function, cst.Name):
            return info.owner is None and function.value == info.name
        if info.owner is None or not isinstance(function, cst.Attribute) or function.attr.value != info.name:
            return False
        return _is_own(info, function.value) or any(self._tests_class(test, function.value) for test in tests)

    def _tests_class(self, test: cst.CSTNode, receiver: cst.BaseExpression) -> bool:
        """``isinstance(value, Batch)`` in a method of ``Batch``: the same method of a part."""
        return any(
            isinstance(child, cst.Call)
            and isinstance(child.func, cst.Name)
            and child.func.value == "isinstance"
            and len(child.args) == 2
            and code_of(child.args[0].value) == code_of(receiver)
            and _is_own(self.info, child.args[1].value)
            for child in descend(test)
        )

    def _bind(self, target: cst.BaseExpression, value: cst.CSTNode) -> None:
        told = mentions(value, self.name) or any(mentions(value, placed) for placed in self._placed)
        for name, whole in _bound(target):
            if told:
                self._placed = self._placed | {name}
            elif whole:
                self._placed = self._placed - {name}


def _bound(target: cst.CSTNode, whole: bool = True) -> Iterator[tuple[str, bool]]:
    """The names that an assignment binds, or of which it binds a part: ``x`` of ``x[i] = ...``."""
    if isinstance(target, cst.Name):
        yield target.value, whole
    elif isinstance(target, (cst.Subscript, cst.Attribute)):
        yield from _bound(target.value, whole=False)
    else:
        for child in semantic_children(target):
            yield from _bound(child, whole)
