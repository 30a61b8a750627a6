"""Where a finding may stand that a helper's bug causes: the files that import its file; and what its trace may name."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

AT_MOST = 6
"""So many importers of a file are linted beside it: those that name its definitions, the nearest by path first."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]*))", re.MULTILINE
)
_WORD = re.compile(rb"\w+")
_SAYS_NOTHING = frozenset({"forward", "main", "train", "test", "step", "run", "call"})
"""Names of definitions that many files have."""


def names_of(function: str) -> frozenset[str]:
    """The words of a qualified name by which another file may use it: ``Net`` and ``encode`` of ``Net.encode``."""
    words = [part for part in function.split(".") if part.isidentifier()]
    return frozenset(word for word in words if not word.startswith("__") and word not in _SAYS_NOTHING)


def importers(tree: Path, path: str, names: Collection[str], at_most: int = AT_MOST) -> list[str]:
    """Files that import ``path`` or, by way of a package, one of the ``names`` that it defines; the likeliest first."""
    own = PurePosixPath(path)
    module = (own.parent.name if own.stem == "__init__" else own.stem).encode()
    wanted = {name.encode() for name in names}
    found: list[tuple[bool, int, str]] = []
    for file in tree.rglob("*.py"):
        other = file.relative_to(tree)
        text = file.read_bytes() if other != Path(own) and file.is_file() else b""
        if (module in text or any(name in text for name in wanted)) and _imports(text, module, wanted):
            uses = not wanted.isdisjoint(_WORD.findall(text))
            found.append((not uses, -_shared(own, other), other.as_posix()))
    return [name for _, _, name in sorted(found)[:at_most]]


def lines_of_statements(file: Path, lines: Iterable[int]) -> list[int]:
    """The lines, and all others of the statements without a block that they stand in: a trace names the first one."""
    lines = list(lines)
    try:
        nodes = list(ast.walk(ast.parse(file.read_bytes())))
    except (OSError, SyntaxError, ValueError):
        return lines
    simple = [node for node in nodes if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in simple]
    return sorted({*lines, *(line for span in spans for line in span if any(one in span for one in lines))})


def _imports(text: bytes, module: bytes, wanted: set[bytes]) -> bool:
    """Whether an import statement names the module, or one of the names."""
    for source, names, modules in _IMPORT.findall(text):
        words = _WORD.findall(names)
        last = source.rpartition(b".")[2]
        if last == module or module in words or not wanted.isdisjoint(words):
            return True
        if any(part.split()[:1] and part.split()[0].rpartition(b".")[2] == module for part in modules.split(b",")):
            return True
    return False


def _shared(one: PurePosixPath, other: Path) -> int:
    """How many directories two files have in common, from the root."""
    pairs = zip(one.parent.parts, other.parent.parts, strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(one.parts), len(other.parts)) - 1)
