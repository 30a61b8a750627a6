"""Places of nodes in the text."""

from __future__ import annotations

import libcst as cst
import libcst.matchers as m

from devlint.placement.syntax.positions import Positions
from devlint.source.part import Part

TEXT = "import torch\n\ny = torch.ones(\n    3,\n)\nif y.any(\n):\n    z = (\n        y + 1\n    ); w = 2\n"


def found(tree: cst.Module, matcher: m.BaseMatcherNode) -> cst.CSTNode:
    return m.findall(tree, matcher)[0]


def test_places_count_lines_and_columns_from_one() -> None:
    tree = cst.parse_module(TEXT)
    place = Positions([Part(tree)], "net.py").place(found(tree, m.Call(func=m.Attribute(attr=m.Name("ones")))))
    assert (place.path, place.line, place.column, place.end_line, place.end_column) == ("net.py", 3, 5, 5, 2)


def test_columns_count_code_points() -> None:
    tree = cst.parse_module("s = 'äöü'; y = f(s)\n")
    assert Positions([Part(tree)], "net.py").place(found(tree, m.Call())).column == 16


def test_a_node_of_another_tree_is_placed_at_the_first_line() -> None:
    positions = Positions([Part(cst.parse_module(TEXT))], "net.py")
    place = positions.place(cst.Name("foreign"), "other.py")
    assert (place.path, place.line, place.column) == ("other.py", 1, 1)


def test_a_snippet_is_the_code_as_a_formatter_would_not_change_it() -> None:
    tree = cst.parse_module(TEXT)
    positions = Positions([Part(tree)], "net.py")
    assert positions.snippet(found(tree, m.Call(func=m.Attribute(attr=m.Name("ones"))))) == "torch.ones(3)"
    assert positions.snippet(found(tree, m.BinaryOperation())) == "y + 1"


def test_the_lines_of_a_statement_are_those_of_its_header_when_it_has_a_body() -> None:
    tree = cst.parse_module(TEXT)
    positions = Positions([Part(tree)], "net.py")
    assert positions.statement_lines(found(tree, m.Call(func=m.Attribute(attr=m.Name("any"))))) == (6, 7)
    assert positions.statement_lines(found(tree, m.BinaryOperation())) == (8, 9, 10)
    assert positions.statement_lines(found(tree, m.Call(func=m.Attribute(attr=m.Name("ones"))))) == (3, 4, 5)


def test_a_module_has_no_statement_around_it() -> None:
    tree = cst.parse_module(TEXT)
    assert Positions([Part(tree)], "net.py").statement_lines(tree) == ()
