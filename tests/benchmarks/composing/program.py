"""Whole programs of pieces: a model that is called, or a training step that does everything by itself."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.benchmarks.composing.in_forward import IN_FORWARD
from tests.benchmarks.composing.in_steps import IN_STEPS
from tests.benchmarks.composing.piece import Line, Names, Piece, drawn

_HEAD = '"""A program."""\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n'
_MODEL = """\
class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.{inner} = nn.Linear({d}, {d})
        <init>

    def forward(self, x):
        x = self.{inner}(x)
        <forward>
        return x
"""
_CHAIN = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.{container}({parts})

    def forward(self, x):
        {call}
"""
_CALLED = """\
def program():
    return Model(), torch.randn(2, {t}, {d})
"""
_STEP = """\
def program(device):
    model = Model().to(device)
    optimizer = torch.optim.{optimizer}(model.parameters(), lr=1e-3)
    batches = [torch.randn(2, {t}, {d}) for _ in range(2)]
    <setup>
    for batch in batches:
        labels = torch.randint(0, {d}, (2,)).to(device)
        batch = batch.to(device)
        <batch>
        output = model(batch)
        loss = F.cross_entropy(output.mean(1), labels)
        <loss>
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        <after>
"""


@dataclass(frozen=True)
class Composed:
    """``born``: the lines where the planted bug is; ``met``: where it may be told to go wrong. Both count from 1."""

    kind: str
    text: str
    born: frozenset[int]
    met: frozenset[int]
    template: int = 0


def composed(rng: random.Random, number: int, planted: bool) -> Composed:
    """A program around the template of this number, which holds its bug or is as healthy as the rest."""
    templates = (*IN_FORWARD, *IN_STEPS)
    number %= len(templates)
    chosen = templates[number]
    names, sizes = Names(rng), {"{d}": str(rng.choice((8, 12, 16))), "{t}": str(rng.choice((4, 5, 6)))}
    of_step = chosen in IN_STEPS
    with_step = of_step or rng.random() < 0.35
    others = [t for t in IN_FORWARD if t is not chosen]
    inside = [*([] if of_step else [chosen]), *rng.sample(others, rng.randint(1, 3))]
    around = [*([chosen] if of_step else []), *rng.sample([t for t in IN_STEPS if t is not chosen], rng.randint(0, 2))]
    rng.shuffle(inside)
    rng.shuffle(around)
    pieces = {id(t): _sized(drawn(t, names, planted and t is chosen), sizes) for t in (*inside, *around)}
    lines = list(_assembled([pieces[id(t)] for t in inside], [pieces[id(t)] for t in around], with_step, rng, sizes))
    return Composed(
        chosen.kind,
        "\n".join(line.text for line in lines) + "\n",
        frozenset(n for n, line in enumerate(lines, 1) if line.born),
        frozenset(n for n, line in enumerate(lines, 1) if line.met),
        number,
    )


def _assembled(
    inside: Sequence[Piece], around: Sequence[Piece], with_step: bool, rng: random.Random, sizes: dict[str, str]
) -> Iterable[Line]:
    pieces = [*inside, *(around if with_step else ())]
    yield from _plain(_HEAD)
    for piece in pieces:
        if piece.sections.get("helpers"):
            yield Line("")
            yield from piece.sections["helpers"]
            yield Line("")
    inner = rng.choice(("inner", "proj", "first"))
    if rng.random() < 0.5:
        yield from _filled(_text(_MODEL, sizes, name="Model", inner=inner), inside)
    else:
        for number, piece in enumerate(inside):
            yield from _filled(_text(_MODEL, sizes, name=f"Part{number}", inner=inner), [piece])
        parts = ", ".join(f"Part{number}()" for number in range(len(inside)))
        if rng.random() < 0.5:
            chain = _text(_CHAIN, sizes, container="Sequential", parts=parts, call="return self.parts(x)")
        else:
            call = "for part in self.parts:\n            x = part(x)\n        return x"
            chain = _text(_CHAIN, sizes, container="ModuleList", parts=f"[{parts}]", call=call)
        yield from _plain(chain)
    step = _text(_STEP, sizes, optimizer=rng.choice(("SGD", "AdamW")))
    yield from _filled(step, around) if with_step else _plain(_text(_CALLED, sizes))


def _filled(text: str, pieces: Sequence[Piece]) -> Iterable[Line]:
    """The text with the pieces' sections where it names them."""
    for raw in text.splitlines():
        section = raw.strip().removeprefix("<").removesuffix(">")
        if raw.strip() != f"<{section}>":
            yield Line(raw)
            continue
        indent = raw[: len(raw) - len(raw.lstrip())]
        for piece in pieces:
            for line in piece.sections.get(section, ()):
                yield Line(textwrap.indent(line.text, indent), line.born, line.met)
    yield Line("")


def _plain(text: str) -> Iterable[Line]:
    yield from (Line(raw) for raw in text.splitlines())
    yield Line("")


def _text(text: str, sizes: dict[str, str], **more: str) -> str:
    for name, value in (*sizes.items(), *((f"{{{name}}}", value) for name, value in more.items())):
        text = text.replace(name, value)
    return text


def _sized(piece: Piece, sizes: dict[str, str]) -> Piece:
    sections = {
        name: tuple(Line(_text(line.text, sizes), line.born, line.met) for line in lines)
        for name, lines in piece.sections.items()
    }
    return Piece(piece.kind, sections)
