"""Small questions about nodes."""

from __future__ import annotations

import libcst as cst
import pytest

from devlint.placement.syntax.nodes import (
    LEAVES,
    code_of,
    decorator_names,
    descend,
    dotted,
    inner_nodes,
    literal,
    parameters_of,
    path_of,
    semantic_children,
)


def expression(text: str) -> cst.BaseExpression:
    return cst.parse_expression(text)


@pytest.mark.parametrize(("text", "name"), [("a", "a"), ("a.b.c", "a.b.c"), ("a().b", None), ("a[0].b", None)])
def test_dotted_names(text: str, name: str | None) -> None:
    assert dotted(expression(text)) == name


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("x", "x"),
        ("self.w", "self.w"),
        ("batch['x']", "batch['x']"),
        ('batch["x"]', "batch['x']"),
        ("pair[0].y", "pair[0].y"),
        ("x[i]", None),
        ("x[1:2]", None),
        ("x[0, 1]", None),
        ("f().y", None),
        ("f()[0]", None),
    ],
)
def test_places_that_can_be_read_back_have_a_path(text: str, path: str | None) -> None:
    assert path_of(expression(text)) == path


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a'", "a"),
        ("'a' 'b'", "ab"),
        ("1_000", 1000),
        ("0x1F", 31),
        ("1_0.5", 10.5),
        ("-1", -1),
        ("-2.5", -2.5),
        ("None", None),
        ("True", True),
    ],
)
def test_literals_have_values(text: str, value: object) -> None:
    assert literal(expression(text)) == value


@pytest.mark.parametrize("text", ["x", "f()", "-x", "+1", "-'a'", "[1]"])
def test_other_expressions_are_no_literals(text: str) -> None:
    with pytest.raises(ValueError, match="not a literal"):
        literal(expression(text))


def test_code_is_on_one_line() -> None:
    assert code_of(expression("f(\n    a,\n    b\n)")) == "f( a, b )"


def test_descent_follows_the_source_and_stops_at_definitions() -> None:
    tree = cst.parse_module("a = b\ndef f(c):\n    d\ne\n")
    names = [node.value for node in descend(tree) if isinstance(node, cst.Name)]
    assert names == ["a", "b", "f", "c", "d", "e"]
    outside = [node.value for node in descend(tree, into_definitions=False) if isinstance(node, cst.Name)]
    assert outside == ["a", "b", "e"]


def test_descent_into_a_deep_tree_keeps_its_own_stack() -> None:
    tree = cst.parse_expression(" + ".join(["x"] * 2500))
    assert sum(isinstance(node, cst.Name) for node in descend(tree)) == 2500


def test_parameters_stand_in_call_order_without_those_that_collect() -> None:
    function = cst.parse_statement("def f(a, /, b, *rest, c, **more): pass\n")
    assert isinstance(function, cst.FunctionDef)
    assert [parameter.name.value for parameter in parameters_of(function)] == ["a", "b", "c"]


def test_decorators_are_named_without_their_arguments() -> None:
    function = cst.parse_statement("@a.b(1)\n@c\n@d[0]\ndef f(): pass\n")
    assert isinstance(function, cst.FunctionDef)
    assert decorator_names(function) == ("a.b", "c", "")


WALKED = """
def f(x, *, device=None):
    total: int = -1 + x.size(0)
    for name in sorted(x, key=lambda one: one.name):
        total += f"{name!r:>4} of {total}" if name not in x[1:, ...] else x @ x.T
    return total
"""


@pytest.mark.parametrize("into_definitions", [True, False])
def test_inner_nodes_are_all_but_the_leaves(into_definitions: bool) -> None:
    tree = cst.parse_module(WALKED)
    inner = inner_nodes(tree, into_definitions=into_definitions)
    every = list(descend(tree, into_definitions=into_definitions))
    assert [node for node in inner if type(node) not in LEAVES] == [node for node in every if type(node) not in LEAVES]
    assert len(inner) < len(every) / 1.5 or not into_definitions


def test_leaves_hold_no_nodes() -> None:
    operators = cst.parse_module("a + b - c * d / e // f % g ** h @ i << j >> k & l | m ^ n\na is not b not in c != ~d")
    leaves = [node for tree in (cst.parse_module(WALKED), operators) for node in descend(tree) if type(node) in LEAVES]
    assert leaves
    assert not any(map(semantic_children, leaves))
