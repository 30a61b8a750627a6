"""A piece of a program, written once for its healthy and its planted form.

A piece is text in sections (``init:``, ``forward:`` ...). ``a ||| b`` is a line that reads ``a`` in the healthy form
and ``b`` in the planted one; either may be empty, and ``||| b`` may stand on the next line. ``@born`` marks a line
where the wrong value comes from, as the right side of ``|||`` does without being marked; ``@met`` marks a line where it
may be told to go wrong as well. ``{v0}``, ``{s0}``, ``{f0}``, ``{C0}`` are names that are drawn: of a variable, an
attribute, a function, a class.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

SECTIONS = ("helpers", "init", "forward", "setup", "batch", "loss", "after")
_NAMES = {
    "v": "mask keep table offsets weights steps scale noise shift bias idx pos extra decay ramp gate prior".split(),
    "s": "freqs slopes anchors means pe grid allowed basis levels decays offset_table rel taps centers".split(),
    "f": "build_mask make_bias encode positions_of window rotary scaled lookup expand_ids blend fill shifted".split(),
    "C": "Block Encoder Mixer Gate Memory Scaler Codebook Pool Norm Router Probe Adapter".split(),
}
_SLOT = re.compile(r"\{([vsfC])(\d)\}")


@dataclass(frozen=True)
class Template:
    """A piece before its names are drawn. ``kind``: of the bug that it can hold."""

    kind: str
    text: str


@dataclass
class Names:
    """Draws names, each once in a program."""

    rng: random.Random
    taken: set[str] = field(default_factory=set)

    def draw(self, sort: str) -> str:
        base = self.rng.choice(_NAMES[sort])
        number, name = 1, base
        while name in self.taken:
            number += 1
            name = f"{base}{number}"
        self.taken.add(name)
        return name


@dataclass(frozen=True)
class Line:
    text: str
    born: bool = False
    met: bool = False


@dataclass(frozen=True)
class Piece:
    """Lines by section, in the form that was asked for."""

    kind: str
    sections: dict[str, tuple[Line, ...]]


def drawn(template: Template, names: Names, planted: bool) -> Piece:
    """The template with names of its own, healthy or with its bug."""
    known: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        if match[0] not in known:
            known[match[0]] = names.draw(match[1])
        return known[match[0]]

    sections: dict[str, list[Line]] = {}
    current = ""
    for raw in _SLOT.sub(name, template.text.replace("\n|||", " |||")).splitlines():
        if raw.rstrip().removesuffix(":") in SECTIONS and not raw.startswith(" "):
            current = raw.rstrip().removesuffix(":")
            sections[current] = []
        elif raw.strip():
            line = _line(raw, planted)
            if line.text:
                sections[current].append(line)
    return Piece(template.kind, {name: tuple(lines) for name, lines in sections.items()})


def _line(raw: str, planted: bool) -> Line:
    born, met = "@born" in raw, "@met" in raw
    text = raw.replace("@born", "").replace("@met", "")
    if "|||" in text:
        healthy, _, wrong = text.partition("|||")
        indent = healthy[: len(healthy) - len(healthy.lstrip())]
        text = indent + wrong.strip() if planted else healthy
        born = born or planted
    text = text.rstrip()
    return Line(text if text.strip() else "", born and planted, met and planted)
