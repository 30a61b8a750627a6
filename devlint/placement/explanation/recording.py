"""A record of an analysis: the value of each expression of a file, and what each name was bound to when it was read.

The record is made by transfer functions that call those of the table and keep what they return. The interpreter knows
nothing of it, and an analysis without a record pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import libcst as cst

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.domain.abstract_values import Value
from devlint.placement.domain.scope import Scope
from devlint.placement.interpreter.interpreter import Evaluate, Execute, Handlers, Interpreter
from devlint.placement.syntax.nodes import path_of
from devlint.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """What a name was last bound to before it was read."""

    node: cst.BaseExpression
    """The bound expression, or the one that the name is bound to a part of."""
    part: bool
    """Whether it is an item of that value: of a loop, a context manager, or an unpacked assignment."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """One expression as its definition evaluated it."""

    value: Value
    scope: Scope
    info: FunctionInfo | None
    """The definition; None at the module level."""
    binding: Binding | None
    """For a name or another storable location; None if nothing before it in the definition binds it."""


class Recorder:
    """The expressions of one file. Give :meth:`handlers` to its analysis, then run that."""

    def __init__(self) -> None:
        self.evaluated: dict[cst.BaseExpression, Evaluated] = {}
        self.assigned: dict[cst.BaseExpression, cst.BaseExpression] = {}
        """The names and attributes that are bound to one expression as a whole."""
        self._bindings: dict[tuple[str, str], Binding] = {}

    def handlers(self, handlers: Handlers) -> Handlers:
        """The same transfer functions, which record what they return."""
        return Handlers(
            {kind: self._evaluate(handler) for kind, handler in handlers.expressions.items()},
            {kind: self._execute(handler) for kind, handler in handlers.statements.items()},
            handlers.call_value,
        )

    def last_stored(self, scope: Scope, target: cst.CSTNode) -> cst.BaseExpression | None:
        """The expression that a definition last stored at a location; None if it is an item of it, or not known."""
        path = path_of(target) if isinstance(target, cst.BaseExpression) else None
        found = self._bindings.get((scope.qualname, path)) if path is not None else None
        return found.node if found is not None and not found.part else None

    def _evaluate(self, handler: Evaluate) -> Evaluate:
        def recording(interp: Interpreter, node: Any) -> Value:
            path = path_of(node)
            binding = self._binding(interp, path) if path is not None else None
            value = handler(interp, node)
            # A trial round of a loop is repeated, and an inlined call is about its arguments.
            if not interp.depth and not (interp.muted and node in self.evaluated):
                self.evaluated[node] = Evaluated(value, interp.scope, interp.info, binding)
            if isinstance(node, cst.NamedExpr):
                self._bind(interp, node.target, node.value)
            return value

        return recording

    def _execute(self, handler: Execute) -> Execute:
        def recording(interp: Interpreter, node: Any) -> None:
            if isinstance(node, cst.For):
                self._bind(interp, node.target, node.iter, part=True)
            elif isinstance(node, cst.With):
                for item in node.items:
                    if item.asname is not None:
                        self._bind(interp, item.asname.name, item.item, part=True)
            handler(interp, node)
            if isinstance(node, cst.Assign):
                for target in node.targets:
                    self._bind(interp, target.target, node.value)
            elif isinstance(node, (cst.AnnAssign, cst.AugAssign)) and node.value is not None:
                self._bind(interp, node.target, node.value)

        return recording

    def _binding(self, interp: Interpreter, path: str) -> Binding | None:
        return self._bindings.get((interp.scope.qualname, path))

    def _bind(self, interp: Interpreter, target: cst.CSTNode, node: cst.BaseExpression, part: bool = False) -> None:
        if interp.depth:
            return
        for one, is_part in _targets(target, part):
            path = path_of(one)
            if path is not None:
                self._bindings[interp.scope.qualname, path] = Binding(node, is_part)
                if not is_part:
                    self.assigned[one] = node


def _targets(target: cst.CSTNode, part: bool) -> Iterable[tuple[cst.BaseExpression, bool]]:
    """The locations that an assignment stores to, and whether each gets a part of the value."""
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _targets(element.value, True)
    elif isinstance(target, cst.BaseExpression):
        yield target, part
