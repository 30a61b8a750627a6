"""Which bugs are planted, and where planting one would make no certain bug."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from lifted_suites import Suite
from planting.asking import Asker
from planting.kinds import DRAWN, KINDS, candidates, of_file
from planting.mutant import Mutant, Span, drawn
from planting.running import marked, naming_tests
from planting.source import File

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, zeros\n"


def changes(source: str) -> set[tuple[str, str]]:
    """Kind and changed line of every mutant but those that write in a device."""
    data = (HEAD + textwrap.dedent(source)).encode()
    file = File.of("net.py", data)
    assert file is not None
    found = set()
    for mutant in of_file(file):
        if mutant.kind not in ("index", "name"):
            before = data.decode().splitlines()
            after = file.edited(mutant.edits).decode().splitlines()
            (changed,) = [new.strip() for old, new in zip(before, after, strict=True) if old != new]
            found.add((mutant.kind, changed))
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "def f(x):\n    return x + torch.arange(len(x), device=x.device)",
            {("drop-device", "return x + torch.arange(len(x))")},
        ),
        (
            "def f(x, n):\n    return x + torch.empty(((n,) + x.shape[1:]), device=x.device)",
            {("drop-device", "return x + torch.empty(((n,) + x.shape[1:]))")},
        ),
        (
            "def f(x):\n    m = zeros(3, 4, device=x.device).bool()\n    return x.masked_fill(m, 0)",
            {("drop-device", "m = zeros(3, 4).bool()")},
        ),
        (
            "def f(n, device):\n    return torch.eye(n, device=device)",
            {("drop-device", "return torch.eye(n)")},
        ),
        (
            "def f(x):\n    m = torch.ones(3).to(x.device)\n    return m * x",
            {("drop-move", "m = torch.ones(3)")},
        ),
        (
            "def f(x, y):\n    y = y.to(x.device)\n    return F.relu(y)",
            {("discard", "y.to(x.device)")},
        ),
        (
            "def f(n, d_device):\n    a = nn.Linear(n, n)\n    b = torch.ones(n)\n    a = a.to(d_device)\n"
            "    b = b.to(d_device)\n    return a(b)",
            {("forget", "")},
        ),
        (
            "def f(device):\n    a = torch.ones(3)\n    b = torch.ones(3)\n    a = a.to(device)\n"
            "    b = b.to(device)\n    c = b.float()\n    return a * c",
            {("forget", "")},
        ),
        (
            "def train(model, loader, device):\n    for _, batch in enumerate(loader):\n        x, y = batch\n"
            "        x = x.to(device)\n        y = y.to(device)\n        F.mse_loss(model(x), y)",
            {("label", ""), ("forget", ""), ("discard", "y.to(device)")},
        ),
        (
            "def train(model, loader, device):\n    for x, y in loader:\n        x, y = x.to(device), y.to(device)\n"
            "        F.mse_loss(model(x), y)",
            {("label", "x, y = x.to(device), y"), ("forget", "x, y = x, y.to(device)")},
        ),
        (
            "def f(p, d):\n    return torch.load(p, map_location=d, weights_only=True)",
            {("load", "return torch.load(p, weights_only=True)")},
        ),
        ("def f(x):\n    return x.detach().cpu().numpy()", {("numpy", "return x.detach().numpy()")}),
    ],
)  # fmt: skip
def test_a_bug_is_planted(source: str, expected: set[tuple[str, str]]) -> None:
    assert changes(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    n = torch.arange(3, device=x.device)\n    return n.tolist()",
        "def f(x):\n    x = x + torch.ones(3).to(x.device)\n    return x",  # x is a parameter as well
        "def f(x):\n    n = torch.arange(3, device=x.device)\n    return x + n.to(x.device)",
        "def f(x):\n    return x[torch.arange(3, device=x.device)].shape",
        "def f(x):\n    return x * torch.tensor(3.0, device=x.device)",
        "def f(x):\n    return x + torch.arange(3, device='cpu')",
        "def f(x, n):\n    n = torch.arange(3, device=x.device)\n    return x + n",  # n was something else before
        "def f(x):\n    with torch.device(x.device):\n        return x + torch.arange(3, device=x.device)",
        "def f(m, d_device):\n    m = m.to(d_device)\n    return m.eval()",
        "def f(x, d_device):\n    x = x.to(d_device)\n    return x.shape",
        "def f(x, y):\n    x.to(y.device)\n    y.to(y.device)\n    return x + y",  # nothing is moved as it is
        "def f(x, y):\n    x = x.to(y.device, torch.float32)\n    return F.relu(x)",
        "def f(p):\n    return torch.load(p, map_location=None)",
        "def f(a):\n    x = torch.from_numpy(a)\n    return x.cpu().numpy()",
        "def f(x):\n    x = x.cpu()\n    return x.cpu().numpy()",
        "def f(a, b, device):\n    a = a.to(device)\n    b = b.to(device)\n    return a * b",
        "def f(device):\n    a, b = torch.ones(3), torch.ones(3)\n    a, b = a.to(device), b.to(device)\n"
        "    return keep(a), keep(b)",
        "def f(a, b, device):\n    a, b = a.to(device), b.to(device)\n    return a, b",
        "class N:\n    def f(self, device):\n        self.a = self.a.to(device)\n        self.b = self.b.to(device)",
        "def f(a, b, device):\n    a = a.to(device)\n    b = b.to(device)\n    return a + 1, b.cpu()",
    ],
)
def test_no_bug_is_planted_where_none_is_certain(source: str) -> None:
    assert changes(source) == set()


def module(body: str, init: str = "") -> str:
    return (
        "class Net(nn.Module):\n    def __init__(self, k):\n        super().__init__()\n"
        f"        {init}\n    def forward(self, x):\n        {body}\n"
    )


@pytest.mark.parametrize(
    ("init", "body", "expected"),
    [
        ("self.register_buffer('m', torch.ones(3), persistent=False)", "return x * self.m", {"unregister"}),
        ("self.register_buffer('m', torch.ones(3))", "return x * self.m.to(x.device)", set()),
        ("self.register_buffer('m', torch.ones(3))", "return x[self.m.view(-1)]", set()),
        ("self.register_buffer('m', torch.ones(3))", "return x * int(self.m[0].item())", set()),
        ("self.register_buffer('m', torch.ones(3))", "return x * self.m[0:2]", {"unregister"}),
        ("self.register_buffer('m', torch.tensor(0))", "return x * self.m", set()),
        ("self.register_buffer('m', None)", "return x * self.m", set()),
        ("self.register_buffer('m', None); self.register_buffer('m', torch.ones(3))", "return x * self.m", set()),
        (
            "if k:\n            self.register_buffer('m', torch.ones(3))\n"
            "        else:\n            self.register_buffer('m', None)",
            "return x * self.m",
            {"unregister"},
        ),
        ("self.xs = nn.ModuleList([nn.Linear(k, k) for _ in range(k)])", "for m in self.xs: x = m(x)", {"plain-list"}),
        ("ys = [nn.Linear(k, k)]; self.xs = nn.ModuleList(*ys)", "for m in self.xs: x = m(x)", {"plain-list"}),
        ("self.xs = nn.ModuleList([nn.ReLU() for _ in range(k)])", "for m in self.xs: x = m(x)", set()),
        ("self.xs = nn.ModuleList([nn.Linear(k, k)])", "return list(self.xs.parameters())", set()),
        ("self.xs = nn.ModuleList([nn.Linear(k, k)]); self.y = nn.Sequential(*self.xs)", "return self.xs[0](x)", set()),
    ],
)
def test_state_is_unregistered_where_it_is_used(init: str, body: str, expected: set[str]) -> None:
    assert {kind for kind, _ in changes(module(body, init))} == expected


def test_an_index_or_a_name_is_written_in_for_a_device_that_was_given() -> None:
    data = (HEAD + "def f(x, device):\n    return x.to(device)\n").encode()
    file = File.of("net.py", data)
    assert file is not None
    texts = {file.edited(mutant.edits).decode().splitlines()[-1].strip() for mutant in of_file(file)}
    assert texts == {'return x.to("cuda:0")', "return x.cuda(0)", 'return x.to("cuda")', "return x.cuda()"}


def test_what_stands_in_parentheses_keeps_them() -> None:
    data = (HEAD + "def f(x, device):\n    return (\n        x\n        + 1\n    ).to(device)\n").encode()
    file = File.of("net.py", data)
    assert file is not None
    texts = {file.edited(mutant.edits).decode().partition("return")[2] for mutant in of_file(file)}
    assert "(x\n        + 1).cuda(0)" in {text.strip() for text in texts}


def release(tmp_path: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


OPS = "import torch\ndef ramp(n, device):\n    return torch.arange(n, device=device)\n"
NET = "from .ops import ramp\ndef shift(x):\n    return x + ramp(len(x), x.device)\n"


@pytest.mark.parametrize("by", ["ops", "", "other"])
def test_a_helper_is_planted_for_its_caller_in_another_file(tmp_path: Path, by: str) -> None:
    root = release(tmp_path, {"pkg/__init__.py": "from .ops import ramp\n", "pkg/ops.py": OPS, "pkg/net.py": ""})
    (root / "pkg/net.py").write_text(NET.replace(".ops", f".{by}"), encoding="utf-8")
    found = [m for m in candidates(root, ["pkg/__init__.py", "pkg/net.py", "pkg/ops.py"]) if m.caller]
    expected = [] if by == "other" else [("far-device", "pkg/ops.py", "pkg/net.py")]
    assert [(m.kind, m.path, m.caller) for m in found] == expected


def test_lines_after_the_edit_are_counted_where_they_went() -> None:
    data = f"{HEAD}def f(x):\n    return x + torch.arange(\n        3,\n        device=x.device)\n"
    file = File.of("net.py", data.encode())
    assert file is not None
    (mutant,) = [m for m in of_file(file) if m.kind == "drop-device"]
    assert mutant.original == (Span("net.py", 4, 7),)
    assert mutant.counted == (Span("net.py", 4, 6),)
    assert mutant.line == 6


def test_a_draw_takes_one_a_function_and_the_kinds_in_turn(tmp_path: Path) -> None:
    functions = "".join(f"def f{i}(x):\n    return x + torch.arange(3, device=x.device)\n" for i in range(20))
    load = "def g(p):\n    return torch.load(p, map_location='cpu')\n"
    root = release(tmp_path, {"net.py": HEAD + functions + load})
    offered = [mutant for mutant in candidates(root, ["net.py"]) if mutant.kind in DRAWN]
    taken = drawn(offered, 7, seed=1, release="net")
    assert len({mutant.function for mutant in taken}) == 7
    assert {mutant.kind for mutant in taken} == {"load", "drop-device", "index"}
    assert taken == drawn(offered[::-1], 7, seed=1, release="net")
    assert taken != drawn(offered, 7, seed=2, release="net")
    assert len(drawn(offered, 100, seed=1, release="net")) == 21


def answer(root: Path, kind: str) -> tuple[bool, tuple[str, ...]]:
    asker = Asker(root)
    mutants: list[Mutant] = [m for m in candidates(root, sorted(p.name for p in root.iterdir())) if m.kind == kind]
    assert asker.suits(mutants[0])
    found = asker.ask(mutants[0])
    asker.close()
    return found.found, found.codes


def test_what_devlint_says_of_a_mutant_is_asked_with_its_text(tmp_path: Path) -> None:
    text = (
        f"{HEAD}class Net(nn.Module):\n    def forward(self, x):\n        return x + torch.ones(3, device=x.device)\n"
    )
    root = release(tmp_path, {"net.py": text})
    assert answer(root, "drop-device") == (True, ("DEV101",))
    assert (root / "net.py").read_text() == text


def test_a_helpers_mutant_is_linted_in_a_copy_of_the_release(tmp_path: Path) -> None:
    root = release(tmp_path, {"ops.py": OPS, "net.py": NET.replace(".ops", "ops")})
    found, codes = answer(root, "far-device")
    assert found == bool(codes)
    assert (root / "ops.py").read_text() == OPS


def test_every_kind_has_a_docstring_that_tells_its_conditions() -> None:
    from planting import across, kinds

    told = "".join(made.__doc__ or "" for made in (*kinds.OF_FUNCTIONS, *kinds.OF_CLASSES, across.helpers))
    assert [kind for kind in KINDS if f"{kind}: " not in told] == []


def test_a_function_that_is_entered_leaves_a_mark(tmp_path: Path) -> None:
    mark = tmp_path / "entered"
    text = b'class A:\n    def f(self):\n        """Says so."""\n        return 1\n\n\ndef g():\n    return 2\n'
    space: dict[str, Any] = {}
    exec(marked(text, "A.f", mark), space)
    assert space["g"]() == 2
    assert not mark.exists()
    assert space["A"]().f() == 1
    assert mark.exists()
    assert marked(text, "B.f", mark) == text
    assert marked(b"def f(): return 1\n", "f", mark) == b"def f(): return 1\n"


def test_tests_are_found_by_the_name_of_the_class(tmp_path: Path) -> None:
    files = {"test/a_test.py": "Net(3)  # longer", "test/b_test.py": "Net()", "test/c_test.py": "Other()", "net.py": ""}
    root = release(tmp_path, files)
    mutant = Mutant("drop-device", "net.py", "Net.forward", 1, "", (), (), ())
    assert naming_tests(mutant, root, Suite("net", "1", ("test",))) == ("test/b_test.py", "test/a_test.py")
    assert naming_tests(mutant, root, Suite("net", "1", ("test/c_test.py",))) == ()
