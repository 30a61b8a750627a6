"""The memo table of queries about definitions: results are kept, each with its dependencies.

A query about a definition (its summary, the facts of its class) may lead to others, and back to itself. Two tables
answer alike. A :class:`LocalMemo` belongs to the analysis of one file and ends with it. A :class:`SharedMemo` belongs
to the other files of the workspace and serves one analysis after the other, so its results must be those that an
empty table would give:

- a result that a cycle cut short is *provisional*: it is dropped when the query that closed the cycle ends;
- a *final* result is reused only where none of the queries that it led to is open;
- reusing a result adds its dependencies to the query that wanted it, as if they had been read again.
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


class MemoTable(Protocol):
    """Results by key. Keys live as long as the table, so that objects in them are told apart by identity."""

    def query(
        self,
        key: Hashable,
        compute: Callable[[], Found],
        on_cycle: Found,
        nested: bool = False,
        reusable: bool = True,
    ) -> Found:
        """The result of ``compute``, kept from an earlier query; ``on_cycle`` if the query is open, or too deep.

        ``nested`` queries count for :data:`MAX_QUERY_DEPTH`. A result that is not ``reusable`` holds inside the query
        that wants it now, and may be another one elsewhere.
        """

    def is_in_progress(self, key: Hashable, nested: bool = False) -> bool:
        """Whether a query is open, or would lie too deep to be answered."""

    def computing(self, key: Hashable) -> AbstractContextManager[None]:
        """The query is open meanwhile; its result is computed in a way of the caller's own and not kept."""

    def forget(self, key: Hashable) -> None:
        """Drop a result that was computed in the middle of another query, so that it is computed anew."""


class LocalMemo:
    """The table of one analysis: the first result stands, inside whatever query it was computed."""

    def __init__(self) -> None:
        self._results: dict[Hashable, Any] = {}
        self._open: set[Hashable] = set()
        self._depth = 0

    def query(
        self,
        key: Hashable,
        compute: Callable[[], Found],
        on_cycle: Found,
        nested: bool = False,
        reusable: bool = True,
    ) -> Found:
        if key in self._results:
            found: Found = self._results[key]
            return found
        if self.is_in_progress(key, nested):
            return on_cycle
        with self.computing(key, nested):
            found = self._results[key] = compute()
        return found

    def is_in_progress(self, key: Hashable, nested: bool = False) -> bool:
        return key in self._open or (nested and self._depth >= MAX_QUERY_DEPTH)

    @contextmanager
    def computing(self, key: Hashable, nested: bool = True) -> Iterator[None]:
        self._open.add(key)
        self._depth += nested
        try:
            yield
        finally:
            self._depth -= nested
            self._open.discard(key)

    def forget(self, key: Hashable) -> None:
        self._results.pop(key, None)

    def clear(self) -> None:
        self._results.clear()


@dataclass(slots=True, eq=False)
class _Result:
    """The result of a query. Sets of dependencies and of queries are integers, one bit for each member."""

    found: Any
    dependencies: int = 0
    queries: int = 0
    """The queries that it led to, itself included."""
    cut: int = 0
    """Those of them that were open already: the result holds while the outermost of them is open."""
    height: int = 0
    """How many nested queries it led through, one inside the other."""
    limited: bool = False
    """Whether some query lay too deep: the result holds at the depth at which it was computed."""


@dataclass(slots=True, eq=False)
class _Frame:
    """An open query, and what it depends on so far, as in :class:`_Result`."""

    bit: int
    dependencies: int = 0
    queries: int = 0
    cut: int = 0
    height: int = 0
    limited: bool = False
    provisional: list[Hashable] = field(default_factory=list)
    """Keys whose results hold as long as this query is open."""


