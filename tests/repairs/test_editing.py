"""Changes inside of a statement as edits of the text: each kind on both sides, in every layout that people write."""

from __future__ import annotations

import libcst as cst
import pytest

from devlint.drafts.changes import (
    AssignResult,
    Change,
    DropArgument,
    DropCall,
    RegisterBuffer,
    Replace,
    ReturnAtEnd,
    SetArgument,
    Suffix,
    Surround,
    TransferTo,
    WrapStored,
)
from devlint.placement.syntax.nodes import code_of, descend
from devlint.placement.syntax.positions import Positions
from devlint.repairs.editing import Editor
from devlint.source.part import Part
from tests.repairs.changing import calls, changed, expressions

ADDED = [
    ("f()", "f(device=d)"),
    ("f(a)", "f(a, device=d)"),
    ("f(a,)", "f(a, device=d,)"),
    ("f(a, *b)", "f(a, *b, device=d)"),
    ("f(a, dtype=t)", "f(a, dtype=t, device=d)"),
    ("f(a, device=None)", "f(a, device=d)"),
    ("f(device = None, dtype=t)", "f(device = d, dtype=t)"),
    ("f(a, device=(None))", "f(a, device=d)"),
    ("f(x for x in y)", "f((x for x in y), device=d)"),
    ("f((x for x in y))", "f((x for x in y), device=d)"),
    ("f(a)(b); g(1)", "f(a, device=d)(b); g(1)"),
    ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    device=d,\n)"),
    ("f(\n    a,\n    b\n)", "f(\n    a,\n    b,\n    device=d\n)"),
    ("f(\n    a,  # one\n    b,  # two\n)", "f(\n    a,  # one\n    b,  # two\n    device=d,\n)"),
    ("f(\n    a  # one\n)", "f(\n    a,  # one\n    device=d\n)"),
    ("f(\n    a,\n    # no more\n)", "f(\n    a,\n    device=d,\n    # no more\n)"),
    ("f(a,\n  b)", "f(a,\n  b, device=d)"),
    ("f(a,\n  b  # last\n)", "f(a,\n  b,  # last\n  device=d\n)"),
    ("f(\n    a, b\n)", "f(\n    a, b, device=d\n)"),
    ("f(\r\n    a,\r\n)\r\n", "f(\r\n    a,\r\n    device=d,\r\n)\r\n"),
    ("f(\n\ta,\n)", "f(\n\ta,\n\tdevice=d,\n)"),
    ("s = 'é文𝕏'; f('ü', a)  # ö", "s = 'é文𝕏'; f('ü', a, device=d)  # ö"),
    ("x = 1\n\x0cy = f(2)\n", "x = 1\n\x0cy = f(2, device=d)\n"),
    ("\x0c\nif 1:\n\x0c    y = f(2)\n    z = g(3)\n", "\x0c\nif 1:\n\x0c    y = f(2, device=d)\n    z = g(3)\n"),
    ("x = 1\r\ry = f(2)\r", "x = 1\r\ry = f(2, device=d)\r"),
]


@pytest.mark.parametrize(("before", "after"), ADDED, ids=[before for before, _ in ADDED])
def test_an_argument_is_added_or_replaced(before: str, after: str) -> None:
    assert changed(before, calls("f", lambda call: SetArgument(call, "device", "d"))) == after
    compile(after, "after", "exec")


def test_an_argument_is_not_added_beside_unpacked_keywords() -> None:
    assert changed("f(a, **options)", calls("f", lambda call: SetArgument(call, "device", "d"))) is None


SUFFIXES = [
    ("y = x", "x", "y = x.cpu()"),
    ("y = a + b", "a + b", "y = (a + b).cpu()"),
    ("y = (a + b)", "(a + b)", "y = (a + b).cpu()"),
    ("y = ((a))", "((a))", "y = ((a)).cpu()"),
    ("y = (  # why\n    a + b  # sum\n)", "( # why a + b # sum )", "y = (  # why\n    a + b  # sum\n).cpu()"),
    ("y = -x", "-x", "y = (-x).cpu()"),
    ("y = f(a)[0].b", "f(a)[0].b", "y = f(a)[0].b.cpu()"),
    ("y = [a, b]", "[a, b]", "y = [a, b].cpu()"),
    ("y = a if b else c", "a if b else c", "y = (a if b else c).cpu()"),
    ("async def f():\n    return await g()", "await g()", "async def f():\n    return (await g()).cpu()"),
    ("y = 1", "1", "y = (1).cpu()"),
    ("y = a @ b.c", "b.c", "y = a @ b.c.cpu()"),
    ("f(lambda: a)", "lambda: a", "f((lambda: a).cpu())"),
    ("y = (\n    a\n    .b()\n)", "( a .b() )", "y = (\n    a\n    .b()\n).cpu()"),
]


