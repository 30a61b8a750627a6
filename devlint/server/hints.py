"""Inlay hints: behind a name that is bound to a tensor or a module, where that lies."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from devlint.finding import Place
from devlint.server.positions import Positions


def inlay_hints(
    found: Iterable[tuple[Place, str]], positions: Positions, cell: int, where: types.Range
) -> list[types.InlayHint]:
    """The hints in a range of a document, or of the notebook's ``cell`` that it is."""
    hints = (
        types.InlayHint(positions.position(place.end_line, place.end_column), f" {words}", types.InlayHintKind.Type)
        for place, words in found
        if place.cell == cell
    )
    return [hint for hint in hints if where.start <= hint.position <= where.end]
