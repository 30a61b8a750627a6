"""The lines beside the code: from where a value is made, step by step, to where it meets another."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from devlint.finding import TraceStep
from devlint.reports.html.devices import kind_of
from devlint.reports.html.rows import Row, StepRow

ROW_HEIGHT = 22
"""Pixels; the style sheet has the same number."""

_LANE = 20
_MARGIN = 14
_RADIUS = 8


def step_kind(trace: Sequence[TraceStep], number: int) -> str:
    """The class of a step, by its number from 1: where its value is, or that values meet there."""
    step = trace[number - 1]
    ends = number == len(trace) > 1 and step.device is None
    return "meet" if ends else kind_of(step.device)


def chains(trace: Sequence[TraceStep]) -> list[list[int]]:
    """The steps, by their numbers from 1, of each value on its way; a last step where several meet is in none of them.

    A trace is one list, in which a step says of itself that another value's way begins there.
    """
    found: list[list[int]] = []
    for number, step in enumerate(trace, 1):
        if not found or step.begins:
            found.append([])
        found[-1].append(number)
    if len(found) > 1 and len(found[-1]) > 1 and trace[-1].device is None:
        found[-1].pop()
    return found


def rail(trace: Sequence[TraceStep], rows: Sequence[Row]) -> str:
    """The drawing: each value a lane of its own, coloured by where it is, all of them leading to the last step."""
    at = {
        row.number: index * ROW_HEIGHT + ROW_HEIGHT // 2 for index, row in enumerate(rows) if isinstance(row, StepRow)
    }
    lanes = chains(trace)
    apart = len({number for lane in lanes for number in lane}) < len(trace)
    columns = {number: _MARGIN + _LANE * lane for lane, chain in enumerate(lanes) for number in chain}
    last = len(trace)
    if apart:
        columns[last] = _MARGIN + _LANE * len(lanes)
    parts: list[str] = []
    for chain in lanes:
        for here, following in itertools.pairwise(chain):
            parts.append(
                _line(columns[here], at[here], columns[following], at[following], trace[here - 1].device, False)
            )
        if apart:
            here = chain[-1]
            parts.append(_line(columns[here], at[here], columns[last], at[last], trace[here - 1].device, True))
    parts += [_marker(columns[number], at[number], number, step_kind(trace, number)) for number in columns]
    width = max(columns.values(), default=0) + _MARGIN
    height = len(rows) * ROW_HEIGHT
    return (
        f'<svg class="rail" width="{width}" height="{height}" viewBox="0 0 {width} {height}" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def _line(x: int, y: int, to_x: int, to_y: int, device: str | None, arrives: bool) -> str:
    """Down (or up) the lane and, at the end of the way, round the corner into the last marker."""
    if not arrives:
        return f'<path class="way {kind_of(device)}" d="M{x} {y}V{to_y}"/>'
    bend = 6 if to_y > y else -6
    tip = to_x - _RADIUS - 1
    way = f"M{x} {y}V{to_y - bend}Q{x} {to_y} {x + 6} {to_y}H{tip - 2}"
    arrow = f"M{tip - 6} {to_y - 4}L{tip} {to_y}L{tip - 6} {to_y + 4}z"
    kind = kind_of(device)
    return f'<path class="way {kind}" d="{way}"/><path class="tip {kind}" d="{arrow}"/>'


def _marker(x: int, y: int, number: int, kind: str) -> str:
    return (
        f'<circle class="dot {kind}" cx="{x}" cy="{y}" r="{_RADIUS}"/>'
        f'<text class="nr" x="{x}" y="{y}" dy=".35em">{number}</text>'
    )