@pytest.mark.parametrize(("before", "code", "after"), SUFFIXES, ids=[before for before, *_ in SUFFIXES])
def test_a_method_is_called_on_an_expression(before: str, code: str, after: str) -> None:
    assert changed(before, expressions(code, lambda node: Suffix(node, ".cpu()"))) == after
    compile(after, "after", "exec")


DROPPED = [
    ("f(a, v)", "f(a)"),
    ("f(a, v, b)", "f(a, b)"),
    ("f(v)", "f()"),
    ("f(v,)", "f()"),
    ("f(v, a)", "f(a)"),
    ("f(a, k=v)", "f(a)"),
    ("f(a, k=v,)", "f(a,)"),
    ("f(\n    a,\n    k=v,\n)", "f(\n    a,\n)"),
    ("f(a,  # why\n  v)", None),
]


@pytest.mark.parametrize(("before", "after"), DROPPED, ids=[before for before, _ in DROPPED])
def test_an_argument_is_removed_with_its_comma_and_no_comment(before: str, after: str | None) -> None:
    def drop(call: cst.Call) -> Change:
        value = next(argument.value for argument in call.args if code_of(argument.value) == "v")
        return DropArgument(call, value)

    assert changed(before, calls("f", drop)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.cpu()", "y = x"),
        ("y = f(a).cpu().g()", "y = f(a).g()"),
        ("y = (a + b).cpu()", "y = (a + b)"),
        ("y = (\n    a\n    .cpu()\n)", "y = (\n    a\n)"),
        ("y = (a  # why\n    .cpu()\n)", None),
    ],
)
def test_a_call_is_dropped(before: str, after: str | None) -> None:
    assert changed(before, calls(".cpu", DropCall)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.cuda()", "x.to(d)"),
        ("x.cuda(0)", "x.to(d)"),
        ("x.cuda(None, True)", "x.to(d, True)"),
        ("x.cuda(device=0, non_blocking=True)", "x.to(device=d, non_blocking=True)"),
        ("x.cuda(non_blocking=True)", "x.to(d, non_blocking=True)"),
        ("x.cuda(*a)", None),
    ],
)
def test_a_transfer_names_its_device(before: str, after: str | None) -> None:
    assert changed(before, calls(".cuda", lambda call: TransferTo(call, "d"))) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x):\n    x.cuda()\n", "def f(x):\n    x = x.cuda()\n"),
        ("def f(x):\n    a = 1; x.cuda(); b = 2  # two\n", "def f(x):\n    a = 1; x = x.cuda(); b = 2  # two\n"),
        ("def f(x): x.cuda()", "def f(x): x = x.cuda()"),
        ("def f(x):\n    (x.cuda())\n", "def f(x):\n    x = (x.cuda())\n"),
        ("def f():\n    self.a.cuda()\n", "def f():\n    self.a = self.a.cuda()\n"),
        ("def f():\n    a['k'].cuda()\n", "def f():\n    a['k'] = a['k'].cuda()\n"),
        ("x = 1\nx.cuda()\n", "x = 1\nx = x.cuda()\n"),
        # A name of the module would become the function's own, and unbound.
        ("x = 1\ndef f():\n    x.cuda()\n", None),
        ("x = 1\ndef f():\n    global x\n    x.cuda()\n", "x = 1\ndef f():\n    global x\n    x = x.cuda()\n"),
        ("def f():\n    for x in y:\n        x.cuda()\n", "def f():\n    for x in y:\n        x = x.cuda()\n"),
        ("def f(x):\n    return x.cuda()\n", None),
    ],
)
def test_a_result_is_kept_under_the_name_of_what_was_moved(before: str, after: str | None) -> None:
    def keep(call: cst.Call) -> Change:
        return AssignResult(call, cst.ensure_type(call.func, cst.Attribute).value)

    assert changed(before, calls(".cuda", keep)) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def to(self, d):\n    self.x = d\n", "def to(self, d):\n    self.x = d\n    return self\n"),
        (
            "def to(self, d):\n    self.x = d  # x\n\ny = 1\n",
            "def to(self, d):\n    self.x = d  # x\n    return self\n\ny = 1\n",
        ),
        ("def to(self, d): self.x = d", "def to(self, d): self.x = d; return self"),
        ("def to(self, d): self.x = d; self.y = d;\n", "def to(self, d): self.x = d; self.y = d; return self;\n"),
        (
            "class A:\n\tdef to(self, d):\r\n\t\tif d:\r\n\t\t\treturn\r\n\t\telse:\r\n\t\t\tself.x = d\r\n",
            "class A:\n\tdef to(self, d):\r\n\t\tif d:\r\n\t\t\treturn self\r\n"
            "\t\telse:\r\n\t\t\tself.x = d\r\n\t\treturn self\r\n",
        ),
        ("def to(self, d):\n    self.x = d\n    return None", "def to(self, d):\n    self.x = d\n    return self"),
        (
            "def to(self, d):\n    def g():\n        return\n    g()\n",
            "def to(self, d):\n    def g():\n        return\n    g()\n    return self\n",
        ),
    ],
)  # fmt: skip
def test_a_method_ends_with_a_return(before: str, after: str | None) -> None:
    def find(node: cst.CSTNode) -> Change | None:
        mine = isinstance(node, cst.FunctionDef) and node.name.value == "to"
        return ReturnAtEnd(cst.ensure_type(node, cst.FunctionDef), "self") if mine else None

    assert changed(before, find) == after


