"""`x[i]`, `x[i] = v` and operators, which op_db calls by no name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from devlint.semantics.generate.conformance.placements import row
from devlint.semantics.record.row import Row

INDEX = {
    "positions": "{0}.i(3, 2)",
    "one position": "{0}.i(3)",
    "mask of rows": "{0}.b(3)",
    "mask of all": "{0}.b(3, 4)",
    "0-dim mask": "{0}.b()",
    "positions in both": "{0}.i(3, 2), {0}.i(4, 2)",
    "positions apart": "{0}.i(3, 2), {1}.i(4, 2)",
    "position and slice": "{0}.i(3, 2), 1:3",
    "position and number": "{0}.i(3, 2), 1",
    "one position and slice": "{0}.i(3), 1:3",
    "after an ellipsis": "..., {0}.i(4, 2)",
    "mask and positions": "{0}.b(3), {0}.i(4, 2)",
    "in a list": "[{0}.i(3), {0}.i(3)]",
    "bytes": "{0}.i(2, 3, dtype=torch.uint8)",
}
PLAIN = ("1", "1:3", "..., 0", "[0, 2]", "None", "True")
VALUES = ("{0}.x()", "{0}.x(1)", "{0}.x(4)", "{0}.x(2, 4)", "{0}.x(2)", "{0}.x(1, 1)")
SYMBOLS = ("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=")
LOGICAL = ("&", "|", "^")


def index_rows() -> Iterator[Row]:
    """Reads and writes with tensors as index, the value here, there, 0-dim or of one element."""
    for subject, there in product(("c", "h"), ("c", "h")):
        for index in INDEX.values():
            other = "h" if there == "c" else "c"
            yield row("index", f"{subject}.x(3, 4)[{index.format(there, other)}]", "index read")
    yield row("index", "c.x(3, 4)[c1.i(3, 2)]", "index read")
    yield row("index", "c.x(3, 4)[c1.i(3)]", "index read")
    for subject, there, at in product(("c", "h"), ("c", "h"), ("c", "h")):
        for index, value in product(INDEX.values(), VALUES):
            text = f"x[{index.format(there, 'h' if there == 'c' else 'c')}] = "
            yield from _writes(subject, text, value.format(at))
    for subject, at in product(("c", "h"), ("c", "h")):
        for index, value in product(PLAIN, VALUES):
            yield from _writes(subject, f"x[{index}] = ", value.format(at))
    for subject, there in product(("c", "h"), ("c", "h")):
        for index in INDEX.values():
            yield from _writes(subject, f"x[{index.format(there, 'h' if there == 'c' else 'c')}] = ", "1.5")
    yield row("index write", "x = c.x(3, 4); x[c1.i(3, 2)] = c.x(4)", "index write")
    yield row("index write", "x = c.x(3, 4); x[c.i(3, 2)] = c1.x(4)", "index write")
    yield row("index write", "x = c.x(3, 4); x[c.i(3, 2)] = c1.x()", "index write")
    yield row("index write", "x = c.x(3, 4); x[1:3] = c1.x(4)", "index write")


def _writes(subject: str, target: str, value: str) -> Iterator[Row]:
    yield row("index write", f"x = {subject}.x(3, 4); {target}{value}", "index write")


def operator_rows() -> Iterator[Row]:
    """Python's operators on tensors, in place as well."""
    for symbol in SYMBOLS:
        for a, b in _operands("x"):
            yield row(f"operator.{symbol}", f"{a} {symbol} {b}", "operator")
    for symbol in LOGICAL:
        for a, b in _operands("b"):
            yield row(f"operator.{symbol}", f"{a} {symbol} {b}", "operator")
    for a, b in (("c", "h"), ("h", "c"), ("c", "c1")):
        yield row("operator.@", f"{a}.x(3, 3) @ {b}.x(3, 3)", "operator")
    for symbol in ("+", "-", "*", "/", "//", "%", "**"):
        for a, b in _operands("x"):
            if a.endswith("()") <= b.endswith("()"):
                yield row(f"operator.{symbol}=", f"x = {a}; x {symbol}= {b}; x", "operator")


def _operands(maker: str) -> Iterator[tuple[str, str]]:
    for a, b in (("c", "h"), ("h", "c"), ("c", "c1")):
        for left, right in product((f"{maker}(3)", f"{maker}()"), repeat=2):
            yield f"{a}.{left}", f"{b}.{right}"
    yield f"c.{maker}(3)", f"h.{maker}(1)"
