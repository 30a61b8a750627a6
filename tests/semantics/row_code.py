"""Runs the code of a conformance row on the CPU while its tensors claim devices, and asks the judge at every call.

The names a row may use are those of `devlint.semantics.record.places`. A claim sits on the tensor's storage, so views
carry it. What a name means is asked of `devlint.semantics` exactly as the two readers do.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from devlint.semantics import (
    Clash,
    Factory,
    Meets,
    Operand,
    Operation,
    Parameter,
    Relation,
    Result,
    Unclear,
    function,
    meet,
    method,
    operator,
)
from devlint.semantics.record.places import Place, names
from tests.semantics.claims import Claims, operand, tensors_in

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not",
}


@dataclass(frozen=True)
class Outcome:
    """How the judge sees a row: where the result is, or the kind of the clash, or that it cannot say."""

    verdict: str
    detail: str | None


class _Stopped(Exception):
    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def judge_row(code: str) -> Outcome:
    """Run a row's statements in order; the first clash or unclear call ends it."""
    reader = _Reader()
    last: Any = None
    try:
        with torch.no_grad():
            for statement in ast.parse(code).body:
                last = reader.run(statement)
    except _Stopped as stopped:
        return stopped.outcome
    first = next(tensors_in(last), None)
    return Outcome("meets", None if first is None else reader.claims.of(first).split(":")[0])


