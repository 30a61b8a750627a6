"""Pieces of styled text, and their way into a string. Only coloured output imports rich."""

from __future__ import annotations

import re
from collections.abc import Iterable

Piece = tuple[str, str]
"""Text and its style in rich's words (``bold red``), empty for plain."""

Line = list[Piece]

SEVERITY_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}

_INVISIBLE = {
    **{code: 0x2400 + code for code in range(0x20)},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    # Directional marks: source and file names must not rearrange the report around them.
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C), 0xFFFD),
    **dict.fromkeys((0x2028, 0x2029), 0xFFFD),  # line ends to some readers
}


def visible(text: str) -> str:
    """The text with control characters made visible, so that nothing in a source can steer the terminal."""
    return text if text.isprintable() else text.translate(_INVISIBLE)


def visible_lines(text: str) -> str:
    """The same for a text of several lines."""
    return "\n".join(map(visible, text.split("\n")))


def paint(lines: Iterable[Line], color: bool) -> str:
    """All lines as one string, with ANSI colours or without."""
    if not color:
        return "".join("".join(text for text, _ in line) + "\n" for line in lines)
    from rich.color import ColorSystem
    from rich.style import Style

    styles: dict[str, Style] = {}
    painted: list[str] = []
    for line in lines:
        for text, style in line:
            if style and style not in styles:
                styles[style] = Style.parse(style)
            # The sixteen standard colours follow the reader's own theme, dark or light.
            painted.append(styles[style].render(text, color_system=ColorSystem.STANDARD) if style else text)
        painted.append("\n")
    return "".join(painted)


def wrapped(line: Line, width: int | None, indent: int) -> list[Line]:
    """A line broken between words so that it fits into ``width`` cells, later lines indented; None: not broken."""
    if width is None or sum(cells(text) for text, _ in line) <= width:
        return [line]
    broken: list[Line] = [[]]
    taken = 0
    for text, style in line:
        for word in re.findall(r" *[^ ]+| +$", text):
            length = cells(word)
            if taken + length > width and taken > indent and word.startswith(" "):
                broken.append([(" " * indent, "")])
                word = word.lstrip(" ")
                taken, length = indent, cells(word)
            broken[-1].append((word, style))
            taken += length
    return broken


def cells(text: str) -> int:
    """How many terminal columns a text takes: a CJK character takes two, a combining mark none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
