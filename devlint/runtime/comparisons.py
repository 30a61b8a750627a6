"""What comparisons with a tensor's device come to: read out of the program as it runs.

Neither a mode nor a tracer sees two plain objects compared. So the files that hold such a comparison are compiled with
the comparison handed over to `devlint`, which answers as Python would and looks at what it was asked; everything else
in them stays where it was.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from operator import eq, is_, is_not, ne
from types import CodeType
from typing import Any

from devlint.finding import Place
from devlint.runtime.observation import Observation, Spot
from devlint.runtime.patching import Patches

Sink = Callable[[Observation], None]
_NAME = "__devlint_compared__"

_OPERATORS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Eq": ("==", eq),
    "NotEq": ("!=", ne),
    "Is": ("is", is_),
    "IsNot": ("is not", is_not),
    "In": ("in", lambda left, right: left in right),
    "NotIn": ("not in", lambda left, right: left not in right),
}
_NEGATED = ("NotEq", "IsNot", "NotIn")


@contextmanager
def watched(places: Sequence[Place], sink: Sink) -> Iterator[Callable[[bytes, str], CodeType]]:
    """Tell of comparisons at these places, in modules imported inside. What is yielded compiles a script so."""
    by_file: dict[str, list[Place]] = {}
    for place in places:
        by_file.setdefault(os.path.realpath(place.path), []).append(place)
    known: set[tuple[Spot, ...]] = set()

    def compared(operator: str, left: Any, right: Any) -> Any:
        symbol, function = _OPERATORS[operator]
        answer = function(left, right)
        if bool(answer) == (operator in _NEGATED) and _name_one_device(left, right):
            from devlint.runtime.frames import spots

            places = spots(sys._getframe(1))
            if places[:1] not in known:
                known.add(places[:1])
                message = f"`{_words(left)} {symbol} {_words(right)}` is {bool(answer)}"
                sink(Observation("comparison", places, operation=symbol, message=message))
        return answer

    def compiled(data: bytes, path: str) -> CodeType:
        watched_here = by_file.get(os.path.realpath(path))
        if not watched_here:
            return compile(data, path, "exec", dont_inherit=True)
        tree = ast.parse(data, path)
        handed = ast.fix_missing_locations(_Handing(watched_here, data.split(b"\n")).visit(tree))
        return compile(handed, path, "exec", dont_inherit=True)

    patches = Patches()
    if by_file:
        import builtins

        patches.set(builtins, _NAME, compared)
        true_code: Any = SourceFileLoader.get_code

        def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
            path = self.get_filename(fullname)
            if os.path.realpath(path) not in by_file:
                code: CodeType | None = true_code(self, fullname)
                return code
            return compiled(self.get_data(path), path)

        patches.set(SourceFileLoader, "get_code", get_code)
    try:
        yield compiled
    finally:
        patches.restore()


class _Handing(ast.NodeTransformer):
    """Comparisons of two operands at the places: ``a == b`` becomes ``compared("Eq", a, b)`` at the same position."""

    def __init__(self, places: Sequence[Place], lines: Sequence[bytes]) -> None:
        self._regions = {
            ((p.line, _column(lines, p.line, p.column)), (p.end_line, _column(lines, p.end_line, p.end_column)))
            for p in places
        }

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        where = ((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset))
        operator = type(node.ops[0]).__name__
        if where not in self._regions or len(node.ops) != 1 or operator not in _OPERATORS:
            return node
        arguments: list[ast.expr] = [ast.Constant(operator), node.left, node.comparators[0]]
        return ast.copy_location(ast.Call(ast.Name(_NAME, ast.Load()), arguments, []), node)


def _column(lines: Sequence[bytes], line: int, column: int) -> int:
    """A 1-based column of code points as the 0-based one of bytes, which trees have."""
    text = lines[line - 1] if 0 < line <= len(lines) else b""
    return len(text.decode("utf-8", "replace")[: column - 1].encode("utf-8"))


def _name_one_device(left: Any, right: Any) -> bool:
    """Whether one side is a device and the other, or an element of it, names the same one or the same kind."""
    import torch

    others = right if isinstance(right, list | tuple | set | frozenset) else [right]
    pairs = [(left, other) for other in others] + [(right, left)]
    return any(
        isinstance(device, torch.device) and str(other) in (str(device), device.type)
        for device, other in pairs
        if isinstance(other, str | torch.device)
    )


def _words(value: Any) -> str:
    import torch

    return str(value) if isinstance(value, torch.device) else repr(value)
