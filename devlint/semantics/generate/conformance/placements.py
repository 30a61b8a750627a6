"""Where the operands of one call may be put, and the rows that makes.

What makes no sense everywhere on the host (a 0-dim operand where a matrix is wanted) is sorted out later, by trying.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

import torch

from devlint.semantics.generate.conformance.calls import Call, runs
from devlint.semantics.record.row import Row

MOST_SLOTS = 6
"""Slots that are put apart one by one; in longer lists the first and the last are."""


def row(operation: str, code: str, group: str) -> Row:
    """A row; its key follows from the code."""
    key = hashlib.sha256(code.encode()).hexdigest()[:10]
    return Row(key, operation, code, group, 2 if re.search(r"\bc1\b|\bc1[ibg]?\(", code) else 1)


def call_rows(call: Call, group: str = "call") -> Iterator[Row]:
    """One call with its operands together, one apart, 0-dim ones apart, and one on a second accelerator."""
    for places in placements(call):
        yield row(call.operation, call.text(call.place(places)), group)


def placements(call: Call) -> Iterator[str]:
    """A letter for each slot: c accelerator, h host, 2 second accelerator; capitals (and @ for 2) 0-dim."""
    count = len(call.slots)
    yield "c" * count
    if count < 2:
        return
    apart = range(count) if count <= MOST_SLOTS else (0, count - 1)
    for i in apart:
        yield _with("c" * count, i, "h")
        yield _with("h" * count, i, "c")
        if call.slots[i].shape:
            yield _with("c" * count, i, "H")
            yield _with("h" * count, i, "C")
    yield _with("c" * count, count - 1, "2")
    if call.slots[-1].shape:
        yield _with("c" * count, count - 1, "@")
    yield from _several_scalars(call, count)


def _several_scalars(call: Call, count: int) -> Iterator[str]:
    """Every operand 0-dim with one apart, and two CPU scalars beside one accelerator tensor."""
    shaped = all(slot.shape for slot in call.slots)
    if shaped and count == 2:
        yield from ("CH", "HC")
    if shaped and count == 3:
        yield from (_with("HHH", i, "c") for i in range(count))


def _with(places: str, i: int, place: str) -> str:
    return places[:i] + place + places[i + 1 :]


def out_rows(call: Call) -> Iterator[Row]:
    """The call writing into `out=` here and there. Nothing where it takes none."""
    count = len(call.slots)
    result = runs(call.text(call.place("h" * count)))
    if (
        not isinstance(result, torch.Tensor)
        or not call.template.endswith(")")
        or not call.template.startswith("torch.")
    ):
        return
    out = _out_text(result)
    if out is None:
        return
    for places, target in (("c" * count, "c"), ("c" * count, "h"), ("h" * count, "c")):
        yield row(call.operation, f"{call.text(call.place(places))[:-1]}, out={target}.{out})", "out")


def _out_text(result: torch.Tensor) -> str | None:
    shape = ", ".join(map(str, result.shape))
    match result.dtype:
        case torch.float32:
            return f"x({shape})"
        case torch.int64:
            return f"i({', '.join(filter(None, ('1', shape)))})"
        case torch.bool:
            return f"b({shape})"
        case torch.complex64:
            return f"z({shape})"
    return None


def in_place_rows(call: Call) -> Iterator[Row]:
    """The method of the same name that writes into its receiver. Nothing where there is none."""
    name = call.operation.rsplit(".", 1)[-1] + "_"
    prefix = f"{call.operation}("
    if not hasattr(torch.Tensor, name) or not call.template.startswith(prefix + "{0}"):
        return
    rest = call.template.removeprefix(prefix + "{0}").removeprefix(", ")
    method = Call(f"Tensor.{name}", f"{{0}}.{name}({rest}", call.slots)
    yield from call_rows(method, "in place")


def distinct(rows: Iterable[Row]) -> list[Row]:
    """The rows, each code once."""
    found: dict[str, Row] = {}
    for one in rows:
        found.setdefault(one.key, one)
    return list(found.values())