class SharedMemo:
    """A table for one analysis after the other; :meth:`begin` starts each."""

    def __init__(self) -> None:
        self._final: dict[Hashable, _Result] = {}
        self._provisional: dict[Hashable, _Result] = {}
        self._bits: dict[Hashable, int] = {}
        self._fact_bits: dict[Hashable, int] = {}
        self._facts: list[Any] = []
        self._frames: list[_Frame] = [_Frame(0)]
        """The first stands for the analysis, inside of which every query is made."""
        self._open = 0
        self._depth = 0
        self._limited = False
        """Whether any result is."""

    # -- one analysis -----------------------------------------------------------------------------------------------

    def begin(self) -> None:
        self._frames = [_Frame(0)]
        self._open, self._depth = 0, 0
        self._provisional.clear()

    def forget_all(self) -> None:
        """Results hold the definitions that they are about, and those their table."""
        self._final.clear()
        self._provisional.clear()
        self._bits.clear()

    @property
    def dependencies(self) -> int:
        """What the analysis depends on so far, as a set for :meth:`read`."""
        return self._frames[0].dependencies

    def note(self, kind: str, key: Hashable, value: Any) -> None:
        """The open query depends on a fact about the files: its kind, what was asked, and the value read.

        The value of a key stays the same as long as this table lasts.
        """
        bit = self._fact_bits.get((kind, key))
        if bit is None:
            bit = self._fact_bits[kind, key] = 1 << len(self._facts)
            self._facts.append((kind, key, value))
        self._frames[-1].dependencies |= bit

    def read(self, bits: int) -> Iterator[tuple[str, Any, Any]]:
        """The facts of a set: kind, key and value, in the order in which they were first noted."""
        while bits:
            lowest = bits & -bits
            yield self._facts[lowest.bit_length() - 1]
            bits ^= lowest

    def depends_on(self, kind: str, key: Hashable) -> bool:
        """Whether the analysis depends on a fact."""
        return bool(self.dependencies & self._fact_bits.get((kind, key), 0))

    # -- queries ----------------------------------------------------------------------------------------------------

    def query(
        self,
        key: Hashable,
        compute: Callable[[], Found],
        on_cycle: Found,
        nested: bool = False,
        reusable: bool = True,
    ) -> Found:
        result = self._stored(key)
        if result is None:
            if self.is_in_progress(key, nested):
                return on_cycle
            result = self._compute(key, compute, nested, reusable)
        self._depend_on(result)
        found: Found = result.found
        return found

    def is_in_progress(self, key: Hashable, nested: bool = False) -> bool:
        bit, top = self._bit(key), self._frames[-1]
        top.queries |= bit
        if self._open & bit:
            top.cut |= bit
            return True
        if nested and self._depth >= MAX_QUERY_DEPTH:
            top.limited = True
            return True
        return False

    @contextmanager
    def computing(self, key: Hashable) -> Iterator[None]:
        frame = self._push(key, True)
        try:
            yield
        finally:
            self._pop(frame, True)
        self._depend_on(_result_of(None, frame, True))

    def forget(self, key: Hashable) -> None:
        """A result computed in the middle of another query is provisional, and dropped with that anyway."""

    def _stored(self, key: Hashable) -> _Result | None:
        """A result that an empty table would come to here as well."""
        left = MAX_QUERY_DEPTH - self._depth
        result = self._provisional.get(key)
        if result is not None and result.height <= left:
            return result
        result = self._final.get(key)
        if result is not None and result.height <= left and not result.queries & self._open:
            return result
        if not self._limited:
            return None
        key = (key, self._depth)
        result = self._provisional.get(key)
        if result is None:
            result = self._final.get(key)
            if result is not None and result.queries & self._open:
                return None
        return result

    def _compute(self, key: Hashable, compute: Callable[[], Any], nested: bool, reusable: bool) -> _Result:
        frame = self._push(key, nested)
        try:
            found = compute()
        finally:
            self._pop(frame, nested)
        result = _result_of(found, frame, nested)
        if result.limited:
            self._limited = True
            key = (key, self._depth)
        if reusable and not result.cut:
            self._final[key] = result
            return result
        holder = self._frames[-1]
        if result.cut:
            holder = next(below for below in self._frames if below.bit & result.cut)
        self._provisional[key] = result
        holder.provisional.append(key)
        return result

    def _depend_on(self, result: _Result) -> None:
        top = self._frames[-1]
        top.dependencies |= result.dependencies
        top.queries |= result.queries
        # Of the queries that cut it short, others may have ended since; the outermost has not.
        top.cut |= result.cut & self._open
        top.limited |= result.limited
        if result.height > top.height:
            top.height = result.height

    def _push(self, key: Hashable, nested: bool) -> _Frame:
        frame = _Frame(self._bit(key))
        self._frames.append(frame)
        self._open |= frame.bit
        self._depth += nested
        return frame

    def _pop(self, frame: _Frame, nested: bool) -> None:
        self._depth -= nested
        self._open &= ~frame.bit
        self._frames.pop()
        for key in frame.provisional:
            self._provisional.pop(key, None)

    def _bit(self, key: Hashable) -> int:
        bit = self._bits.get(key)
        if bit is None:
            bit = self._bits[key] = 1 << len(self._bits)
        return bit


def _result_of(found: Any, frame: _Frame, nested: bool) -> _Result:
    queries, cut = frame.queries | frame.bit, frame.cut & ~frame.bit
    return _Result(found, frame.dependencies, queries, cut, frame.height + nested, frame.limited)
