"""What of an expression's text survives a formatter."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import libcst as cst
import libcst.matchers as m
import pytest

from devlint.placement.syntax.positions import Positions
from devlint.placement.syntax.snippets import normalised
from devlint.source.part import Part


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ("torch.zeros(\n    1,  # one\n    x.size(1),\n)", "torch.zeros(1, x.size(1))"),
        ("a+b", "a + b"),
        ("a \\\n  + b", "a + b"),
        ("-1", "-1"),
        ("f(a = -1,*args, **kw)", "f(a=-1, *args, **kw)"),
        ("a [ : -1,None ]", "a[:-1, None]"),
        ("x.to('cuda')", 'x.to("cuda")'),
        ("x.to('say \"no\"')", "x.to('say \"no\"')"),
        ("x.to(F'cuda:{i}')", 'x.to(f"cuda:{i}")'),
        ("x.to('# no comment')", 'x.to("# no comment")'),
        ("[x for x in y if not(x)]", "[x for x in y if not (x)]"),
        ("torch.tensor([1.0,2E3])", "torch.tensor([1.0, 2e3])"),
        ("await f(x)", "await f(x)"),
        ("x if y else -1", "x if y else -1"),
    ],
)
def test_one_text_stands_for_all_its_layouts(code: str, key: str) -> None:
    assert normalised(code) == key
    assert normalised(key) == key


@pytest.mark.parametrize(("one", "other"), [("a + b", "a - b"), ("f('a b')", "f('ab')"), ("not a", "nota")])
def test_different_code_stays_different(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


def test_a_formatter_changes_no_key(tmp_path: Path) -> None:
    expressions = [
        "torch.zeros(batch,self.heads,x.size(1)  , self.width,dtype = torch.float32,requires_grad = False, out = None)",
        "x.to('cuda' if torch.cuda.is_available() else 'cpu', non_blocking = True).view(-1,*x.shape [ 1 : ])**2 / - 3",
        "torch.tensor([index for index,_ in enumerate(names) if not(index in known)]).index_select(0, order+ offset)",
        "mask & (lengths[:,None]>torch.arange(length)) | (torch.ones(1)@other)  # noqa: all at once, on one line",
    ]
    file = tmp_path / "a.py"
    file.write_text("".join(f"result = {expression}\n" for expression in expressions))
    formatter = shutil.which("ruff", path=str(Path(sys.executable).parent))
    assert formatter is not None
    subprocess.run([formatter, "format", "--isolated", "--line-length", "60", file], check=True, capture_output=True)
    tree = cst.parse_module(file.read_text())
    values = [cst.ensure_type(assign, cst.Assign).value for assign in m.findall(tree, m.Assign())]
    assert all("\n" in tree.code_for_node(value) for value in values)
    snippets = [Positions([Part(tree)], "a.py").snippet(value) for value in values]
    assert snippets == [normalised(expression) for expression in expressions]