MODULE = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.x = torch.ones(3)  # x", 'self.register_buffer("x", torch.ones(3), persistent=False)  # x'),
        ("self.x: Tensor = torch.ones(3)", 'self.register_buffer("x", torch.ones(3), persistent=False)'),
        ("self.x = (\n    a + b\n)", 'self.register_buffer("x", (\n    a + b\n), persistent=False)'),
        ("self.x = self.y = torch.ones(3)", None),
        ("self.x = torch.ones(3); self.x = torch.zeros(3)", None),
        ("self.x, b = torch.ones(3)", None),
        ("other.x = torch.ones(3)", None),
    ],
)  # fmt: skip
def test_an_attribute_becomes_a_buffer(before: str, after: str | None) -> None:
    def find(node: cst.CSTNode) -> Change | None:
        return RegisterBuffer(node) if isinstance(node, cst.Attribute) and node.attr.value == "x" else None

    assert changed(MODULE.format(before), find) == (MODULE.format(after) if after else None)


@pytest.mark.parametrize(
    "text",
    [
        "class Net(nn.Module):\n    def __init__(self):\n        self.x = 1\n        super().__init__()\n",
        "class Net(nn.Module):\n    x = 0\n    def __init__(self):\n        super().__init__()\n        self.x = 1\n",
        "class Net(nn.Module):\n    def setup(self):\n        self.x = 1\n",
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.x = 1\n"
        "    def x(self): ...\n",
    ],
)
def test_an_attribute_stays_where_register_buffer_would_refuse_it(text: str) -> None:
    found = [node for node in descend(cst.parse_module(text)) if isinstance(node, cst.Attribute)]
    assert any(node.attr.value == "x" for node in found)

    def find(node: cst.CSTNode) -> Change | None:
        return RegisterBuffer(node) if isinstance(node, cst.Attribute) and node.attr.value == "x" else None

    assert changed(text, find) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self.xs = [a, b]", "self.xs = nn.ModuleList([a, b])"),
        ("self.xs: list = [\n    a,\n]", "self.xs: list = nn.ModuleList([\n    a,\n])"),
        ("self.xs = (a, b)", "self.xs = nn.ModuleList((a, b))"),
        ("self.xs = a, b", None),
        ("self.xs = y = []", None),
    ],
)
def test_what_is_stored_is_wrapped(before: str, after: str | None) -> None:
    def find(node: cst.CSTNode) -> Change | None:
        return (
            WrapStored(node, "nn.ModuleList(") if isinstance(node, cst.Attribute) and node.attr.value == "xs" else None
        )

    assert changed(before, find) == after


def test_text_goes_around_a_node_and_in_its_place() -> None:
    assert changed("if p.q: pass", expressions("p.q", lambda node: Surround(node, after="()"))) == "if p.q(): pass"
    assert changed("f((a), 'b')", expressions("'b'", lambda node: Replace(node, "'c'"))) == "f((a), 'c')"


def test_changes_that_overlap_are_not_made() -> None:
    text = "f(a)"
    assert changed(text, calls("f", lambda c: Replace(c, "g")), expressions("a", lambda n: Replace(n, "b"))) is None


def test_a_node_of_another_text_is_not_changed() -> None:
    tree = cst.parse_module("f(a)")
    editor = Editor("f(a)", Positions([Part(tree)], "a.py"))
    assert editor.edits([Replace(cst.Name("a"), "b")]) == ()
