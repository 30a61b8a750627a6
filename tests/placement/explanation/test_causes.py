"""The root cause of an unknown value, by the kinds of causes; known values have none."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from devlint.configuration.config import Overrides
from devlint.explain import ExplainError, ExplainRequest, explain
from devlint.pipeline.explanation import Explained

HEAD = """\
import torch
from torch import nn
import somelib

"""


def explained(tmp_path: Path, source: str, text: str) -> Explained:
    """The expression ``text`` in the last line of the source that holds it."""
    program = HEAD + dedent(source)
    lines = program.splitlines()
    number = max(number for number, line in enumerate(lines, 1) if text in line)
    request = ExplainRequest("a.py", number, None, tmp_path, Overrides({}, None, isolated=True), program.encode())
    (found,) = [one for one in explain(request) if one.text == text]
    return found


CAUSES = {
    "library-function": [
        ("def f(path):\n    y = somelib.make(path)\n    return y", "y"),
        ("def f(path):\n    with somelib.opened(path) as y:\n        return y.all", "y.all"),
        ("class A(nn.Module):\n    def get(self):\n        return somelib.cast()\n"
         "    def forward(self, x):\n        y = self.get()\n        return y", "y"),
        ("class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.y = somelib.make()\n"
         "    def forward(self, x):\n        return self.y", "self.y"),
        ("def inner(x):\n    return somelib.make(x)\ndef f(x):\n    return inner(3) + 1", "inner(3)"),
        ("def f(n):\n    y = torch.ones(3, device=somelib.place())\n    return y > 1", "y > 1"),
    ],
    "attribute": [
        ("def f():\n    y = torch.ones(3)\n    return y.nodes", "y.nodes"),
    ],
    "method": [
        ("def f():\n    y = torch.ones(3)\n    return y.embed(3)", "y.embed(3)"),
        ("def f():\n    y = torch.Generator()\n    return y.odd(3)", "y.odd(3)"),
    ],
    "not-bound": [
        ("def f():\n    return undefined_name", "undefined_name"),
    ],
    "never-stored": [
        ("class A(nn.Module):\n    def forward(self, x):\n        return self.nope", "self.nope"),
    ],
    "unknown-base": [
        ("class A(somelib.Base):\n    def forward(self, x):\n        return self.nope", "self.nope"),
    ],
    "stored-later": [
        ("class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.y = []\n"
         "    def set(self, y):\n        self.y = y\n    def forward(self, x):\n        return self.y", "self.y"),
    ],
    "joined": [
        ("def f(x):\n    y = torch.ones(1)\n    try:\n        y = torch.ones(2).cuda()\n        x()\n"
         "    except ValueError:\n        return y", "y"),
    ],
    "unpacked": [
        ("def f(n, a, b):\n    return torch.empty(n, **a, **b)", "torch.empty(n, **a, **b)"),
        ("def f(n, a, b):\n    y = torch.linspace(0, 1, n, **a, **b)\n    return y", "y"),
    ],
    "undecided": [
        ("def f(n, parts):\n    y = torch.stack([somelib for _ in range(n)])\n    return y", "y"),
    ],
    "not-modelled": [
        ("def f(x):\n    y = yield x\n    return y", "y"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "source", "text"), [(cause, *case) for cause, cases in CAUSES.items() for case in cases]
)
def test_the_root_cause_is_named(tmp_path: Path, cause: str, source: str, text: str) -> None:
    found = explained(tmp_path, source, text)
    assert found.device is None
    assert found.unknown[-1].cause == cause
    assert {link.cause for link in found.unknown[:-1]} <= {"follows"}


KNOWN = [
    ("def f():\n    return torch.ones(3)", "torch.ones(3)", "tensor", "cpu"),
    ("def f(x: torch.Tensor):\n    return x * 2", "x * 2", "tensor", "the device of `x`"),
    ("def f(x: torch.Tensor):\n    return x.device", "x.device", "device", "the device of `x`"),
    ("class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(1, 1)\n"
     "    def forward(self, x):\n        return self.l", "self.l", "module", "the module's device"),
    ("def f(x):\n    y = [torch.ones(1), 2]\n    return y", "y", "container", None),
    ("def f(x):\n    y = len(x)\n    return y", "y", "host", None),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text", "kind", "device"), KNOWN)
def test_a_known_value_has_no_cause(tmp_path: Path, source: str, text: str, kind: str, device: str | None) -> None:
    found = explained(tmp_path, source, text)
    assert (found.kind, found.device, found.unknown) == (kind, device, ())


def test_the_way_of_a_value_is_told_from_its_beginning(tmp_path: Path) -> None:
    found = explained(tmp_path, "def f():\n    x = torch.ones(3)\n    y = x.cuda()\n    return y", "y")
    assert [(step.message, step.device, step.place.line) for step in found.trace] == [
        ("`torch.ones`: made here", "cpu", 6),
        ("`.cuda()`: moved here", "cuda", 7),
    ]


def test_a_convention_is_named(tmp_path: Path) -> None:
    found = explained(tmp_path, "def f(x):\n    x.backward()\n    return x", "x")
    assert found.convention == "taken for a tensor: `backward` is called without arguments"
    assert "by convention" in found.words


def test_a_loop_is_explained_as_after_its_rounds(tmp_path: Path) -> None:
    source = "def f(xs):\n    y = torch.ones(1)\n    for x in xs:\n        y = y.cuda()\n    return y"
    found = explained(tmp_path, source, "y")
    assert (found.kind, found.device, found.unknown) == ("tensor", "cuda", ())


def test_names_bound_in_a_ring_end(tmp_path: Path) -> None:
    found = explained(
        tmp_path, "def f(n):\n    a = b = None\n    while n():\n        a = b.x\n        b = a.x\n    return a", "a"
    )
    assert 0 < len(found.unknown) <= 12


def test_what_cannot_be_explained_is_said(tmp_path: Path) -> None:
    overrides = Overrides({}, None, isolated=True)
    for data, said in (
        (b"import torch\n\nx = 1\n", "nothing is evaluated there"),
        (b"def f(:\n", "cannot be analysed"),
        (b"\x00\xff", "cannot be analysed"),
    ):
        with pytest.raises(ExplainError, match=said):
            explain(ExplainRequest("a.py", 2, None, tmp_path, overrides, data))
    with pytest.raises(ExplainError, match="no such file"):
        explain(ExplainRequest("absent.py", 2, None, tmp_path, overrides))
