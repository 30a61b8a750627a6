"""A notebook as one text: its Python cells joined, and the way back from a place in that text to a place in a cell."""

from __future__ import annotations

import ast
import bisect
import re
import warnings
from dataclasses import replace
from functools import cached_property

from devlint.finding import Edit, Place
from devlint.records import dataclass
from devlint.source.decoding import Source, Unreadable
from devlint.source.gate import Refusal, check_syntax, parse_tree, scan_depth
from devlint.source.line_ends import split_lines
from devlint.source.magics import python_of
from devlint.source.notebook_file import read_cells, source_lines, source_spans, text_of, write_sources
from devlint.source.reading import MAX_BYTES


@dataclass(frozen=True, slots=True)
class Cell:
    """One Python cell, and where in the joined text it begins: ``start`` counts characters from 0, ``line`` from 1."""

    number: int
    """Counted from 1 over all cells of the notebook, as in reports."""
    source: str
    start: int
    line: int


@dataclass(frozen=True)
class Notebook(Source):
    """A notebook. ``text`` is its Python: the cells one below the other, what only IPython understands blanked."""

    cells: tuple[Cell, ...] = ()
    broken: tuple[Refusal, ...] = ()
    """Why some cells are no Python, at their places in ``text``; there they are blank, and the others still count."""

    @property
    def segments(self) -> tuple[int, ...]:
        return tuple(cell.start for cell in self.cells)

    def source_of(self, cell: int) -> str:
        """A cell by its number, as it stands in the notebook; empty for one that holds no Python."""
        return next((found.source for found in self.cells if found.number == cell), "")

    def lines_of(self, cell: int) -> list[str]:
        """The lines of a cell by its number."""
        return split_lines(self.source_of(cell))

    def text_line(self, place: Place) -> int:
        return place.line - 1 + next((found.line for found in self.cells if found.number == place.cell), 1)

    def placed(self, place: Place) -> Place:
        """A place in ``text``, as a place in its cell."""
        if not self.cells:
            return place
        cell = self._cell_at_line(place.line)
        last = max(len(self.lines_of(cell.number)), 1)
        line = min(place.line - cell.line + 1, last)
        end_line = min(place.end_line - cell.line + 1, last)
        file_lines = self._file_lines[cell.number]
        return replace(
            place,
            line=line,
            end_line=end_line,
            cell=cell.number,
            file_line=file_lines[min(line, len(file_lines)) - 1],
        )

    def original(self, edit: Edit) -> Edit:
        """An edit by UTF-8 offsets into ``text``, made one by offsets into its cell's UTF-8 source."""
        encoded = self.text.encode("utf-8")
        start = len(encoded[: edit.start].decode("utf-8"))
        end = start + len(encoded[edit.start : edit.end].decode("utf-8"))
        cell = self.cells[max(bisect.bisect_right([cell.start for cell in self.cells], start) - 1, 0)]
        first, last = (min(at - cell.start, len(cell.source)) for at in (start, end))
        shift = len(cell.source[:first].encode("utf-8"))
        return replace(edit, start=shift, end=shift + len(cell.source[first:last].encode("utf-8")), cell=cell.number)

    def rewritten(self, sources: dict[int, bytes]) -> bytes:
        """The notebook's file with new UTF-8 sources for some cells; everything else in it stays as it is."""
        old = {cell.number: cell.source for cell in self.cells}
        new = {number: source.decode("utf-8") for number, source in sources.items()}
        for number, source in new.items():
            if not old[number].endswith("\n") and source.endswith("\n"):
                new[number] = source[:-1].removesuffix("\r")  # the last line of a cell has no end
        return write_sources(self.data, new)

    @cached_property
    def _file_lines(self) -> dict[int, list[int]]:
        text = text_of(self.data)
        spans = source_spans(text)
        return {
            cell.number: source_lines(text, span) for cell in self.cells if (span := spans[cell.number - 1]) is not None
        }

    def _cell_at_line(self, line: int) -> Cell:
        return self.cells[max(bisect.bisect_right([cell.line for cell in self.cells], line) - 1, 0)]


def read_notebook(data: bytes) -> Notebook:
    """The Python of a notebook's bytes; none for one in another language. Raises :class:`Unreadable`."""
    raw, language = read_cells(data)
    cells: list[Cell] = []
    joined: list[str] = []
    broken: list[Refusal] = []
    start, line = 0, 1
    for cell in raw:
        python = python_of(cell.source) if cell.code and "python" in (cell.language or language) else None
        if python is None:
            continue
        python, refusal = _displayed_or_blank(python)
        if refusal is not None:
            broken.append(replace(refusal, line=refusal.line + line - 1))
        cells.append(Cell(cell.number, cell.source, start, line))
        joined.append(python + "\n")
        start += len(joined[-1])
        line += len(re.findall(r"\r\n|\r|\n", joined[-1]))
    text = "".join(joined)
    if len(text) > MAX_BYTES:
        size, limit = len(text) / 1024 / 1024, MAX_BYTES // 1024 // 1024
        raise Unreadable(f"its cells have {size:.1f} MiB; devlint reads up to {limit} MiB")
    return Notebook(data, text, "utf-8", False, tuple(cells), tuple(broken))


def _displayed_or_blank(python: str) -> tuple[str, Refusal | None]:
    """A cell whose last call is marked as used, since its value is shown; blanks, and why, where it is no Python."""
    tree, refusal = check_syntax(python)
    if tree is not None:
        return _with_last_call_used(python, tree), None
    if refusal is not None and refusal.syntax and scan_depth(python) is None:
        by_libcst = parse_tree(python)
        if refusal.final or (isinstance(by_libcst, Refusal) and by_libcst.syntax):
            return re.sub(r"[^\r\n]", " ", python), refusal
    return python, None


def _with_last_call_used(python: str, tree: ast.Module) -> str:
    """A comma behind the call that ends a cell: ``x.cuda()`` there is looked at, not thrown away as elsewhere.

    It takes the place of a blank or stands at the very end, so that every other character keeps its place.
    """
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call | ast.Await):
        return python
    if last.end_lineno is None or last.end_col_offset is None:
        return python
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", python)
    ending = lines[last.end_lineno - 1].encode("utf-8")[: last.end_col_offset].decode("utf-8")
    at = sum(map(len, lines[: last.end_lineno - 1])) + len(ending)
    if python[at : at + 1] in (" ", "\t"):
        marked = python[:at] + "," + python[at + 1 :]
    elif not python[at:].strip():
        marked = python[:at] + "," + python[at:]
    else:
        return python
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return marked if check_syntax(marked)[0] is not None else python
