"""Which tests of a tree are likely to come to a function, and which lines count as coming to its bug."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

MOST_FILES = 5
_HOPS = 4
_SHORT = 3
_SAY_NOTHING = ("self", "torch", "device", "dtype", "tensor", "Tensor", "numpy", "shape", "size")
_NO_TESTS = ("__init__.py", "conftest.py", "setup.py")


@dataclass(frozen=True)
class Spot:
    """Where a bug is in the program: the lines of its statements, and of the function around them."""

    lines: frozenset[int]
    function: range
    within: str
    """The qualified name of the outermost function, with its classes; empty at top level."""
    names: tuple[str, ...] = ()
    """What the statements name: attributes, arguments, variables."""
    fault: frozenset[int] = frozenset()
    """Of the lines those of the first statement, which is at fault; at the others it may as well be told."""

    @property
    def is_constructor(self) -> bool:
        return self.within.endswith(("__init__", "__post_init__", "__new__"))


def spot_of(source: str, lines: Iterable[int]) -> Spot:
    """The innermost statement around each line; of a definition's head, the first statement of its body."""
    tree = ast.parse(source)
    own: set[int] = set()
    fault: frozenset[int] = frozenset()
    scopes: list[list[ast.AST]] = []
    for line in lines:
        way = _way_to(tree, line)
        statement = next(node for node in reversed(way) if isinstance(node, (ast.stmt, ast.Module)))
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            documented = ast.get_docstring(statement) is not None and len(statement.body) > 1
            statement = statement.body[documented]
            way.append(statement)
        if isinstance(statement, ast.stmt):
            own.update(_lines_of(statement))
        else:
            own.add(line)
        fault = fault or frozenset(own)
        scopes.append([node for node in way if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))])
    around = [node for node in scopes[0] if not isinstance(node, ast.ClassDef)]
    last = around[0] if around else None
    function = range(last.lineno, (last.end_lineno or last.lineno) + 1) if last else range(min(own), max(own) + 1)
    names = []
    for node in scopes[0]:
        names.append(node.name)  # type: ignore[attr-defined]
        if node is last:
            break
    return Spot(frozenset(own), function, ".".join(names), tuple(_names_in(tree, own)), fault)


def _names_in(tree: ast.AST, lines: set[int]) -> list[str]:
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.keyword) and node.lineno in lines:
            name = {ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg"}.get(type(node), "")
            found[getattr(node, name, None) or ""] = None
    return [name for name in found if len(name) > _SHORT and name not in _SAY_NOTHING]


def _way_to(tree: ast.AST, line: int) -> list[ast.AST]:
    """From the module to the innermost statement whose lines hold ``line``."""
    way: list[ast.AST] = [tree]
    while True:
        inner = [
            node
            for node in ast.walk(way[-1])
            if node is not way[-1] and isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        if not inner:
            return way
        way.append(max(inner, key=lambda node: (node.end_lineno or 0) - node.lineno))


def _lines_of(statement: ast.stmt) -> range:
    """Of a compound statement, its head."""
    body = getattr(statement, "body", None)
    end = body[0].lineno - 1 if isinstance(body, list) and body else statement.end_lineno or statement.lineno
    return range(statement.lineno, max(end, statement.lineno) + 1)


def module_of(path: str, sources: Iterable[str]) -> str:
    """The name under which a file of the tree is imported."""
    parts = list(Path(path).with_suffix("").parts)
    if parts and parts[0] in sources:
        parts = parts[1:]
    if parts[-1:] == ["__init__"]:
        parts = parts[:-1]
    return ".".join(parts)


def files_of_tests(
    tree: Path, directories: Iterable[str], path: str, within: str, said: Iterable[str] = (), most: int = MOST_FILES
) -> list[str]:
    """The files of tests that name what has the bug, the likeliest first; where none does, what uses it.

    ``said``: names of the bug's statement.
    """
    stem = Path(path).parent.name if Path(path).stem == "__init__" else Path(path).stem
    names = [name for name in within.split(".") if _is_public(name)]
    texts = {file: file.read_text("utf-8", "replace") for file in _candidates(tree, directories)}
    if not any(_times(name, text) for name in names for text in texts.values()):
        names = _users(tree, path, within, "\n".join(texts.values())) or names
    ranked: list[tuple[float, str]] = []
    for file, text in texts.items():
        shown = file.relative_to(tree).as_posix()
        # A file called after the module or the class is its own; one that speaks of them much is next.
        score = 40.0 * (_flat(stem) in _flat(file.stem)) + 30.0 * any(_flat(name) in _flat(file.stem) for name in names)
        score += sum(10 + min(10, count) for name in names if (count := _times(name, text)))
        score += sum(8 for name in said if _times(name, text)) if score else 0
        if score:
            ranked.append((-score - len(set(Path(path).parts[:-1]) & set(Path(shown).parts[:-1])), shown))
    return [shown for _, shown in sorted(ranked)[:most]]


def _is_public(name: str) -> bool:
    return not re.fullmatch(r"__\w+__|forward|update|compute|_.*|", name)


def _times(name: str, text: str) -> int:
    return len(re.findall(rf"\b{re.escape(name)}\b", text))


def _users(tree: Path, path: str, within: str, tested: str) -> list[str]:
    """What uses the definition, or uses what uses it: of the nearest, those that the tests name."""
    words = {
        name: set(re.findall(r"\w+", body))
        for file in (tree / Path(path).parts[0]).rglob("*.py")
        if "test" not in file.name
        for name, body in _defined_in(file.read_text("utf-8", "replace"))
    }
    in_tests = set(re.findall(r"\w+", tested))
    level = {within.partition(".")[0]}
    seen = set(level)
    for _ in range(_HOPS):
        level = {name for name, used in words.items() if name not in seen and used & level}
        if named := sorted(name for name in level if name in in_tests and _is_public(name)):
            return named
        seen |= level
    return []


def _defined_in(text: str) -> list[tuple[str, str]]:
    """The names of the definitions at the top of a file, each with its text."""
    parts = re.split(r"^(?:async def|def|class) (\w+)", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def _flat(name: str) -> str:
    return re.sub(r"^tests?_|_tests?$|_", "", name.lower())


def _candidates(tree: Path, directories: Iterable[str]) -> Iterable[Path]:
    """The files of tests below directories of these names, wherever they are."""
    wanted = set(directories)
    for file in sorted(tree.rglob("*.py")):
        inside = wanted.intersection(file.relative_to(tree).parts[:-1])
        if inside and file.name not in _NO_TESTS and "test" in file.name.lower():
            yield file
