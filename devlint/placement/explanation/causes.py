"""Why a value, or its device, is unknown: the chain from an expression to what the analysis could not know.

The chain follows what the expression is computed from. Its last link is the root cause; those before it lead there.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import libcst as cst

from devlint import semantics
from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.domain.abstract_values import (
    ClassValue,
    DeviceName,
    Function,
    Host,
    Instance,
    Module,
    Opaque,
    Reference,
    Self,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.lattice import Unknown, leaves
from devlint.placement.explanation.recording import Evaluated, Recorder
from devlint.placement.interpreter.program import Program
from devlint.placement.state.reads_of_arguments import is_of_a_callable
from devlint.placement.syntax.nodes import code_of, descend, parameters_of
from devlint.records import dataclass
from devlint.semantics import library_models

MAX_REASONS = 12
"""Links of one chain; a program that binds names in a ring has no last one."""


class Cause(Enum):
    """The kinds of causes, in the words of an explanation."""

    FOLLOWS = "it follows from another expression"
    """No root: the next link says more."""
    LIBRARY_FUNCTION = "a function of a library that the tables have no row for"
    METHOD = "a method that the tables have no row for"
    ATTRIBUTE = "an attribute that the tables have no row for"
    NOT_BOUND = "a name that nothing in the file binds, and no file of the project"
    PARAMETER = "an argument of which neither its annotation, its uses nor its callers say what it is"
    UNKNOWN_BASE = "a base class that is not known, which may have the attribute"
    NEVER_STORED = "an attribute that no method of the class stores"
    STORED_LATER = "an attribute that is stored outside of the constructor, or more than once"
    RESULT = "the result of a function that gives nothing known"
    UNFINISHED = "a function that calls itself, or too deep in calls"
    UNKNOWN_CLASS = "an object of a class that is not known"
    ITEM = "an item of a value whose items are not known"
    JOINED = "values that differ by the branch, the loop's round or the order of calls"
    UNDECIDED = "operands whose device is not known, or depends on more than is followed"
    UNPACKED = "arguments that are unpacked, which may name a device"
    NOT_EVALUATED = "code that no run on an accelerator reaches"
    NOT_MODELLED = "a kind of expression that is not followed"

    @property
    def label(self) -> str:
        """``library-function``: for programs that read it."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """One link: ``node`` is the expression that it is about, ``subject`` the name of what lacks a row or a value."""

    cause: Cause
    node: cst.BaseExpression
    subject: str
    source: cst.BaseExpression | None = None
    """For FOLLOWS: the expression that it follows from."""


def is_unknown(value: Value) -> bool:
    """Whether nothing can be reported of the value: its kind, or its device, is not known."""
    if isinstance(value, UnknownValue):
        return True
    return isinstance(value, (Tensor, Opaque, Module, DeviceName)) and any(
        isinstance(leaf, Unknown) for leaf in leaves(value.device)
    )


def _ends_unknown(value: Value) -> bool:
    """Whether a value that another follows from explains that it is unknown.

    What a callable of unknown type gives is where its arguments are, by convention: nowhere, if a call hands it none.
    """
    return is_unknown(value) or is_of_a_callable(value)


class Reasons:
    """Answers for the expressions of one record."""

    def __init__(self, recorder: Recorder, program: Program) -> None:
        self._recorder = recorder
        self._evaluated = recorder.evaluated
        self._program = program

    def of(self, node: cst.BaseExpression) -> tuple[Reason, ...]:
        """The chain of an expression whose value is unknown, the root cause last; empty for a known value."""
        found: list[Reason] = []
        seen: set[cst.BaseExpression] = set()
        current: cst.BaseExpression | None = node
        while current is not None and current not in seen and len(found) < MAX_REASONS:
            seen.add(current)
            evaluated = self._evaluated.get(current)
            if evaluated is not None and not (_ends_unknown(evaluated.value) if found else is_unknown(evaluated.value)):
                break
            found.append(self._link(current, evaluated))
            current = found[-1].source
        if found and found[-1].cause is Cause.FOLLOWS:
            # What it follows from is known, or the chain is a ring.
            last = found[-1]
            found[-1] = Reason(self._of_known_source(last), last.node, last.subject)
        return tuple(found)

    def root(self, node: cst.BaseExpression) -> Reason | None:
        """The root cause alone; None for a known value."""
        chain = self.of(node)
        return chain[-1] if chain else None

    def _of_known_source(self, reason: Reason) -> Cause:
        """The cause at an expression that is unknown although what it is bound to, or an item of, is known."""
        evaluated = self._evaluated.get(reason.node)
        binding = evaluated.binding if evaluated is not None else None
        part = isinstance(reason.node, cst.Subscript) or (binding is not None and binding.part)
        return Cause.ITEM if part else Cause.JOINED

    def _link(self, node: cst.BaseExpression, evaluated: Evaluated | None) -> Reason:
        """The reason at one expression."""
        if evaluated is None:
            return Reason(Cause.NOT_EVALUATED, node, code_of(node))
        if evaluated.binding is not None:
            return _follows(node, evaluated.binding.node)
        match node:
            case cst.Name():
                return self._of_name(node, evaluated)
            case cst.Attribute():
                return self._of_attribute(node)
            case cst.Call():
                return self._of_call(node)
            case cst.Subscript():
                return _follows(node, node.value)
            case cst.Await():
                return _follows(node, node.expression)
            case cst.IfExp() | cst.BooleanOperation() | cst.BinaryOperation() | cst.UnaryOperation() | cst.Comparison():
                return self._of_parts(node)
        return Reason(Cause.NOT_MODELLED, node, type(node).__name__)

    def _of_name(self, node: cst.Name, evaluated: Evaluated) -> Reason:
        parameters = evaluated.info.node.params if evaluated.info is not None else None
        named = {p.name.value for p in parameters_of(evaluated.info.node)} if evaluated.info is not None else set()
        stars = [parameters.star_arg, parameters.star_kwarg] if parameters is not None else []
        named |= {star.name.value for star in stars if isinstance(star, cst.Param)}
        if node.value in named:
            return Reason(Cause.PARAMETER, node, node.value)
        bound = node.value in self._program.index.bound or node.value in self._program.index.imports
        return Reason(Cause.JOINED if bound else Cause.NOT_BOUND, node, node.value)

    def _of_attribute(self, node: cst.Attribute) -> Reason:
        owner = self._value(node.value)
        name = node.attr.value
        match owner:
            case Self():
                return self._of_class(node, owner.info, name, f"self.{name}")
            case Module(info=ClassInfo() as info):
                return self._of_class(node, info, name, f"{info.name}.{name}")
            case None:
                return Reason(Cause.NOT_EVALUATED, node, code_of(node))
            case UnknownValue() | Opaque() | DeviceName() if is_unknown(owner):
                return _follows(node, node.value)
        return Reason(Cause.ATTRIBUTE, node, f"{_kind_of(owner)}.{name}")

    def _of_class(self, node: cst.BaseExpression, info: ClassInfo, name: str, subject: str) -> Reason:
        """The reason at an attribute of an object of a class of the project."""
        method = info.method(name)
        if method is not None:
            return self._of_function(node, method)
        fact = self._program.facts(info).attributes.get(name)
        stored = self._recorder.last_stored(fact.scope, fact.node) if fact is not None and fact.stores == 1 else None
        if stored is not None:
            return Reason(Cause.FOLLOWS, node, subject, stored)
        if fact is not None or any(name in one.assigned_outside_init for one in info.order):
            return Reason(Cause.STORED_LATER, node, subject)
        unknown = next(_unknown_bases(info), None)
        return Reason(Cause.UNKNOWN_BASE if unknown else Cause.NEVER_STORED, node, unknown or subject)

    def _of_call(self, node: cst.Call) -> Reason:
        callee = self._value(node.func)
        match callee:
            case Reference():
                follows = self._first_unknown(node) if callee.name.startswith("torch.") else None
                if follows is not None:
                    return _follows(node, follows)
                return _of_library(node, callee.name)
            case Function():
                return self._of_function(node, callee.info)
            case ClassValue():
                return Reason(Cause.UNKNOWN_CLASS, node, callee.info.name)
            case Module():
                follows = self._first_unknown(node)
                if follows is not None:
                    return _follows(node, follows)
                return Reason(Cause.RESULT, node, callee.type_name or code_of(node.func))
            case None | UnknownValue() if isinstance(node.func, cst.Attribute):
                return self._of_method(node, node.func)
        return _follows(node, node.func)

    def _of_method(self, node: cst.Call, function: cst.Attribute) -> Reason:
        """A call ``receiver.method(...)`` where the method is no value of its own."""
        owner, name = self._value(function.value), function.attr.value
        follows = self._first_unknown(node)
        if follows is not None:
            return _follows(node, follows)
        match owner:
            case Reference():
                return _of_library(node, f"{owner.name}.{name}")
            case Self():
                return self._of_class(node, owner.info, name, f"self.{name}")
            case Opaque():
                return Reason(Cause.PARAMETER, node, code_of(function.value))
        return Reason(Cause.METHOD, node, f"{_kind_of(owner)}.{name}")

    def _of_function(self, node: cst.BaseExpression, info: FunctionInfo) -> Reason:
        """The reason at a call of a function of the project, or at a property."""
        if self._program.holder(info) is self._program:
            for returned in _returned(info.node):
                evaluated = self._evaluated.get(returned)
                if evaluated is not None and _ends_unknown(evaluated.value):
                    return _follows(node, returned)
        unfinished = self._program.is_running(info) or self._program.summary(info) is None
        return Reason(Cause.UNFINISHED if unfinished else Cause.RESULT, node, info.qualname)

    def _of_parts(self, node: cst.BaseExpression) -> Reason:
        follows = self._first_unknown(node)
        if follows is not None:
            return _follows(node, follows)
        joins = isinstance(node, (cst.IfExp, cst.BooleanOperation))
        return Reason(Cause.JOINED if joins else Cause.UNDECIDED, node, code_of(node))

    def _first_unknown(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The first part of an expression whose value is unknown, in source order."""
        for part in _parts(node):
            evaluated = self._evaluated.get(part)
            if evaluated is not None and is_unknown(evaluated.value):
                return part
        return None

    def _value(self, node: cst.BaseExpression) -> Value | None:
        evaluated = self._evaluated.get(node)
        return None if evaluated is None else evaluated.value


