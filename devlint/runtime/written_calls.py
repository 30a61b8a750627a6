"""What the program's own text says of how a class is built and what tensors it takes: calls with literal arguments."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

MOST_FILES = 200
"""Files of the package that are looked at for a call."""

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and named arguments."""

_FLOATS = frozenset(("randn", "rand", "zeros", "ones", "empty"))
_INTEGERS = frozenset(("randint",))
_PLAIN = (int, float, str, bool, bytes, tuple, type(None))


def constructor_calls(cls: type[Any]) -> Iterator[Call]:
    """Arguments with which the class's own file, then the files around it, build it; each once."""
    names = _names_of(cls)
    told: list[Call] = []
    for path in _files_around(cls):
        for node in _calls(path):
            if _name(node.func) == cls.__name__ and (node.args or node.keywords):
                call = _arguments(node, names)
                if call is not None and call not in told:
                    told.append(call)
                    yield call


def written_shapes(cls: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Kind (``float`` or ``integer``) and sizes of the tensors that a class's or a function's own file makes."""
    names = _names_of(cls)
    for node in _calls(_file_of(cls)):
        name = _name(node.func)
        if name not in _FLOATS | _INTEGERS:
            continue
        call = _arguments(ast.Call(node.func, node.args, []), names)
        sizes: tuple[Any, ...] = call[0] if call is not None else ()
        if name in _INTEGERS:
            sizes = tuple(next((value for value in sizes if isinstance(value, tuple | list)), ()))
        elif len(sizes) == 1 and isinstance(sizes[0], tuple | list):
            sizes = tuple(sizes[0])
        if sizes and all(isinstance(size, int) and 0 < size < 10_000 for size in sizes):
            yield ("integer" if name in _INTEGERS else "float"), sizes


def _file_of(cls: Any) -> Path | None:
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return Path(file) if file and file.endswith(".py") else None


def _files_around(cls: type[Any]) -> Iterator[Path | None]:
    """The class's file, and those of its package, or of its directory where it is in no package."""
    own = _file_of(cls)
    yield own
    if own is None:
        return
    depth = cls.__module__.count(".") + (own.name == "__init__.py")
    package = own.parents[depth - 1] if 0 < depth <= len(own.parents) else None
    others = own.parent.glob("*.py") if package is None else package.rglob("*.py")
    yield from [path for path in sorted(others) if path != own and cls.__name__ in _text(path)][:MOST_FILES]


def _names_of(cls: Any) -> Mapping[str, Any]:
    return vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}


@cache
def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@cache
def _calls(path: Path | None) -> tuple[ast.Call, ...]:
    try:
        tree = ast.parse(_text(path)) if path is not None else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _arguments(node: ast.Call, names: Mapping[str, Any]) -> Call | None:
    """The arguments of a call if all are known without running anything of the program but classes like dataclasses."""
    try:
        positional = tuple(_value(argument, names) for argument in node.args)
        if any(keyword.arg is None for keyword in node.keywords):
            return None
        return positional, {str(keyword.arg): _value(keyword.value, names) for keyword in node.keywords}
    except Exception:  # whatever a constructor of the program raises
        return None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """A literal, a plain constant of the module, or an instance of one of its classes. Raises whatever it cannot be."""
    if isinstance(node, ast.Name):
        constant = names[node.id]
        if isinstance(constant, _PLAIN):
            return constant
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and isinstance(names[node.func.id], type):
        call = _arguments(node, names)
        if call is not None:
            return names[node.func.id](*call[0], **call[1])
    return ast.literal_eval(node)
