"""The gate before LibCST: exact syntax errors, and a bound on what would crash or stall its parser.

Measured with LibCST 1.9: 3,000 nested brackets overflow an 8 MiB stack and kill the process (in 512 MiB they take
49 s); its time grows with the square of an expression's depth (a sum of 3,000 terms 1.6 s, 3,000 chained calls 15 s).
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from devlint.records import dataclass
from devlint.source.deadline import OutOfTime
from devlint.source.line_ends import line_starts, split_lines
from devlint.source.python_parser import parse
from devlint.source.string_pattern import STRING

if TYPE_CHECKING:
    import libcst as cst

MAX_BRACKET_DEPTH = 200
"""Brackets inside of each other. LibCST recurses for each; CPython's own tokenizer stops there too."""

MAX_EXPRESSION_TOKENS = 8000
"""Tokens of one expression between two commas. A sum of 3,000 names has 5,999; LibCST needs 3 s for the longest."""

_TOKEN = rf"""
      (?P<comment> \#[^\r\n]*)
    | {STRING}
    | (?P<joined> \\(?:\r\n|\r|\n))
    | (?P<end> \r\n|\r|\n)
    | (?P<open> [\[({{])
    | (?P<close> [\])}}])
    | (?P<separator> [,;])
    | (?P<other> \w+ | [^\s\w])
    """
"""Compiled where it is used, which is seldom."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a file goes no further. ``syntax``: its text is not Python; else it could not be analysed."""

    syntax: bool
    message: str
    line: int
    column: int
    final: bool = False
    """Whether LibCST need not read the text: it lets null bytes pass inside of strings, and a second mark."""


def check_syntax(text: str) -> tuple[ast.Module | None, Refusal | None]:
    """The tree by :mod:`ast`, or why there is none. A refusal here is final only when LibCST refuses as well."""
    nul = text.find("\0")
    if nul >= 0:
        line, column = position(text, nul)
        return None, Refusal(True, "source code cannot contain null bytes", line, column, final=True)
    if text.startswith("\ufeff"):
        # The first mark was no part of the text. Of a text Python passes over one more, which it refuses in a file.
        return None, Refusal(True, "invalid non-printable character U+FEFF", 1, 1, final=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse(text), None
    except SyntaxError as error:
        line = max(error.lineno or 1, 1)
        # ast counts a form feed or tab as one column, as devlint does; 0 stands for "the line as a whole".
        # A number of too many digits is one to LibCST, and to nobody else.
        final = error.msg.startswith("Exceeds the limit")
        message = error.msg.partition(":")[0] if final else error.msg
        return None, Refusal(True, message, line, max(error.offset or 1, 1), final=final)
    except (RecursionError, MemoryError):
        return None, Refusal(False, "an expression is nested too deeply for Python's own parser", 1, 1)


def too_deep(text: str, tree: ast.Module | None) -> Refusal | None:
    """Refuse text on which LibCST would crash or take minutes. ``tree`` saves the scan of an ordinary file."""
    if tree is not None and not _has_long_statement(tree, text):
        return None
    return scan_depth(text)


def scan_depth(text: str) -> Refusal | None:
    """Measure bracket depth and expression length over the tokens, without recursion."""
    chains = [0]
    for match in re.finditer(_TOKEN, text, re.X | re.S):
        kind = match.lastgroup
        if kind in ("comment", "joined"):
            continue
        if kind == "separator" or (kind == "end" and len(chains) == 1):
            chains[-1] = 0
            continue
        if kind == "end":
            continue
        chains[-1] += 1
        if kind == "open":
            chains.append(0)
        elif kind == "close" and len(chains) > 1:
            chains.pop()
        if len(chains) - 1 > MAX_BRACKET_DEPTH:
            line, column = position(text, match.start())
            return Refusal(False, f"brackets are nested more than {MAX_BRACKET_DEPTH} deep", line, column)
        if chains[-1] > MAX_EXPRESSION_TOKENS:
            line, column = position(text, match.start())
            return Refusal(
                False, f"one expression has more than {MAX_EXPRESSION_TOKENS:,} tokens without a comma", line, column
            )
    return None


def parse_tree(text: str) -> cst.Module | Refusal:
    """The LibCST tree. Whatever the native parser does short of killing the process comes back as a refusal."""
    import libcst as cst

    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        return Refusal(True, "this is not Python syntax", max(error.raw_line, 1), max(error.raw_column, 0) + 1)
    except (KeyboardInterrupt, SystemExit, OutOfTime):
        raise
    except BaseException as error:  # a panic of the native parser is no Exception
        kind = type(error).__name__
        return Refusal(False, f"LibCST could not parse this file ({kind}: {_first_line(error)})", 1, 1)


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both 1-based, of a character offset."""
    before = split_lines(text[:offset] + "|")
    return len(before), len(before[-1])


def _has_long_statement(tree: ast.Module, text: str) -> bool:
    """Whether some simple statement or header could hold a forbidden expression: a token has a character at least."""
    if len(text) <= MAX_EXPRESSION_TOKENS:
        return False
    starts = [*line_starts(text), len(text) + 1]

    def is_long(first: int, last: int) -> bool:
        return starts[min(last, len(starts) - 1)] - starts[first - 1] > MAX_EXPRESSION_TOKENS

    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        first = min([_first_line_of(node), *(one.lineno for one in getattr(node, "decorator_list", ()))])
        last: int | None = getattr(node, "end_lineno", None)
        if last is not None and not is_long(first, last):
            continue  # nor is anything in it
        inner = statements_in(node)
        if is_long(first, _first_line_of(inner[0]) if inner else last or first) and not _is_made_of_short(node, starts):
            return True
        stack.extend(inner)
    return False


def _is_made_of_short(statement: ast.AST, starts: list[int]) -> bool:
    """Whether a simple statement is long by a table or a call with many items, none of which is."""
    if isinstance(statement, ast.Assign):
        parts: list[ast.expr] = [*statement.targets, statement.value]
    elif isinstance(statement, (ast.Expr, ast.Return)) and statement.value is not None:
        parts = [statement.value]
    else:
        return False
    return sum(_tokens(part, starts) + 1 for part in parts) <= MAX_EXPRESSION_TOKENS


def _tokens(node: ast.expr, starts: list[int]) -> int:
    """At most so many tokens of an expression stand in no brackets of its own; too many if some in brackets may be."""
    characters = starts[node.end_lineno or -1] - starts[node.lineno - 1]
    if characters <= MAX_EXPRESSION_TOKENS // 4:
        return characters
    if isinstance(node, ast.Dict):
        keys = (0 if key is None else _tokens(key, starts) for key in node.keys)
        inside = [key + _tokens(value, starts) + 2 for key, value in zip(keys, node.values, strict=True)]
        return 2 if max(inside, default=0) <= MAX_EXPRESSION_TOKENS else characters
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        longest = max((_tokens(item, starts) + 1 for item in node.elts), default=0)
        return 2 + (longest if isinstance(node, ast.Tuple) or longest > MAX_EXPRESSION_TOKENS else 0)
    if isinstance(node, ast.Call):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        longest = max((_tokens(item, starts) + 3 for item in given), default=0)
        return _tokens(node.func, starts) + (2 if longest <= MAX_EXPRESSION_TOKENS else characters)
    return characters


def statements_in(node: ast.AST) -> list[ast.AST]:
    """The statements, handlers and cases of the blocks of a compound statement; none of an expression."""
    inner: list[ast.AST] = []
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            inner.extend(block)
    return inner


def _first_line_of(node: ast.AST) -> int:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    line: int = node.lineno  # type: ignore[attr-defined]
    return line


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [""])[0]
