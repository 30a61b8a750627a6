"""What a name is bound to where a fix would write it."""

from __future__ import annotations

from textwrap import indent

import libcst as cst
import pytest

from devlint.placement.syntax.nodes import code_of, descend
from devlint.repairs.bound_names import bound_in, is_dereferenced_before, is_untouched, stays_bound


def function(body: str, parameters: str = "x") -> tuple[cst.FunctionDef, cst.CSTNode]:
    """A function, and the call of `make` in it."""
    tree = cst.parse_module(f"def f({parameters}):\n{indent(body, '    ')}\n")
    definition = cst.ensure_type(tree.body[0], cst.FunctionDef)
    at = next(n for n in descend(definition) if isinstance(n, cst.Call) and code_of(n.func) == "make")
    return definition, at


@pytest.mark.parametrize(
    ("body", "untouched"),
    [
        ("y = make()", True),
        ("x = make()", True),  # bound after its value is there
        ("y = make()\nx = 1", True),
        ("x = g(x)\ny = make()", False),
        ("x, z = g()\ny = make()", False),
        ("x += make()", True),
        ("x += 1\ny = make()", False),
        ("if g(): x = 1\ny = make()", False),
        ("for x in g():\n    make()", False),
        ("for i in g():\n    make()\n    x = 1", False),
        ("while g():\n    y = make()\n    x = y", False),
        ("with g() as x:\n    make()", False),
        ("y = (x := 1)\nmake()", False),
        ("del x\nmake()", False),
        ("import x\nmake()", False),
        ("try: pass\nexcept E as x: pass\nmake()", False),
        ("match g():\n    case [x]: pass\nmake()", False),
        ("def x(): pass\nmake()", False),
        ("x.a = 1\nx[0] = 2\nmake()", True),
        ("def g():\n    x = 1\nmake()", True),
        ("[make() for x in g()]", False),
    ],
)
def test_an_argument_is_what_the_caller_gave(body: str, untouched: bool) -> None:
    assert is_untouched("x", *function(body)) is untouched


@pytest.mark.parametrize(
    ("body", "dereferenced"),
    [
        ("x.size(0)\nmake()", True),
        ("make(x.shape)", True),
        ("make(0, x.size(0))", True),
        ("if x.size(0): pass\nmake()", True),
        ("n = x.size(0) if g() else 1\nmake()", False),
        ("n = g() and x.size(0)\nmake()", False),
        ("if g(): x.size(0)\nmake()", False),
        ("if g():\n    x.size(0)\n    make()", True),
        ("if x.size(0) > 1:\n    make()", True),
        ("if x is None: pass\nelse: make()", False),
        ("for i in x.unbind(): pass\nmake()", True),
        ("f = lambda: x.size(0)\nmake()", False),
        ("[x.size(0) for i in g()]\nmake()", False),
        ("make()\nx.size(0)", False),
        ("with x.g(): pass\nmake()", True),
        ("try:\n    x.size(0)\nexcept E: pass\nmake()", False),
    ],
)
def test_none_would_have_failed_before(body: str, dereferenced: bool) -> None:
    assert is_dereferenced_before("x", *function(body)) is dereferenced


@pytest.mark.parametrize(
    ("body", "settled"),
    [
        ("y = g()\nmake()", True),
        ("make()\ny = g()", False),
        ("y = g()\nmake()\ny = h()", False),
        ("if g(): y = 1\nmake()", False),
        ("for y in g():\n    make()", True),
        ("for i in g():\n    y = h(i)\n    make()", True),
        ("make()", False),
    ],
)
def test_a_local_name_is_bound_before_and_not_after(body: str, settled: bool) -> None:
    assert stays_bound("y", *function(body)) is settled


def test_what_a_function_may_assign_to() -> None:
    own, _ = function("a = make()\nglobal b\nfor c in d: pass\n[e for e in a]\ndel g", "x, *args, **kw")
    assert [name for name in ("x", "args", "kw", "a", "b", "c", "d", "e", "g") if bound_in(name, own)] == [
        "x", "args", "kw", "a", "b", "c",
    ]  # fmt: skip
