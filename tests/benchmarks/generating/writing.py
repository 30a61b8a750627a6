"""Expressions and statements of one function, written at random."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from tests.benchmarks.generating import vocabulary as says

_SLOT = re.compile(r"<([MVSIBnX]|at|dev)([.=]?)>")
_PLAIN = re.compile(r"[\w.]+(\([^()]*\)|\[[^\[\]]*\])?")
_WORDS = (
    "x y z h out mask keep table ids idx pos scale bias noise rows cols left right score weights hidden values probe"
)
"""Names of variables; what they say of a value is not true, as in real programs."""


@dataclass(frozen=True)
class Callable_:
    """A function that may be called: how, what it takes, what it gives (one letter a value)."""

    text: str
    takes: str
    gives: str


@dataclass
class Scope:
    """What a function has at hand."""

    rng: random.Random
    careless: float
    """How often a device is forgotten."""
    names: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in says.KINDS})
    devices: list[str] = field(default_factory=list)
    calls: list[Callable_] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    """Of what may be called with a matrix and gives one."""
    used: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    """Names that this function may give another value."""

    def inner(self) -> Scope:
        """A scope of a branch or loop: its new names are gone afterwards."""
        names = {kind: list(known) for kind, known in self.names.items()}
        return replace(self, names=names, calls=list(self.calls), own=set(self.own))

    def new(self) -> str:
        """A name that is not used yet."""
        word = self.rng.choice(_WORDS.split())
        number = 1
        while (name := word if number == 1 else f"{word}{number}") in self.used:
            number += 1
        self.used.add(name)
        return name

    def add(self, kind: str, name: str) -> None:
        self.names[kind].append(name)
        self.used.add(name)
        if name.isidentifier():
            self.own.add(name)

    def assignable(self, kinds: str) -> list[str]:
        """Variables of these kinds that this function may give another value."""
        return [name for kind in kinds for name in self.names[kind] if name in self.own]

    def forgets(self) -> bool:
        return self.rng.random() < self.careless

    def name(self, kind: str) -> str | None:
        """A name of this kind, the latest more likely."""
        known = self.names[kind]
        if not known:
            return None
        return known[-1] if self.rng.random() < 0.5 else self.rng.choice(known)

    def device(self) -> str | None:
        """An expression for the device."""
        ways = [*self.devices, *(f"{name}.device" for kind in "MVI" for name in self.names[kind][:2])]
        return self.rng.choice(ways) if ways else None

    def at(self) -> str:
        device = None if self.forgets() else self.device()
        return "" if device is None else f", device={device}"


def expression(scope: Scope, kind: str, depth: int = 2) -> str:
    """Python text of that kind."""
    rng = scope.rng
    known = scope.name(kind) if kind != "n" else None
    if known is not None and (depth <= 0 or rng.random() < 0.3):
        return known
    if kind in says.MADE and (scope.name("M") is None or depth <= 0 or rng.random() < 0.15):
        return _filled(scope, rng.choice(says.MADE[kind]), depth - 1)
    if kind == "M" and rng.random() < 0.1:
        return _filled(scope, rng.choice(says.LIKE), depth - 1)
    if kind == "M" and scope.modules and rng.random() < 0.2:
        return f"{rng.choice(scope.modules)}({expression(scope, 'M', depth - 1)})"
    fitting = [call for call in scope.calls if call.gives == kind]
    if fitting and rng.random() < 0.3:
        return call_of(scope, rng.choice(fitting), depth - 1)
    if kind in "MVI" and scope.device() is not None and rng.random() < 0.08:
        moves = says.TAKEN_BACK if scope.forgets() else says.MOVED
        return _filled(scope, rng.choice(moves).replace("X", kind), depth - 1)
    if scope.name("M") is None:
        return "2.0" if kind == "n" else _filled(scope, rng.choice(says.MADE[kind]), depth - 1)
    return _filled(scope, rng.choice(says.EXPRESSIONS[kind]), depth - 1)


def call_of(scope: Scope, call: Callable_, depth: int) -> str:
    return f"{call.text}({', '.join(_argument(scope, kind, depth) for kind in call.takes)})"


def _argument(scope: Scope, kind: str, depth: int) -> str:
    if kind == "d":
        return scope.device() or '"cpu"'
    return expression(scope, kind, depth)


def _filled(scope: Scope, text: str, depth: int) -> str:
    def fill(match: re.Match[str]) -> str:
        slot, form = match[1], match[2]
        if slot == "at":
            return scope.at()
        if slot == "dev":
            return scope.device() or '"cpu"'
        if form == "=" and (name := scope.name(slot)) is not None:
            return name
        inner = expression(scope, slot, depth)
        return f"({inner})" if form and not _PLAIN.fullmatch(inner) else inner

    return _SLOT.sub(fill, text)


def statements(scope: Scope, count: int, nested: int = 2) -> Iterator[str]:
    """Lines that run in this scope, and leave their names in it."""
    for _ in range(count):
        yield from _statement(scope, nested)


def _statement(scope: Scope, nested: int) -> Iterator[str]:
    rng = scope.rng
    if nested and rng.random() < 0.4:
        yield from rng.choice(_COMPOUND)(scope, nested - 1)
    else:
        yield from rng.choices(_SIMPLE, _WEIGHTS)[0](scope)


def _assigned(scope: Scope) -> Iterator[str]:
    kind = scope.rng.choices(says.KINDS, (5, 3, 1, 2, 1))[0]
    text = expression(scope, kind)
    known = scope.names[kind]
    again = scope.assignable(kind)
    name = scope.rng.choice(again) if again and scope.rng.random() < 0.3 else scope.new()
    yield f"{name} = {text}"
    if name not in known:
        scope.add(kind, name)


def _in_place(scope: Scope) -> Iterator[str]:
    own = scope.assignable("M")
    if not own:
        return
    name = scope.rng.choice(own)
    row, index = expression(scope, "V", 1), expression(scope, "I", 0)
    yield scope.rng.choice(
        (
            f"{name} = {name} + {expression(scope, 'M', 1)}",
            f"{name} += {expression(scope, 'M', 1)}",
            f"{name}[0] = {row}",
            f"{name}[{index}] = {expression(scope, 'M', 0)}",
            f"{name}.copy_({expression(scope, 'M', 1)})",
            f"{name}.add_({expression(scope, 'M', 1)})",
        )
    )


def _unpacked(scope: Scope) -> Iterator[str]:
    source = expression(scope, "M", 1)
    one, two = scope.new(), scope.new()
    kinds, text = scope.rng.choice(
        (
            ("VI", f"torch.max({source}, dim=1)"),
            ("MM", f"torch.cat([{source}, {expression(scope, 'M', 1)}]).chunk(2)"),
            ("MV", f"({source}, {expression(scope, 'V', 1)})"),
            ("VV", f"{source}[0], {expression(scope, 'V', 0)}"),
        )
    )
    yield f"{one}, {two} = {text}"
    scope.add(kinds[0], one)
    scope.add(kinds[1], two)


def _kept_in(scope: Scope) -> Iterator[str]:
    """Containers, and what is taken out of them again."""
    box, out = scope.new(), scope.new()
    one, two = expression(scope, "M", 1), expression(scope, "M", 1)
    device = scope.device()
    ways = [
        (f"{box} = [{one}, {two}]", f"{box}[{scope.rng.choice((0, 1, -1))}]"),
        (f'{box} = {{"first": {one}, "second": {two}}}', f'{box}["{scope.rng.choice(("first", "second"))}"]'),
        (f"{box} = ({one}, {two})", f"torch.stack({box}).sum(0)"),
        (f"{box} = dict(first={one})", f'{box}.get("first")'),
    ]
    if device is not None:
        ways.append((f"{box} = [value.to({device}) for value in [{one}, {two}]]", f"{box}[0]"))
        ways.append((f'{box} = {{key: value.to({device}) for key, value in {{"a": {one}}}.items()}}', f'{box}["a"]'))
    made, taken = scope.rng.choice(ways)
    yield made
    yield f"{out} = {taken}"
    scope.add("M", out)


def _moved(scope: Scope) -> Iterator[str]:
    device, own = scope.device(), scope.assignable("MV")
    if device is None or not own:
        return
    name = scope.rng.choice(own)
    yield f"{name}.to({device})" if scope.forgets() else f"{name} = {name}.to({device})"


def _read(scope: Scope) -> Iterator[str]:
    if not scope.names["M"] or not scope.names["V"] or not scope.names["I"]:
        return
    name = scope.new()
    text = _filled(scope, scope.rng.choice(says.READ_WRONG if scope.forgets() else says.READ), 0)
    kept = expression(scope, "M", 0)
    out = scope.new()
    yield f"{name} = {text}"
    yield f"{out} = {kept} * float({name})"
    scope.add("M", out)


def _chosen(scope: Scope, nested: int) -> Iterator[str]:
    test = _condition(scope)
    name = scope.new()
    then, other = scope.inner(), scope.inner()
    yield f"if {test}:"
    yield from _indented([*statements(then, scope.rng.randint(0, 2), nested), f"{name} = {expression(then, 'M')}"])
    yield "else:"
    yield from _indented([*statements(other, scope.rng.randint(0, 2), nested), f"{name} = {expression(other, 'M')}"])
    scope.add("M", name)


def _condition(scope: Scope) -> str:
    if scope.conditions and scope.rng.random() < 0.5:
        return scope.rng.choice(scope.conditions)
    return _filled(scope, scope.rng.choice(says.CONDITIONS), 0)


def _changed(scope: Scope, nested: int, head: Callable[[Scope], str]) -> Iterator[str]:
    """A block under this head that gives something another value."""
    own = scope.assignable("M")
    if not own:
        return
    name, inside = scope.rng.choice(own), scope.inner()
    yield f"{head(scope)}:"
    yield from _indented([*statements(inside, 1, nested), f"{name} = {expression(inside, 'M')}"])


def _guarded(scope: Scope, nested: int) -> Iterator[str]:
    return _changed(scope, nested, lambda scope: f"if {_condition(scope)}")


def _looped(scope: Scope, nested: int) -> Iterator[str]:
    """A loop over numbers or rows that gathers vectors."""
    kept, row = scope.new(), scope.new()
    inside = scope.inner()
    head = scope.rng.choice(
        (
            f"for {row} in {expression(scope, 'M', 0)}:",
            f"for {row} in {_filled(scope, '<M.>', 0)}.unbind(0):",
            f"for step in range(4):\n    {row} = {_filled(scope, '<M=>', 0)}[step]",
        )
    )
    inside.add("V", row)
    yield f"{kept} = []"
    yield from head.splitlines()
    yield from _indented([*statements(inside, 1, nested), f"{kept}.append({expression(inside, 'V', 1)})"])
    out = scope.new()
    yield f"{out} = torch.stack({kept})"
    scope.add("M", out)


def _repeated(scope: Scope, nested: int) -> Iterator[str]:
    return _changed(scope, nested, lambda scope: f"for _ in range({scope.rng.choice((1, 2))})")


def _within(scope: Scope, nested: int) -> Iterator[str]:
    name, inside = scope.new(), scope.inner()
    yield f"with {_filled(scope, scope.rng.choice(says.CONTEXTS), 0)}:"
    yield from _indented([*statements(inside, 1, nested), f"{name} = {expression(inside, 'M')}"])
    scope.add("M", name)


def _helper(scope: Scope, nested: int) -> Iterator[str]:
    """A function inside, or a lambda."""
    name, taken = scope.new(), scope.new()
    inside = replace(scope.inner(), own=set())
    inside.add("M", taken)
    if scope.rng.random() < 0.4:
        yield f"{name} = lambda {taken}: {expression(inside, 'M')}"
    else:
        yield f"def {name}({taken}):"
        yield from _indented([*statements(inside, 1, nested), f"return {expression(inside, 'M')}"])
        yield ""
    scope.calls.append(Callable_(name, "M", "M"))


def _indented(lines: list[str]) -> Iterator[str]:
    yield from (f"    {line}" if line else line for line in lines)


_SIMPLE = (_assigned, _in_place, _unpacked, _kept_in, _moved, _read)
_WEIGHTS = (8, 2, 2, 2, 2, 1)
_COMPOUND = (_chosen, _guarded, _looped, _repeated, _within, _helper)
