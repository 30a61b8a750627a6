"""Edits of Python programs, drawn at random: of bodies, signatures, classes, imports, names, and of mere words."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

Lines = list[str]
Function = ast.FunctionDef | ast.AsyncFunctionDef

_STATEMENTS = (
    "pass", "return torch.zeros(3)", "return None", "extra = torch.ones(2)", "import math", "yield torch.zeros(1)",
    "if flag:\n{indent}    return torch.zeros(2).to('cuda')", "raise ValueError",
)  # fmt: skip
_OF_METHODS = ("self.extra = torch.zeros(1)", "self.register_buffer('extra', torch.zeros(1))", "self.to('cuda')")
_AT_MODULE_LEVEL = (
    "touched = None", "TOUCHED = torch.zeros(3)", "import json", "from torch import nn as networks",
    "def touched(): return 1",
    "def touched(x):\n    return x + torch.zeros(3)", "class Touched(torch.nn.Module):\n    pass",
    "{name} = None", "{name} = torch.zeros(2)", "import {name}", "def {name}(*args): return torch.ones(1)",
    "torch.set_default_device('cuda')", "if torch.cuda.is_available():\n    {name} = None",
    "{name}.attribute = torch.zeros(1)",
)  # fmt: skip


def edited(text: str, draw: random.Random) -> str:
    """A text that differs in one place, and that Python reads."""
    for _ in range(50):
        tree = ast.parse(text)
        edit = draw.choice(_EDITS)
        lines = text.splitlines(keepends=True)
        found = edit(tree, lines, draw)
        if found is None or found == text:
            continue
        try:
            ast.parse(found)
        except SyntaxError:
            continue
        return found
    return text + "\ntouched = None\n"


def _functions(tree: ast.Module) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function) and node.body[0].lineno > node.lineno]


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.body[0].lineno > node.lineno]


def _names(tree: ast.Module) -> list[str]:
    defined = [node.name for node in tree.body if isinstance(node, Function | ast.ClassDef)]
    stored = [node.id for one in tree.body for node in ast.walk(one) if isinstance(node, ast.Name)]
    return sorted({*defined, *defined, *stored}) or ["touched"]


def _inserted(lines: Lines, line: int, statement: str) -> str:
    """Before a line, as deep as that is."""
    there = lines[line - 1]
    indent = there[: len(there) - len(there.lstrip())]
    return "".join([*lines[: line - 1], f"{indent}{statement.replace('{indent}', indent)}\n", *lines[line - 1 :]])


def _into_body(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    functions = _functions(tree)
    if not functions:
        return None
    function = draw.choice(functions)
    choices = _STATEMENTS + (_OF_METHODS if [a.arg for a in function.args.args[:1]] == ["self"] else ())
    return _inserted(lines, draw.choice(function.body).lineno, draw.choice(choices))


def _out_of_body(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    simple = [s for f in _functions(tree) for s in f.body if isinstance(s, (ast.Assign, ast.Expr, ast.Return))]
    if not simple:
        return None
    statement = draw.choice(simple)
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    indent = lines[first - 1][: statement.col_offset]
    return "".join([*lines[: first - 1], f"{indent}pass\n", *lines[last:]])


def _device(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    """One word that decides about a place."""
    swaps = (
        ("torch.zeros(", "torch.zeros_like("), ("torch.ones(", "numpy.ones("), (".to(", ".view("),
        ("device=", "dtype="),
        ("x.device", '"cpu"'), ("cuda", "cpu"), ("register_buffer", "register_later"), ("torch.arange(", "torch.rand("),
        ("nn.Parameter(", "("), ("self.", "self.other_"), ("return ", "result = "),
    )  # fmt: skip
    old, new = draw.choice([*swaps, *((new, old) for old, new in swaps)])
    places = [number for number, line in enumerate(lines) if old in line]
    if not places:
        return None
    place = draw.choice(places)
    return "".join([*lines[:place], lines[place].replace(old, new, 1), *lines[place + 1 :]])


def _signature(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    functions = [f for f in _functions(tree) if f.args.args and f.args.args[-1].lineno == f.lineno]
    if not functions:
        return None
    function = draw.choice(functions)
    place = function.lineno - 1
    added = draw.choice(["(extra=None, ", "(extra: torch.Tensor = None, ", "(first, ", "(device='cuda', "])
    return "".join([*lines[:place], lines[place].replace("(", added, 1), *lines[place + 1 :]])


def _base(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    classes = _classes(tree)
    if not classes:
        return None
    found = draw.choice(classes)
    base = draw.choice(["object", "torch.nn.Module", "Unknown", *_names(tree)])
    header = f"class {found.name}({base}):\n"
    if found.body[0].lineno != found.lineno + 1:
        return None
    indent = " " * found.col_offset
    return "".join([*lines[: found.lineno - 1], indent + header, *lines[found.lineno :]])


def _decorator(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    found = [*_functions(tree), *_classes(tree)]
    if not found:
        return None
    decorator = draw.choice(["@torch.no_grad()", "@staticmethod", "@property", "@unknown", "@functools.wraps(print)"])
    return _inserted(lines, draw.choice(found).lineno, decorator)


def _class_attribute(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    classes = _classes(tree)
    if not classes:
        return None
    added = draw.choice(["flag = 1", "extra = torch.zeros(3)", "extra: int", "def extra(self): return torch.ones(1)"])
    return _inserted(lines, draw.choice(draw.choice(classes).body).lineno, added)


def _renamed(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    found = [*_functions(tree), *_classes(tree)]
    if not found:
        return None
    one = draw.choice(found)
    place = next(n for n in range(one.lineno - 1, len(lines)) if one.name in lines[n])
    other = draw.choice([f"{one.name}_", *(other.name for other in found)])
    return "".join([*lines[:place], lines[place].replace(one.name, other, 1), *lines[place + 1 :]])


def _removed(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    """A statement of the module level or of a class."""
    found: list[ast.stmt] = [*tree.body, *(statement for one in _classes(tree) for statement in one.body[1:])]
    statement = draw.choice(found) if found else None
    if statement is None:
        return None
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
    return "".join([*lines[: first - 1], *lines[statement.end_lineno or first :]])


def _module_level(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    statement = draw.choice(_AT_MODULE_LEVEL).replace("{name}", draw.choice(_names(tree)))
    if draw.random() < 0.5 or not tree.body:
        return "".join(lines) + f"\n{statement}\n"
    return _inserted(lines, draw.choice(tree.body).lineno, statement)


def _word(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    place = draw.randrange(len(lines) + 1)
    return "".join([*lines[:place], draw.choice(["# words\n", "\n", "# torch\n"]), *lines[place:]])


def _docstring(tree: ast.Module, lines: Lines, draw: random.Random) -> str | None:
    """The type of a parameter, as the docstring of a definition or of its class states it."""
    functions = [f for f in _functions(tree) if f.args.args]
    if not functions:
        return None
    function = draw.choice(functions)
    stated = draw.choice(["torch.Tensor", "int", "nn.Module", "np.ndarray"])
    words = f'"""Of it.\n\n    Args:\n        {draw.choice(function.args.args).arg} ({stated}): it\n    """'
    first = function.body[0]
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return _inserted(lines, first.lineno, words)
    indent = lines[first.lineno - 1][: first.col_offset]
    return "".join([*lines[: first.lineno - 1], f"{indent}{words}\n", *lines[first.end_lineno or first.lineno :]])


_EDITS: tuple[Callable[[ast.Module, Lines, random.Random], str | None], ...] = (
    _into_body, _into_body, _out_of_body, _device, _device, _signature, _base, _decorator, _class_attribute, _renamed,
    _removed, _module_level, _module_level, _word, _docstring,
)  # fmt: skip
