"""Small questions about nodes."""

from __future__ import annotations

import libcst as cst
import pytest

from devlint.placement.syntax.nodes import code_of, decorator_names, descend, dotted, literal, parameters_of, path_of


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
