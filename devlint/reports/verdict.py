"""What a run says of a finding, for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from devlint.finding import Operand, Place, Verdict, VerdictState
from devlint.reports.painting import Line, visible

VERDICT_STYLES = {
    VerdictState.CONFIRMED: "bold red",
    VerdictState.REFUTED: "bold green",
    VerdictState.INCONCLUSIVE: "bold yellow",
    VerdictState.NOT_REACHED: "dim",
}
VERDICT_WORDS = {state: state.value.replace("-", " ") for state in VerdictState}

_MOST_OPERANDS = 3
"""What a reader takes in: the stray value and what it met. JSON has them all."""


def verdict_lines(verdict: Verdict, gutter: int) -> Iterator[Line]:
    """``confirmed: on cuda:0 (simulated) by net:build``, what the device says, and where its operands come from."""
    told = ", ".join(part for part in (run_words(verdict), verdict.reason) if part)
    yield [
        (" " * gutter + " = ", "blue"),
        (VERDICT_WORDS[verdict.state], VERDICT_STYLES[verdict.state]),
        (visible(f": {told}") if told else "", ""),
    ]
    indent = " " * (gutter + 3)
    if verdict.error:
        yield [(indent, ""), (visible(first_line(verdict.error)), "")]
    for operand in verdict.operands[:_MOST_OPERANDS]:
        yield [(indent, ""), (visible(operand_words(operand)), "dim")]
    more = len(verdict.operands) - _MOST_OPERANDS
    if more > 0:
        yield [(indent, ""), (f"and {more} more", "dim")]


def run_words(verdict: Verdict) -> str:
    """Where and by which entry: ``on cuda:0 (simulated) by net:build``."""
    if verdict.device is None:
        return ""
    simulated = " (simulated)" if verdict.simulated else ""
    return f"on {verdict.device}{simulated}" + (f" by {verdict.entry}" if verdict.entry else "")


def operand_words(operand: Operand, path: Callable[[str], str] = str) -> str:
    """```hidden` float32[1, 3, 16] on cpu, made at net.py:12:18, moved at net.py:14:18``.

    What a call on the accelerator made is there by that call: where the layer's weights were made tells nothing.
    ``path`` says how a file is called there.
    """
    shape = f" {operand.dtype.removeprefix('torch.')}{list(operand.shape)}" if operand.dtype else ""
    places = [
        ("made", operand.born), ("moved", operand.moved), ("computed", operand.computed), ("kept", operand.kept)
    ]  # fmt: skip
    if operand.computed is not None and operand.device != "cpu":
        del places[:2]
    ways = [f"{word} at {path(place.path)}{_position(place)}" for word, place in places if place]
    name = f"`{operand.name}`" if operand.name else "a value"
    return ", ".join([f"{name}{shape} on {operand.device}", *ways])


def first_line(error: str) -> str:
    """An error's first line: CUDA's own messages go on for half a page about debugging."""
    return error.strip().split("\n", 1)[0]


def _position(place: Place) -> str:
    return f":{place.line}:{place.column}" if place.column else f":{place.line}"