class _Reader:
    def __init__(self) -> None:
        self.claims = Claims()
        targets = {"c": "cuda:0", "h": "cpu", "c1": "cuda:1", "m": "mps:0"}
        puts = {key: functools.partial(self.claims.put, device=target) for key, target in targets.items()}
        self.names: dict[str, Any] = names(puts, lambda key: self.claims.generator(targets[key]))
        self.names |= {"float": float, "slice": slice, "abs": abs, "complex": complex}

    def run(self, statement: ast.stmt) -> Any:
        match statement:
            case ast.Expr(value):
                return self.value(value)
            case ast.Assign([ast.Name(name)], value):
                self.names[name] = self.value(value)
            case ast.Assign([ast.Subscript() as target], value):
                subject, index, new = self.value(target.value), self.value(target.slice), self.value(value)
                self.judge(operator("[]="), [subject, *_parts(index), new], ["self", "indices", "value"], index)
                subject[index] = new
            case ast.AugAssign(ast.Name(name), op, value):
                new = self.value(value)
                self.judge(operator(SYMBOLS[type(op)] + "="), [self.names[name], new])
            case _:
                raise NotImplementedError(ast.dump(statement))
        return None

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self.names[name]
            case ast.List(items):
                return [self.value(i) for i in items]
            case ast.Tuple(items):
                return tuple(self.value(i) for i in items)
            case ast.Slice(lower, upper, step):
                return slice(*(None if n is None else self.value(n) for n in (lower, upper, step)))
            case ast.BinOp(left, op, right):
                return self.operate(SYMBOLS[type(op)], node, self.value(left), self.value(right))
            case ast.UnaryOp(op, inner):
                return self.operate(SYMBOLS[type(op)], node, self.value(inner))
            case ast.Compare(left, [op], [right]):
                return self.operate(SYMBOLS[type(op)], node, self.value(left), self.value(right))
            case ast.Subscript(inner, index):
                return self.subscript(self.value(inner), self.value(index))
            case ast.Attribute(inner, name):
                return getattr(self.value(inner), name)
            case ast.Call():
                return self.call(node)
        raise NotImplementedError(ast.dump(node))

    def operate(self, symbol: str, node: ast.expr, *values: Any) -> Any:
        if not any(isinstance(v, torch.Tensor) for v in values):
            return eval(compile(ast.Expression(node), "row", "eval"), dict(self.names))
        device = self.judge(operator(symbol), values)
        names = [f"_{i}" for i in range(len(values))]
        text = {"neg": "-_0", "pos": "+_0", "invert": "~_0", "not": "not _0", "in": "_0 in _1"}
        plain = eval(text.get(symbol, f"_0 {symbol} _1"), dict(zip(names, values, strict=True)))
        return self.claims.put(plain, device)

    def subscript(self, subject: Any, index: Any) -> Any:
        if not isinstance(subject, torch.Tensor):
            return subject[index]
        device = self.judge(operator("[]"), [subject, *_parts(index)], ["self", "indices"], index)
        return self.claims.put(subject[index], device)

    def call(self, node: ast.Call) -> Any:
        arguments = [self.value(a) for a in node.args]
        keywords = {k.arg: self.value(k.value) for k in node.keywords if k.arg}
        if isinstance(node.func, ast.Attribute):
            base = self.value(node.func.value)
            if isinstance(base, Place):
                return getattr(base, node.func.attr)(*arguments, **keywords)
            if isinstance(base, torch.Tensor):
                run = getattr(base, node.func.attr)
                return self.judged_call(method(node.func.attr), [base, *arguments], keywords, run, arguments)
        called = self.value(node.func)
        if isinstance(node.func, ast.Name):
            return called(*arguments)
        name = ast.unparse(node.func)
        name = f"torch.nn.functional.{name[2:]}" if name.startswith("F.") else name
        return self.judged_call(function(name), arguments, keywords, called, arguments)

    def judged_call(
        self, found: Operation | Factory | None, bound: Sequence[Any], keywords: dict[str, Any], run: Any, plain: Any
    ) -> Any:
        assert found is not None
        values = [*bound, *keywords.values()]
        if isinstance(found, Factory) and found.with_tensors and any(True for _ in tensors_in(values)):
            found = found.with_tensors
        if isinstance(found, Factory):
            return self.claims.put(run(*plain, **keywords), self.made_on(found, values))
        device = self.judge(found, bound, keywords=keywords)
        result = run(*plain, **keywords)
        if found.result in (Result.OTHER, Result.UNKNOWN, Result.CPU) and isinstance(result, torch.Tensor):
            result = result.clone()  # A transfer that changes nothing here would otherwise keep the old claim.
        return self.claims.put(result, device)

    def made_on(self, factory: Factory, values: Sequence[Any]) -> str:
        if factory.default in ("input", "self"):
            return self.claims.of(next(v for v in values if isinstance(v, torch.Tensor)))
        if factory.default == "data" and isinstance(values[0], torch.Tensor):
            return self.claims.of(values[0])
        return "cpu"

    def judge(
        self,
        operation: Operation,
        values: Sequence[Any],
        roles: Sequence[str] = (),
        index: Any = None,
        keywords: dict[str, Any] | None = None,
    ) -> str | None:
        """Ask the judge; the claimed device of the result, or None for a plain value."""
        if roles:
            middle = len(values) - len(roles) + 1
            named = [roles[0], *[roles[1]] * middle, *roles[2:]] if len(roles) == 3 else None
            named = named or [roles[0], *[roles[1]] * (len(values) - 1)]
            pairs = list(zip(named, values, strict=True))
        else:
            pairs = list(_bind(operation.parameters, values, keywords or {}))
        operands = [o for role, value in pairs for o in self.operands(role, value)]
        verdict = meet(operation, operands, _relate, "cpu")
        if isinstance(verdict, Clash):
            raise _Stopped(Outcome("clash", verdict.kind))
        if isinstance(verdict, Unclear):
            raise _Stopped(Outcome("unclear", verdict.why))
        assert isinstance(verdict, Meets)
        match operation.result:
            case Result.SELF:
                return operands[0].device
            case Result.OTHER:
                return operands[1].device
            case Result.CPU:
                return "cpu"
            case Result.UNKNOWN:
                return operands[-1].device
            case _:
                return verdict.device

    def operands(self, role: str, value: Any) -> Iterator[Operand[str]]:
        if isinstance(value, torch.Generator):
            yield Operand(role, self.claims.of(value))
        for tensor in tensors_in(value):
            yield operand(role, tensor, self.claims.of(tensor))


def _relate(a: str, b: str) -> Relation:
    return Relation.SAME if a == b else Relation.DIFFERENT


def _bind(
    parameters: Sequence[Parameter], values: Sequence[Any], keywords: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    positional = [p for p in parameters if not p.keyword_only]
    for position, value in enumerate(values):
        yield positional[min(position, len(positional) - 1)].name, value
    yield from keywords.items()


def _parts(index: Any) -> list[Any]:
    """The parts of an index; a list of numbers is a tensor on the CPU, as PyTorch makes it."""
    parts = list(index) if isinstance(index, tuple) else [index]
    return [torch.tensor(p) if isinstance(p, list) and all(isinstance(i, int) for i in p) else p for p in parts]
