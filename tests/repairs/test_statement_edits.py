"""Changes of whole statements as edits of the text: lines inserted, moved and indented."""

from __future__ import annotations

import libcst as cst
import pytest

from devlint.drafts.changes import (
    Change,
    ChooseInBody,
    IndentRest,
    InsertBefore,
    MoveBefore,
)
from tests.repairs.changing import calls, changed

INSERTED = [
    ("a = f(x)\n", "g()\na = f(x)\n"),
    ("if a:\n    b = f(x)  # so\n", "if a:\n    g()\n    b = f(x)  # so\n"),
    ("if a:\n\t# why\n\tb = f(x)", "if a:\n\tg()\n\t# why\n\tb = f(x)"),
    (
        "while a:\r\n    with f(x) as b:\r\n        pass\r\n",
        "while a:\r\n    g()\r\n    with f(x) as b:\r\n        pass\r\n",
    ),
    ("a = [\n    f(x),\n]\n", "g()\na = [\n    f(x),\n]\n"),
    ("b = 1; a = f(x)\n", "g()\nb = 1; a = f(x)\n"),
    ("# kept\n\n# why\na = f(x)\n", "# kept\n\ng()\n# why\na = f(x)\n"),
]


@pytest.mark.parametrize(("before", "after"), INSERTED, ids=[before for before, _ in INSERTED])
def test_a_line_before_the_statement(before: str, after: str) -> None:
    assert changed(before, calls("f", lambda call: InsertBefore(call, "g()"))) == after


def test_lines_that_go_deeper() -> None:
    text = "def h():\n  a = f(x)\n"
    after = "def h():\n  if b:\n    g()\n  a = f(x)\n"
    assert changed(text, calls("f", lambda call: InsertBefore(call, "if b:\n\tg()"))) == after


@pytest.mark.parametrize("text", ["if a: b = f(x)\n", "@f(x)\ndef g(): pass\n", "def g(a=f(x)): pass\n"])
def test_no_line_before_what_has_none_of_its_own(text: str) -> None:
    assert changed(text, calls("f", lambda call: InsertBefore(call, "g()"))) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("first()\nb()\nlast()\nc()\n", "last()\nfirst()\nb()\nc()\n"),
        ("if a:\n    # why\n    first()\n    last()  # so\n", "if a:\n    last()  # so\n    # why\n    first()\n"),
        ("first()\r\nlast(\r\n    1\r\n)\r\n", "last(\r\n    1\r\n)\r\nfirst()\r\n"),
        ("first()\nlast()", "last()\nfirst()\n"),
        ("first()\nb(); last()\n", None),
        ("first()\nif a:\n    last()\n", None),
        ("first()\nif a: last()\n", None),
    ],
)
def test_a_statement_goes_before_another(before: str, after: str | None) -> None:
    found: dict[str, cst.Name] = {}

    def move(node: cst.CSTNode) -> Change | None:
        if isinstance(node, cst.Name):
            found[node.value] = node
        return MoveBefore(node, found["first"]) if isinstance(node, cst.Name) and node.value == "last" else None

    assert changed(before, move) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def g():\n    f()\n    a()\n\n    # b\n    b(\n        1\n    )\n\nc()\n",
            "def g():\n    with w:\n        a()\n\n        # b\n        b(\n            1\n        )\n\nc()\n",
        ),
        ("def g():\n\tf()  # so\n\tif a:\n\t\tb()\n", "def g():\n\twith w:  # so\n\t\tif a:\n\t\t\tb()\n"),
        ("def g():\n    f()\n    a = 'x\\\n  y'\n", None),
        ("def g():\n    f()\n    a = f'''{b}\n'''\n", None),
        ("def g():\n    a()\n    f()\n", None),
        ("def g():\n    f(); a()\n    b()\n", None),
        ("f()\na()\n", None),
    ],
)
def test_the_rest_of_a_block_goes_deeper(before: str, after: str | None) -> None:
    assert changed(before, calls("f", lambda call: IndentRest(call, "with w:"))) == after
    compile(after or before, "after", "exec")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def g(d=f(1)):\n    return d\n", "def g(d=None):\n    if d is None:\n        d = f(1)\n    return d\n"),
        (
            "def g(d: D = (f(1)), e=2):\n  'doc'\n  return d\n",
            "def g(d: D | None = None, e=2):\n  'doc'\n  if d is None:\n    d = (f(1))\n  return d\n",
        ),
        (
            "def g(d: Optional[D] = f(1)):\n    return d\n",
            "def g(d: Optional[D] = None):\n    if d is None:\n        d = f(1)\n    return d\n",
        ),
        ("def g(d=f(1)): return d\n", None),
        ("def g(d=f(1)):\n    'doc'\n", None),
        ("class C:\n    def g(self, d=f(1)):\n        return d\n", None),
        ("g = lambda d=f(1): d\n", None),
    ],
)
def test_a_default_is_chosen_in_the_body(before: str, after: str | None) -> None:
    assert changed(before, calls("f", ChooseInBody)) == after
