"""Questions about definitions, and their answers: kept, and handed out again with all that they rest on.

Two memories answer alike. A :class:`Notebook` is that of the file that is analysed and ends with it. :class:`Questions`
is that of the files around, and serves one analysis after the other: what it says must be what a memory that has seen
nothing would say. So it keeps an answer only if the answer was not cut short by a question that was being answered
already (a cycle), and gives it away only where none of the questions it led to is being answered; and it tells each
asker the *facts* that the answer rests on, as if they had been asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

Found = TypeVar("Found")

MAX_QUERY_DEPTH = 12
"""Definitions that a query may lead through, one inside the other; beyond, the answer is unknown.

It bounds the recursion of the interpreter, which takes dozens of Python frames for each definition.
"""


class Memory(Protocol):
    """Keys are kept for as long as the memory: objects in them are told apart by identity."""

    def ask(
        self,
        key: Hashable,
        find: Callable[[], Found],
        meanwhile: Found,
        deeper: bool = False,
        lasting: bool = True,
    ) -> Found:
        """The answer that ``find`` gives, or gave; ``meanwhile`` where that is being found, or too deep down.

        ``deeper`` questions are those that count for :data:`MAX_QUERY_DEPTH`. An answer that is not ``lasting`` may be
        another one when the same is asked outside of the question that asks it now.
        """

    def is_asked(self, key: Hashable, deeper: bool = False) -> bool:
        """Whether a question is being answered, or lies too deep to be."""

    def asking(self, key: Hashable) -> AbstractContextManager[None]:
        """While something is done that answers a question in a way of its own, which is not kept."""

    def forget(self, key: Hashable) -> None:
        """An answer given in the middle of another question, to be found anew."""


class Notebook:
    """A memory of one analysis: the first answer stands, in whatever middle it was found."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, Any] = {}
        self._asked: set[Hashable] = set()
        self._depth = 0

    def ask(
        self,
        key: Hashable,
        find: Callable[[], Found],
        meanwhile: Found,
        deeper: bool = False,
        lasting: bool = True,
    ) -> Found:
        if key in self._answers:
            found: Found = self._answers[key]
            return found
        if self.is_asked(key, deeper):
            return meanwhile
        with self.asking(key, deeper):
            found = self._answers[key] = find()
        return found

    def is_asked(self, key: Hashable, deeper: bool = False) -> bool:
        return key in self._asked or (deeper and self._depth >= MAX_QUERY_DEPTH)

    @contextmanager
    def asking(self, key: Hashable, deeper: bool = True) -> Iterator[None]:
        self._asked.add(key)
        self._depth += deeper
        try:
            yield
        finally:
            self._depth -= deeper
            self._asked.discard(key)

    def forget(self, key: Hashable) -> None:
        self._answers.pop(key, None)

    def clear(self) -> None:
        self._answers.clear()


@dataclass(slots=True, eq=False)
class _Answer:
    """What a question came to. Sets of facts and of questions are numbers, a bit for each member."""

    found: Any
    facts: int = 0
    """That it rests on."""
    questions: int = 0
    """That it led to, itself included."""
    cut: int = 0
    """Those of them that were being answered when it asked them: it holds while the lowest of them lasts."""
    height: int = 0
    """How many deeper questions it is high."""
    limited: bool = False
    """Whether some question lay too deep: then it holds at the depth at which it was asked."""


@dataclass(slots=True, eq=False)
class _Frame:
    """A question that is being answered: what its answer rests on so far, as in :class:`_Answer`."""

    bit: int
    facts: int = 0
    questions: int = 0
    cut: int = 0
    height: int = 0
    limited: bool = False
    passing: list[Hashable] = field(default_factory=list)
    """Questions whose answers hold as long as this one is being answered."""


