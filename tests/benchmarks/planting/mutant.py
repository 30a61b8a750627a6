"""A planted bug: where it is, what was changed, and where a finding of it would stand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from planting.source import Edit, File, Scope


@dataclass(frozen=True)
class Span:
    """Lines of a file of the mutated release in which a finding counts as the mutant's, both ends included."""

    path: str
    first: int
    last: int

    def holds(self, path: str, line: int) -> bool:
        return path == self.path and self.first <= line <= self.last


@dataclass(frozen=True)
class Mutant:
    """One bug in one function."""

    kind: str
    path: str
    function: str
    line: int
    """Of the edit."""
    before: str
    """The line as it was released."""
    edits: tuple[Edit, ...]
    counted: tuple[Span, ...]
    """Where a new finding counts, in the mutated text."""
    original: tuple[Span, ...]
    """The same places in the text as released: where there is a finding already, nothing is planted."""
    caller: str | None = None
    """The file of the caller, for a helper's bug that only a caller in another file suffers from."""

    def place_in_order(self, seed: int, release: str) -> str:
        """Its own place in the random order, so that a candidate that comes or goes leaves the others drawn."""
        start = self.edits[0].start
        key = (str(seed), release, self.kind, self.path, self.function, str(start), self.caller or "")
        return hashlib.sha256("\0".join(key).encode()).hexdigest()


def planted(
    kind: str,
    file: File,
    scope: Scope,
    edits: tuple[Edit, ...],
    also: tuple[Scope, ...] = (),
    caller: str | None = None,
) -> Mutant:
    """A mutant of ``scope``; findings in the functions of ``also`` (same file) count too."""
    data = file.data
    first = min(edit.start for edit in edits)

    def moved(scope: Scope) -> Span:
        """Edits before a function move it, those inside of it change its length."""
        starts = [
            (data.count(b"\n", 0, e.start) + 1, e.text.count("\n") - data.count(b"\n", e.start, e.end)) for e in edits
        ]
        above = sum(delta for line, delta in starts if line < scope.first)
        inside = sum(delta for line, delta in starts if scope.first <= line <= scope.last)
        return Span(file.path, scope.first + above, scope.last + above + inside)

    scopes = (scope, *also)
    line = data.count(b"\n", 0, first) + 1
    return Mutant(
        kind=kind,
        path=file.path,
        function=scope.qualname,
        line=line,
        before=file.line(line),
        edits=edits,
        counted=tuple(moved(one) for one in scopes),
        original=tuple(Span(file.path, one.first, one.last) for one in scopes),
        caller=caller,
    )


def drawn(candidates: list[Mutant], count: int, seed: int, release: str) -> list[Mutant]:
    """At most ``count`` mutants, one a function, the kinds in turn so that rare ones are not crowded out."""
    waiting: dict[str, list[Mutant]] = {}
    for mutant in sorted(candidates, key=lambda mutant: mutant.place_in_order(seed, release), reverse=True):
        waiting.setdefault(mutant.kind, []).append(mutant)
    taken: list[Mutant] = []
    used: set[tuple[str, str]] = set()
    while waiting and len(taken) < count:
        for kind in sorted(waiting, key=lambda kind: (len(waiting[kind]), kind)):
            queue = waiting[kind]
            while queue and (queue[-1].path, queue[-1].function) in used:
                queue.pop()
            if not queue:
                del waiting[kind]
            elif len(taken) < count:
                taken.append(queue.pop())
                used.add((taken[-1].path, taken[-1].function))
    return taken
