"""The file with its edits made, and looked at before anybody writes it."""

from __future__ import annotations

import ast
import warnings
from collections import defaultdict
from collections.abc import Iterable

from devlint.finding import Edit
from devlint.fixes.byte_edits import Refused, apply_edits
from devlint.source.decoding import Source, Unreadable
from devlint.source.gate import Refusal, check_syntax, parse_tree
from devlint.source.notebook import Notebook
from devlint.source.source_file import read_source


def fixed(source: Source, path: str, edits: Iterable[Edit]) -> bytes:
    """The bytes of a file after the edits, made certain to be what was meant. Raises :class:`Refused`.

    In a notebook the edits count in the UTF-8 sources of its cells. The result compiles if the file did.
    """
    edits = list(edits)
    if isinstance(source, Notebook):
        data = _fixed_notebook(source, edits)
    else:
        _check_boundaries(source, edits)
        data = apply_edits(source.data, edits, source.encoding)
    try:
        result = read_source(path, data)
    except Unreadable as error:
        raise Refused(f"the result could not be read back: {error.message}") from None
    problem = _worse(source, result)
    if problem:
        raise Refused(f"the result would not compile: {problem}")
    return data


def _fixed_notebook(source: Notebook, edits: list[Edit]) -> bytes:
    by_cell: defaultdict[int, list[Edit]] = defaultdict(list)
    for edit in edits:
        by_cell[edit.cell].append(edit)
    sources = {cell.number: cell.source.encode("utf-8") for cell in source.cells}
    return source.rewritten({cell: apply_edits(sources[cell], found) for cell, found in by_cell.items()})


def _check_boundaries(source: Source, edits: list[Edit]) -> None:
    """In an encoding with shift states a character's bytes depend on what came before, and an offset may mislead."""
    if source.encoding in ("utf-8", "ascii", "iso8859-1"):
        return
    for edit in edits:
        try:
            before, after = (
                part.decode(source.encoding) for part in (source.data[: edit.start], source.data[edit.end :])
            )
        except UnicodeDecodeError:
            raise Refused(f"its encoding, {source.encoding}, cannot be edited in parts") from None
        if not (source.text.startswith(before) and source.text.endswith(after)):
            raise Refused(f"its encoding, {source.encoding}, cannot be edited in parts")


def _worse(before: Source, after: Source) -> str:
    """What the fixed text has wrong that the text before had not; empty if nothing."""
    if isinstance(before, Notebook) and isinstance(after, Notebook) and len(after.broken) > len(before.broken):
        return after.broken[0].message
    problem = _problem(after.text)
    if not problem or _problem(before.text):
        # What needs a newer Python than this one cannot be compiled here; LibCST must go on understanding it.
        parsed = parse_tree(after.text) if problem else None
        return parsed.message if isinstance(parsed, Refusal) else ""
    return problem


def _problem(text: str) -> str:
    """Why a text does not compile; empty if it does."""
    tree, refusal = check_syntax(text)
    if tree is None:
        return refusal.message if refusal is not None else "it is no Python"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<fixed>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    except (RecursionError, MemoryError):
        return ""
    return ""
