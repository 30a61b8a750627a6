"""Which of the places asked about did run: to the instruction, so that the other arm of a conditional is told apart.
And which transfer methods of the same files came to their end without a result.

Only code objects of files that hold such a place are watched, and only on its lines: by ``sys.monitoring`` where the
interpreter has it (3.12), else by ``sys.settrace``.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any

from devlint.finding import Place

Position = tuple[int, int]
"""Line, and column in bytes from 0, as code objects have them."""
Region = tuple[Position, Position]
"""Start and end."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The instructions of one code object that matter: offset -> numbers of places; and their lines."""

    offsets: dict[int, frozenset[int]]
    lines: frozenset[int]
    numbers: frozenset[int]


NOTHING = Watched({}, frozenset(), frozenset())

_TRANSFERS = ("to", "cuda", "cpu")
"""Methods that hand back what they moved, by their names."""


def is_transfer(code: CodeType) -> bool:
    return code.co_name in _TRANSFERS and code.co_argcount > 0 and "." in code.co_qualname


class Reach:
    """While entered, ``report`` is told the number of each of ``places`` the first time that it runs.

    ``unreturned`` is told of each transfer method in the files of these places, once, that returns None; ``entered`` of
    each definition in them that begins to run: file and qualified name, which is empty for the module itself.
    """

    def __init__(
        self,
        places: Sequence[Place],
        report: Callable[[int], None],
        unreturned: Callable[[CodeType], None] = lambda code: None,
        entered: Callable[[str, str], None] = lambda path, scope: None,
    ) -> None:
        self._report = report
        self._tell_entered = entered
        self._entered: set[CodeType] = set()
        self._tell_unreturned = unreturned
        self._unreturned: set[CodeType] = set()
        self._seen: set[int] = set()
        self._regions: dict[str, dict[int, list[tuple[int, Region]]]] = defaultdict(lambda: defaultdict(list))
        """By file, and by each line that a region touches."""
        self._whole: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        self._files: dict[str, str] = {}
        self._plain: set[str] = set()
        """File names of code in which there is nothing to watch."""
        self._watched: dict[int, tuple[CodeType, Watched]] = {}
        by_file: dict[str, list[tuple[int, Place]]] = defaultdict(list)
        for number, place in enumerate(places):
            by_file[os.path.realpath(place.path)].append((number, place))
        for path, numbered in by_file.items():
            self._prepare(path, numbered)
        self._stop: Callable[[], None] = lambda: None

    def __enter__(self) -> Reach:
        if self._regions or self._whole:
            self._stop = self._monitor() if sys.version_info >= (3, 12) else self._trace()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _prepare(self, path: str, numbered: list[tuple[int, Place]]) -> None:
        """Regions in the columns of code objects; a place without instructions stands for its whole definition."""
        try:
            with open(path, "rb") as file:
                data = file.read()
            whole = compile(data, path, "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError):
            return
        lines = data.split(b"\n")
        codes = list(_codes(whole))
        instructions: dict[int, list[Region]] = defaultdict(list)
        for code in codes:
            for _, position in _positions(code):
                instructions[position[0][0]].append(position)
        for number, place in numbered:
            region = _position(place.line, place.column, lines), _position(place.end_line, place.end_column, lines)
            touched = range(place.line, place.end_line + 1)
            if any(_contains(region, position) for line in touched for position in instructions.get(line, ())):
                for line in touched:
                    self._regions[path][line].append((number, region))
            else:
                owner = _owner(codes, place.line)
                self._whole[path].append((number, owner.co_firstlineno, owner.co_qualname))

    def _of(self, code: CodeType) -> Watched:
        """What matters of a code object that runs; kept with it, so that its identity stays its own."""
        known = self._watched.get(id(code))
        if known is None:
            path = self._files.get(code.co_filename)
            if path is None:
                path = self._files[code.co_filename] = os.path.realpath(code.co_filename)
            watched = self._look(code, path) if path in self._regions or path in self._whole else NOTHING
            known = self._watched[id(code)] = (code, watched)
        return known[1]

    def _interesting(self, code: CodeType) -> bool:
        """Cheap, since it is asked of every call: most files hold no place."""
        path = self._files.get(code.co_filename)
        if path is None:
            path = self._files[code.co_filename] = os.path.realpath(code.co_filename)
            if path not in self._regions and path not in self._whole:
                self._plain.add(code.co_filename)
        return path in self._regions or path in self._whole

    def _look(self, code: CodeType, path: str) -> Watched:
        offsets: dict[int, set[int]] = defaultdict(set)
        lines: set[int] = set()
        regions = self._regions[path]
        for offset, position in _positions(code):
            line = position[0][0]
            for number, region in regions.get(line, ()):
                if _contains(region, position):
                    offsets[offset].add(number)
                    lines.add(line)
        for number, line, name in self._whole[path]:
            if (code.co_firstlineno, code.co_qualname) == (line, name):
                offset, (start, _) = next(found for found in _positions(code) if found[1][0] != found[1][1])
                offsets[offset].add(number)
                lines.add(start[0])
        numbers = frozenset(number for found in offsets.values() for number in found)
        return Watched({offset: frozenset(found) for offset, found in offsets.items()}, frozenset(lines), numbers)

    def _note(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number not in self._seen:
                self._seen.add(number)
                self._report(number)

    def _begun(self, code: CodeType) -> None:
        if code not in self._entered:
            self._entered.add(code)
            scope = "" if code.co_name == "<module>" else code.co_qualname.replace("<locals>.", "")
            self._tell_entered(self._files[code.co_filename], scope)

    def _ended(self, code: CodeType, result: object) -> None:
        if result is None and code not in self._unreturned:
            self._unreturned.add(code)
            self._tell_unreturned(code)

    def _trace(self) -> Callable[[], None]:
        plain = self._plain

        def on_call(frame: FrameType, event: str, argument: Any) -> Any:
            if frame.f_code.co_filename in plain or not self._interesting(frame.f_code):
                return None
            self._begun(frame.f_code)
            watched = self._of(frame.f_code)
            inner = in_frame if not watched.numbers <= self._seen else None
            return to_its_end(inner) if is_transfer(frame.f_code) else inner

        def to_its_end(inner: Any) -> Any:
            raising = False

            def follow(frame: FrameType, event: str, argument: Any) -> Any:
                nonlocal inner, raising
                if event == "return" and not raising:
                    self._ended(frame.f_code, argument)
                # An exception that leaves the function is followed by a return of None; one that is caught, by a line.
                raising = event == "exception"
                inner = inner(frame, event, argument) if inner is not None else None
                return follow

            return follow

        def in_frame(frame: FrameType, event: str, argument: Any) -> Any:
            watched = self._of(frame.f_code)
            if event == "line":
                frame.f_trace_opcodes = frame.f_lineno in watched.lines
            elif event == "opcode" and frame.f_lasti in watched.offsets:
                self._note(watched.offsets[frame.f_lasti])
                if watched.numbers <= self._seen:
                    frame.f_trace_opcodes = False
                    return None
            return in_frame

        def stop() -> None:
            sys.settrace(before)
            threading.settrace(threads_before)

        before, threads_before = sys.gettrace(), threading.gettrace()
        threading.settrace(on_call)
        sys.settrace(on_call)
        return stop

    def _monitor(self) -> Callable[[], None]:
        monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - mypy checks for 3.11
        tool = next(number for number in (4, 3, 5, 2) if monitoring.get_tool(number) is None)

        def started(code: CodeType, offset: int) -> Any:
            if self._interesting(code):
                self._begun(code)
                wanted = monitoring.events.INSTRUCTION if self._of(code).offsets else 0
                wanted |= monitoring.events.PY_RETURN if is_transfer(code) else 0
                monitoring.set_local_events(tool, code, wanted)
            return monitoring.DISABLE

        def ended(code: CodeType, offset: int, result: object) -> Any:
            self._ended(code, result)

        def executed(code: CodeType, offset: int) -> Any:
            numbers = self._of(code).offsets.get(offset)
            if numbers:
                self._note(numbers)
            return monitoring.DISABLE

        def stop() -> None:
            monitoring.set_events(tool, 0)
            monitoring.free_tool_id(tool)

        monitoring.use_tool_id(tool, "devlint")
        monitoring.register_callback(tool, monitoring.events.PY_START, started)
        monitoring.register_callback(tool, monitoring.events.INSTRUCTION, executed)
        monitoring.register_callback(tool, monitoring.events.PY_RETURN, ended)
        monitoring.set_events(tool, monitoring.events.PY_START)
        monitoring.restart_events()
        return stop


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _positions(code: CodeType) -> Iterator[tuple[int, Region]]:
    """Offset, start and end of each instruction that stands for some text."""
    for index, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if line is not None and end_line is not None and column is not None and end_column is not None:
            yield 2 * index, ((line, column), (end_line, end_column))


def _position(line: int, column: int, lines: list[bytes]) -> Position:
    """A 1-based column of code points as the 0-based one of bytes."""
    text = lines[line - 1] if 0 < line <= len(lines) else b""
    return line, len(text.decode("utf-8", "replace")[: column - 1].encode("utf-8"))


def _contains(region: Region, position: Region) -> bool:
    return region[0] <= position[0] and position[1] <= region[1] and position[0] != position[1]


def _owner(codes: list[CodeType], line: int) -> CodeType:
    """The innermost definition around a line; codes are in the order outer before inner."""
    owner = codes[0]
    for code in codes:
        lines = [position[0][0] for _, position in _positions(code)]
        if lines and min(code.co_firstlineno, *lines) <= line <= max(lines):
            owner = code
    return owner
