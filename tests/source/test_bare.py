"""Bare trees are LibCST's own without their layout: the same types, the same fields, the same values."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import email
import importlib
import json
import logging
from pathlib import Path

import libcst as cst
import pytest

from devlint.placement.syntax.nodes import body_of, code_of, descend, literal, semantic_children
from devlint.placement.syntax.positions import Positions
from devlint.source.bare.lazy_parser import BareLazyParser
from devlint.source.bare.nodes import NeedsLayout, is_bare
from devlint.source.bare.statements import module
from devlint.source.lazy_parser import LazyParser
from devlint.source.outline import outline_of
from devlint.source.part import Part

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.py"))[1::2]
LIBRARY = [
    Path(file)
    for package in (asyncio, email, json, logging, importlib)
    for file in sorted(Path(str(package.__file__)).parent.glob("*.py"))
] + [Path(str(module.__file__)) for module in (ast, dataclasses)]

EVERYTHING = '''
"""Every kind of statement and expression."""
from __future__ import annotations
import a.b.c, d as e
from . import f
from ..g.h import i as j, k
from m import *
x: int = 1
y: str
x, *rest = first = 0x1F, 1_000, 1e-5, 2j, ..., None, True
x += 1; y //= 2
del x
del y, rest[0]
assert x, "told"
raise E from cause
global_value = not -x ** ~y if a < b <= c is not d not in e else (lambda p, /, q=1, *r, s, t=2, **u: p)
z = a and b and c or d
w = a @ b % c << d >> e & f | g ^ h // i - j
n = x[1], x[1:2], x[::2], x[..., None], x[(1, 2)], x[1, 2:3], x[()], x[a,]
s = "plain" 'quotes "inside"', b"", b"\\x00", r"\\d", "two" "parts"
t = f"cuda:{rank!r:>{width}} {{}} {value}"
call(a, *b, c=1, *d, **e)
call(g for g in gs if g if not g)
m = [i async for i in j], {k: v for k, v in l}, {s for s in t for u in s}, (yield), (await z)
o = {**a, "b": c}, {*a, b}, [*a, b], ()
if (named := x) > 1:
    pass
elif y: x = 1; y = 2
else:
    if z:
        pass
for i, j in k:
    continue
else:
    pass
while True:
    break
else:
    pass
with a as b, c, d as (e, f): pass
async def g():
    async for a in b: yield a
    async with a as b: return
    yield from c
try:
    pass
except A as b:
    pass
except (C, D):
    pass
else:
    pass
finally:
    pass
try:
    pass
except* A as b:
    pass
match a:
    case 1 | "b" | -2: pass
    case [x, *rest, _] if x: pass
    case {"k": v, **others}: pass
    case Point(1, y=z): pass
    case a.b: pass
    case None: pass
    case (p, q) as both: pass
    case _: pass
@decorator(1)
class Child(Base, *more, metaclass=Meta, **kw):
    def method(self, a: int = 1, /, *args: str, b, c: int = 2, **kwargs) -> None:
        global u, v
        def inner():
            nonlocal a
        return
    @property
    async def other(self): return 1
'''

EXPRESSIONS = [
    "a.b.c", "x[0]", "x[1:2, ::3]", "f(a, *b, c=1, **d)", "a + b * c", "(a + b) * c", "a - (b - c)", "-x ** 2",
    "(-x) ** 2", "(a ** b) ** c", "a ** b ** c", "a ** -b", "not a", "a and (b or c)", "a < b <= c", "(a < b) == c",
    "x if y else z", "(x if y else z).w", "lambda a, *b, c=1: a", "f(lambda: x)", "[a, *b]", "{a: b, **c}", "{a, b}",
    "(a,)", "(a, b)", "f(x for x in y if z)", "[x for x in y for z in x]", "{k: v for k, v in y}", "(await x).y",
    'f"cuda:{rank}"', "x is not None", "a not in b", "(a := b)", "x.to(a)[0].b()", "a @ b", "~a | b", '"cuda"', "1",
    "1.5", "...", "a[b, c]", "f(*[a])[None]",
]  # fmt: skip


def bare(text: str) -> cst.Module:
    return module(ast.parse(text).body, {}, {})


def flat(node: cst.CSTNode) -> object:
    """A node as what it says: its type, its children and its value; how its lines are laid out does not count."""
    if _is_formatted(node):
        return "formatted", [flat(part) for part in _expressions(node)]
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString, cst.Integer, cst.Float)):
        return "literal", literal(node)
    if isinstance(node, cst.Imaginary):
        return "literal", complex(node.value)
    if isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)):
        return "block", [flat(statement) for statement in body_of(node)]
    kind = "sequence pattern" if isinstance(node, (cst.MatchList, cst.MatchTuple)) else type(node).__name__
    star = node.star if isinstance(node, (cst.Arg, cst.Param)) else ""
    value = node.value if isinstance(node, cst.Name) else ""
    # What stands between the arms of a pattern, or behind its last, is punctuation.
    children = [child for child in semantic_children(node) if not (kind.startswith("Match") and _separates(child))]
    return kind, star, value, [flat(child) for child in children]


def _separates(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.BitOr, cst.Comma))


def _is_formatted(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.ConcatenatedString):
        return _is_formatted(node.left) or _is_formatted(node.right)
    return isinstance(node, cst.FormattedString)


def _expressions(node: cst.CSTNode) -> list[cst.CSTNode]:
    """What is computed in a formatted string."""
    if isinstance(node, cst.ConcatenatedString):
        return _expressions(node.left) + _expressions(node.right)
    parts = node.parts if isinstance(node, cst.FormattedString) else []
    return [part.expression for part in parts if isinstance(part, cst.FormattedStringExpression)]


def test_every_kind_of_syntax_says_the_same() -> None:
    assert flat(bare(EVERYTHING)) == flat(cst.parse_module(EVERYTHING))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_files_that_nobody_wrote_for_this_say_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert flat(bare(text)) == flat(cst.parse_module(text))


def test_fixtures_say_the_same() -> None:
    read = 0
    for path in FIXTURES:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        try:
            own = cst.parse_module(text)
            made = bare(text)
        except (SyntaxError, ValueError, cst.ParserSyntaxError):
            continue
        assert flat(made) == flat(own), path
        read += 1
    assert read > 250


@pytest.mark.parametrize("keeps", [False, True])
def test_a_file_comes_in_the_same_parts(keeps: bool) -> None:
    for path in FIXTURES[::7]:
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        outline = outline_of(tree)
        made, own = BareLazyParser(text, tree, outline, keeps), LazyParser(text, outline)
        skeleton = own.skeleton()
        assert isinstance(skeleton, cst.Module)
        for definition in outline.definitions:
            whole = own.definition(definition.number)
            assert whole is not None
            assert flat(made.definition(definition.number)) == flat(whole), path


@pytest.mark.parametrize("code", EXPRESSIONS)
def test_an_expression_is_written_as_a_formatter_would(code: str) -> None:
    statement = next(iter(body_of(bare(code))))
    assert isinstance(statement, cst.Expr)
    assert code_of(statement.value) == code


@pytest.mark.parametrize("code", ["x = y = f(1)", "x[0] += 1", "x: int = 1", "x: int", "return x", "return", "f(x)"])
def test_a_simple_statement_is_written_as_a_formatter_would(code: str) -> None:
    assert code_of(next(iter(body_of(bare(code))))) == code


@pytest.mark.parametrize("code", EXPRESSIONS)
def test_what_is_written_means_the_same(code: str) -> None:
    statement = next(iter(body_of(bare(f"f({code})"))))
    assert isinstance(statement, cst.Expr)
    assert ast.dump(ast.parse(code_of(statement.value))) == ast.dump(ast.parse(f"f({code})"))


def test_a_bare_node_is_told_from_one_with_layout() -> None:
    for make, expected in ((bare, True), (cst.parse_module, False)):
        tree = make("@d\nclass C(B):\n    def f(self, x: int = 1):\n        return x[0].to(device='cpu') + 1\n")
        # Parameters as such have no layout, their commas have.
        nodes = [node for node in descend(tree) if not isinstance(node, (cst.Module, cst.Parameters))]
        assert {is_bare(node) for node in nodes} == {expected}


def test_a_question_about_layout_has_no_answer() -> None:
    tree = bare("x = f(1)\n")
    with pytest.raises(AttributeError):
        tree.code_for_node(tree.body[0])
    with pytest.raises(NeedsLayout):
        Positions([Part(cst.parse_module("x = f(1)\n"))], "net.py").place(tree.body[0])


def test_what_ast_may_learn_some_day_is_left_to_libcst() -> None:
    class Strange(ast.stmt):
        pass

    with pytest.raises(NeedsLayout):
        module([Strange()], {}, {})
