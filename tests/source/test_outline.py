"""What ast says of a file by names, and the parsing of its definitions one by one."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from textwrap import dedent

import libcst as cst
import pytest

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.index import FileIndex, index_file
from devlint.placement.declarations.self_attributes import own_names
from devlint.placement.syntax.nodes import descend
from devlint.placement.syntax.positions import Positions
from devlint.source.gate import Refusal
from devlint.source.lazy_parser import LazyParser
from devlint.source.outline import Outline, outline_of
from devlint.source.part import Part

REPOSITORY = Path(__file__).parents[2]
FILES = sorted((REPOSITORY / "fixtures").rglob("*.py"))[::2]


def parted(text: str) -> tuple[LazyParser, cst.Module, Outline]:
    outline = outline_of(ast.parse(text))
    parts = LazyParser(text, outline)
    tree = parts.skeleton()
    assert not isinstance(tree, Refusal)
    return parts, tree, outline


def indexed(text: str) -> FileIndex:
    parts, tree, outline = parted(text)
    return index_file(tree, outline, parts.definition)


def texts() -> list[tuple[Path, str]]:
    found = []
    for path in FILES:
        text = path.read_bytes().decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        found.append((path, text))
    return found


def single(index: FileIndex) -> list[FunctionInfo]:
    """The definitions whose qualified name no other has."""
    names = Counter(info.qualname for info in index.functions.values())
    return [info for info in index.functions.values() if names[info.qualname] == 1]


def test_the_two_readings_of_a_file_agree() -> None:
    seen = 0
    for path, text in texts():
        outlined, whole = indexed(text), index_file(cst.parse_module(text))
        for name in ("imports", "rebound", "stars", "bound", "defined"):
            assert getattr(outlined, name) == getattr(whole, name), (path, name)
        for name in ("read_names", "indirect"):  # LibCST has a Name for None, where ast has a constant
            assert getattr(outlined, name) == getattr(whole, name) - {"None", "True", "False"}, (path, name)
        functions = {info.qualname: info for info in outlined.functions.values()}
        for info in single(whole):
            other = functions.get(info.qualname)
            if other is None or other.outlined is None:
                continue
            seen += 1
            assert other.own == own_names(info.node), (path, info.qualname)
            assert other.is_generator == info.is_generator, (path, info.qualname)
            assert other.places_itself == info.places_itself, (path, info.qualname)
            assert other.gives_none == info.gives_none, (path, info.qualname)
    assert seen > 1000


def test_what_a_definition_returns_is_not_what_those_inside_of_it_return() -> None:
    text = dedent(
        """
        def inner_only():
            def inside():
                return 1
            for item in inside():
                return
        async def deep(x):
            try:
                pass
            except* ValueError:
                with x:
                    match x:
                        case 1:
                            while x:
                                return 1
        def at_last(x):
            if x:
                pass
            elif x.y:
                pass
            else:
                class Inside:
                    def method(self):
                        return 2
        """
    )
    returns = [definition.returns for definition in outline_of(ast.parse(text)).definitions]
    assert returns == [False, True, False]


def test_a_definition_is_the_same_whether_it_is_parsed_alone_or_with_its_file() -> None:
    for path, text in texts():
        whole = index_file(cst.parse_module(text))
        mine = indexed(text)
        for info in list(mine.functions.values()):
            assert info.node is info.node, path
        by_name = {info.qualname: info for info in mine.functions.values()}
        assert {info.qualname for info in whole.functions.values()} == set(by_name), path
        assert {info.qualname for info in whole.classes.values()} == {c.qualname for c in mine.classes.values()}, path
        for info in single(whole):
            kinds = [type(node) for node in descend(info.node)]
            assert kinds == [type(node) for node in descend(by_name[info.qualname].node)], (path, info.qualname)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_node_keeps_its_place(end: str) -> None:
    text = end.join(
        [
            "import torch",
            "@torch.no_grad()",
            "def first(x,",
            "          y):",
            '    """Two',
            '    lines."""',
            "    return x + y",
            "class Net:",
            "\t@staticmethod",
            "\tdef second(z):",
            "\t\tdef inner(): return z * 2",
            "\t\treturn inner",
            "\tasync def third(self): await self.second(1); return 3",
            "if torch:",
            "    def fourth(): # a comment",
            "        # another",
            "        return 'ä' + torch.name",
        ]
    )
    whole = cst.parse_module(text)
    expected = {
        cst.Module([]).code_for_node(node): Positions([Part(whole)], "a.py").place(node)
        for node in descend(whole)
        if isinstance(node, (cst.BinaryOperation, cst.Await))
    }
    parts, tree, outline = parted(text)
    index = index_file(tree, outline, parts.definition)
    for info in list(index.functions.values()):
        assert info.node is not None
    positions = Positions(parts.parsed, "a.py")
    found = {
        cst.Module([]).code_for_node(node): positions.place(node)
        for part in parts.parsed
        for node in descend(part.tree)
        if isinstance(node, (cst.BinaryOperation, cst.Await))
    }
    assert found == expected
    assert len(found) == 4


def test_a_skeleton_has_the_signatures_and_none_of_the_bodies() -> None:
    text = dedent(
        '''
        def f(a, b=zeros(1)):
            return hidden(a)

        class C(Base):
            size = 3

            def m(self) -> Tensor:
                """Said."""
                self.x = hidden(1)
        '''
    )
    _, tree, outline = parted(text)
    assert "hidden" not in tree.code
    assert "def f(a, b=zeros(1)):" in tree.code
    assert "size = 3" in tree.code
    assert outline.definitions[1].own.stored == {"x"}


def test_a_number_that_a_function_holds_is_not_taken_for_a_missing_body() -> None:
    index = indexed("def f(): 0\ndef g():\n    1\n    return 2\n")
    bodies = [cst.Module([]).code_for_node(info.node).strip() for info in index.functions.values()]
    assert bodies == ["def f(): 0", "def g():\n    1\n    return 2"]


def test_what_libcst_refuses_alone_stays_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, tree, outline = parted("def f(a):\n    return a\n")
    index = index_file(tree, outline, lambda number: None)
    (info,) = index.functions.values()
    assert info.node is info.header
    assert parts.definition(0) is not None