def _of_library(node: cst.Call, name: str) -> Reason:
    """The reason at a call of a library's function: it has no row, or what it is given does not tell the place."""
    if semantics.function(name) is None and library_models.effect(name) is None:
        return Reason(Cause.LIBRARY_FUNCTION, node, name)
    unpacks = any(argument.star for argument in node.args)
    return Reason(Cause.UNPACKED if unpacks else Cause.UNDECIDED, node, name)


def _kind_of(owner: Value | None) -> str:
    """What kind of value a member is looked up on: its class where that is known."""
    match owner:
        case Module():
            return owner.info.name if owner.info is not None else owner.type_name or "Module"
        case Instance():
            return owner.type_name
        case Host():
            return "host value"
    return type(owner).__name__


def _unknown_bases(info: ClassInfo) -> Iterator[str]:
    """The bases of a class, its own and inherited ones, that neither the project nor PyTorch declares."""
    for one in info.order:
        for base in one.resolved_bases:
            if isinstance(base, str) and base != "object" and not base.startswith("torch."):
                yield base


def _follows(node: cst.BaseExpression, source: cst.BaseExpression) -> Reason:
    return Reason(Cause.FOLLOWS, node, code_of(node), source)


def _parts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The expressions that the value of another is computed from."""
    match node:
        case cst.Call():
            if isinstance(node.func, cst.Attribute):
                yield node.func.value
            for argument in node.args:
                yield argument.value
                yield from _parts(argument.value) if isinstance(argument.value, (cst.List, cst.Tuple)) else ()
        case cst.List() | cst.Tuple():
            yield from (element.value for element in node.elements)
        case cst.BinaryOperation():
            # Inner operations of a chain are not evaluated by themselves.
            yield from _parts(node.left) if isinstance(node.left, cst.BinaryOperation) else (node.left,)
            yield node.right
        case cst.BooleanOperation():
            yield from (node.left, node.right)
        case cst.UnaryOperation():
            yield node.expression
        case cst.Comparison():
            yield node.left
            yield from (target.comparator for target in node.comparisons)
        case cst.IfExp():
            yield from (node.body, node.orelse)


def _returned(node: cst.FunctionDef | cst.Lambda) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.Lambda):
        yield node.body
        return
    for child in descend(node.body, into_definitions=False):
        if isinstance(child, cst.Return) and child.value is not None:
            yield child.value
