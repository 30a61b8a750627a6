"""What is let through to LibCST."""

from __future__ import annotations

import ast
import itertools
import warnings

import pytest

from devlint.source.gate import (
    MAX_BRACKET_DEPTH,
    MAX_EXPRESSION_TOKENS,
    Refusal,
    check_syntax,
    parse_tree,
    scan_depth,
    too_deep,
)


def test_good_code_passes() -> None:
    tree, refusal = check_syntax("x = 1\n")
    assert tree is not None
    assert refusal is None
    assert too_deep("x = 1\n", tree) is None


def test_a_syntax_error_has_its_place() -> None:
    tree, refusal = check_syntax("x = 1\ny = = 2\n")
    assert tree is None
    assert refusal == Refusal(True, "invalid syntax", 2, 5)


def test_warnings_about_the_code_are_not_devlints() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_syntax("x = '\\d'\nassert (x, 'always')\n")
    assert caught == []


@pytest.mark.parametrize("depth", [MAX_BRACKET_DEPTH, MAX_BRACKET_DEPTH + 1])
def test_nesting_is_bounded(depth: int) -> None:
    assert (scan_depth("(" * depth + ")" * depth) is None) is (depth <= MAX_BRACKET_DEPTH)


@pytest.mark.parametrize(
    "text",
    [
        "x = '" + "[" * 300 + "'\n",
        'x = """\n' + "[\n" * 300 + '"""\n',
        "# " + "[" * 300 + "\n",
        "x = " + "[0]" * 300 + "\n",
        "x = " + "('a'\\\n)" * 300 + "\n",
    ],
)
def test_brackets_that_do_not_nest_are_not_counted(text: str) -> None:
    assert scan_depth(text) is None


def test_a_long_expression_is_refused_at_the_token_that_is_too_much() -> None:
    text = "y = 1\nx = " + "+".join(["a"] * MAX_EXPRESSION_TOKENS) + "\n"
    tree, _ = check_syntax("y = 1\n")
    refusal = too_deep(text, None)
    assert refusal is not None
    assert (refusal.syntax, refusal.line) == (False, 2)
    assert too_deep("y = 1\n", tree) is None


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "1, " * 50_000 + "]\n",
        "x = 1\n" * 20_000,
        "def f():\n" + "    x = g(1)\n" * 5_000,
        "x = '''" + "words " * 20_000 + "'''\n",
        "match x:\n" + "    case 1:\n        pass\n" * 2_000,
        "x = {\n" + "    'a': dict(b=[1, 2], c=f(d)),\n" * 2_000 + "}\n",
        "f(\n" + "    (1, 2),\n" * 2_000 + ")\n",
    ],
)
def test_long_files_of_short_expressions_pass(text: str) -> None:
    tree, refusal = check_syntax(text)
    assert refusal is None
    assert too_deep(text, tree) is None


def test_the_cheap_test_sees_every_long_expression() -> None:
    """The tree spares the token scan only where the scan would find nothing."""
    chain = " + ".join(["a"] * 5_000)
    for template in (
        "x = {}\n",
        "if {}:\n    pass\n",
        "def f(a={}):\n    pass\n",
        "@d({})\nclass A:\n    pass\n",
        "match x:\n    case _ if {}:\n        pass\n",
        "try:\n    pass\nexcept {}:\n    pass\n",
        "for x in y:\n    pass\nelse:\n    {}\n",
    ):
        # A list of as many names has as many characters and a tree that any stack can build.
        text = template.format(chain)
        tree = ast.parse(template.format("[" + ", ".join(["a"] * 6_700) + "]"))
        assert too_deep(text, tree) is not None, template


@pytest.mark.parametrize(
    ("table", "item"),
    [
        *itertools.product(["x = [{}]\n", "f({})\n"], ["{}", "*{}", "f({})", "[{}]", "{{1: {}}}", "g(b=[{}])"]),
        *itertools.product(["x = {{1: 2, {}}}\n", "x: int = {{3: 4, {}}}\n"], ["{}: 5", "6: {}", "**{}", "7: f({})"]),
        ("x = a, {}\n", "{}"),
        ("f(b={})\n", "{}"),
    ],
)
def test_a_long_expression_is_found_in_a_table(table: str, item: str) -> None:
    rows = "1,\n" * 10 if "[" in table else ""
    text = table.format(rows + item.format("(" + " and\n".join(["a"] * 5_000) + ")"))
    assert too_deep(text, ast.parse(text)) is not None


def test_a_null_byte_is_final_because_libcst_would_accept_it() -> None:
    text = "x = 'a\0'\n"
    _, refusal = check_syntax(text)
    assert refusal is not None
    assert refusal.final
    assert not isinstance(parse_tree(text), Refusal)


def test_libcst_errors_come_back_as_refusals() -> None:
    refusal = parse_tree("x = (\n")
    assert isinstance(refusal, Refusal)
    assert refusal.syntax