class Questions:
    """A memory for one analysis after the other, each between :meth:`begin` and :meth:`end`."""

    def __init__(self) -> None:
        self._settled: dict[Hashable, _Answer] = {}
        self._passing: dict[Hashable, _Answer] = {}
        self._bits: dict[Hashable, int] = {}
        self._facts: dict[Hashable, int] = {}
        self._told: list[Any] = []
        self._frames: list[_Frame] = [_Frame(0)]
        """The first stands for the analysis, in the middle of which everything is asked."""
        self._asked = 0
        self._depth = 0
        self._limited = False
        """Whether any answer is."""

    # -- one analysis -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self._frames = [_Frame(0)]
        self._asked, self._depth = 0, 0
        self._passing.clear()

    def forget_all(self) -> None:
        """Answers hold the definitions that they are about, and those their memory."""
        self._settled.clear()
        self._passing.clear()
        self._bits.clear()

    @property
    def rests(self) -> int:
        """The facts that the analysis rests on so far."""
        return self._frames[0].facts

    def note(self, kind: str, key: Hashable, told: Any) -> None:
        """A fact: what the tree around said when it was asked. It is told the same as long as this memory lasts."""
        bit = self._facts.get((kind, key))
        if bit is None:
            bit = self._facts[kind, key] = 1 << len(self._told)
            self._told.append((kind, key, told))
        self._frames[-1].facts |= bit

    def facts(self, bits: int) -> Iterator[tuple[str, Any, Any]]:
        """The facts of a set: kind, key, and what was told."""
        while bits:
            lowest = bits & -bits
            yield self._told[lowest.bit_length() - 1]
            bits ^= lowest

    def rests_on(self, kind: str, key: Hashable) -> bool:
        """Whether the analysis has come to rest on a fact."""
        return bool(self.rests & self._facts.get((kind, key), 0))

    # -- questions --------------------------------------------------------------------------------------------------

    def ask(
        self,
        key: Hashable,
        find: Callable[[], Found],
        meanwhile: Found,
        deeper: bool = False,
        lasting: bool = True,
    ) -> Found:
        answer = self._known(key)
        if answer is None:
            if self.is_asked(key, deeper):
                return meanwhile
            answer = self._answered(key, find, deeper, lasting)
        self._rest_on(answer)
        found: Found = answer.found
        return found

    def is_asked(self, key: Hashable, deeper: bool = False) -> bool:
        bit, top = self._bit(key), self._frames[-1]
        top.questions |= bit
        if self._asked & bit:
            top.cut |= bit
            return True
        if deeper and self._depth >= MAX_QUERY_DEPTH:
            top.limited = True
            return True
        return False

    @contextmanager
    def asking(self, key: Hashable) -> Iterator[None]:
        frame = self._began(key, True)
        try:
            yield
        finally:
            self._ended(frame, True)
        self._rest_on(_answer(None, frame, True))

    def forget(self, key: Hashable) -> None:
        """What was answered in the middle of a question is forgotten with that anyway."""

    def _known(self, key: Hashable) -> _Answer | None:
        """An answer that a memory which has seen nothing would find here as well."""
        left = MAX_QUERY_DEPTH - self._depth
        answer = self._passing.get(key)
        if answer is not None and answer.height <= left:
            return answer
        answer = self._settled.get(key)
        if answer is not None and answer.height <= left and not answer.questions & self._asked:
            return answer
        if not self._limited:
            return None
        key = (key, self._depth)
        answer = self._passing.get(key)
        if answer is None:
            answer = self._settled.get(key)
            if answer is not None and answer.questions & self._asked:
                return None
        return answer

    def _answered(self, key: Hashable, find: Callable[[], Any], deeper: bool, lasting: bool) -> _Answer:
        frame = self._began(key, deeper)
        try:
            found = find()
        finally:
            self._ended(frame, deeper)
        answer = _answer(found, frame, deeper)
        if answer.limited:
            self._limited = True
            key = (key, self._depth)
        if lasting and not answer.cut:
            self._settled[key] = answer
            return answer
        around = self._frames[-1]
        if answer.cut:
            around = next(below for below in self._frames if below.bit & answer.cut)
        self._passing[key] = answer
        around.passing.append(key)
        return answer

    def _rest_on(self, answer: _Answer) -> None:
        top = self._frames[-1]
        top.facts |= answer.facts
        top.questions |= answer.questions
        # Of those that cut it short, others may have ended since; the lowest has not.
        top.cut |= answer.cut & self._asked
        top.limited |= answer.limited
        if answer.height > top.height:
            top.height = answer.height

    def _began(self, key: Hashable, deeper: bool) -> _Frame:
        frame = _Frame(self._bit(key))
        self._frames.append(frame)
        self._asked |= frame.bit
        self._depth += deeper
        return frame

    def _ended(self, frame: _Frame, deeper: bool) -> None:
        self._depth -= deeper
        self._asked &= ~frame.bit
        self._frames.pop()
        for key in frame.passing:
            self._passing.pop(key, None)

    def _bit(self, key: Hashable) -> int:
        bit = self._bits.get(key)
        if bit is None:
            bit = self._bits[key] = 1 << len(self._bits)
        return bit


def _answer(found: Any, frame: _Frame, deeper: bool) -> _Answer:
    questions, cut = frame.questions | frame.bit, frame.cut & ~frame.bit
    return _Answer(found, frame.facts, questions, cut, frame.height + deeper, frame.limited)
