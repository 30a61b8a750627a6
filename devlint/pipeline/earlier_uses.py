"""What the definitions of a text showed of their names, for the next text of the same file.

Between two edits most definitions stay what they were, line by line, and what a body shows of its names follows from
its own text and from the imports of its file (:func:`devlint.placement.declarations.evidence_uses.uses_of`).
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from devlint.source.lines import Lines

if TYPE_CHECKING:
    from devlint.placement.declarations.evidence_grades import Uses
    from devlint.placement.declarations.imports import ImportTable
    from devlint.placement.declarations.index import FileIndex


class EarlierUses:
    """Of the latest text alone, so that nothing of older ones is kept. For definitions that were read as bare trees."""

    def __init__(self) -> None:
        self._imports: ImportTable | None = None
        self._by_text: dict[str, Uses] = {}

    def give(self, index: FileIndex, text: str, with_layout: Container[int]) -> None:
        """Tell the definitions of a text that stand in the earlier one too, but for those whose numbers are given."""
        if self._by_text and self._imports == index.imports:
            lines = Lines(text)
            for info in index.functions.values():
                if info.outlined is not None and info.outlined.number not in with_layout:
                    info.uses = self._by_text.get(lines.between(info.outlined.first, info.outlined.last))

    def take(self, index: FileIndex, text: str, with_layout: Container[int]) -> None:
        """Keep what the definitions of a text have shown, but for those whose numbers are given."""
        lines = Lines(text)
        self._imports = index.imports
        self._by_text = {
            lines.between(info.outlined.first, info.outlined.last): info.uses
            for info in index.functions.values()
            if info.outlined is not None and info.uses is not None and info.outlined.number not in with_layout
        }
