"""Repairs with edits: the program afterwards is right by devlint's own judgement."""

from __future__ import annotations

import pytest

from devlint.finding import Applicability
from devlint.fixes.applying import apply_edits
from tests.fixture_expectations import lint_text
from tests.repairs.repaired import finding_of

Case = tuple[str, str, tuple[str, ...]]
"""A code, a program, and lines that are in it after the edit and were not before."""

WRITTEN: dict[str, Case] = {
    "a generator beside a device": (
        "DEV103",
        """
        def f(n: int) -> Tensor:
            g = torch.Generator().manual_seed(0)
            return torch.randn(n, device="cuda", generator=g)
        """,
        ('    g = torch.Generator(device="cuda").manual_seed(0)',),
    ),
    "a generator that names its device": (
        "DEV103",
        """
        def f(x: Tensor) -> Tensor:
            return torch.randn(x.shape, device=x.device, generator=torch.Generator("cpu"))
        """,
        ("    return torch.randn(x.shape, device=x.device, generator=torch.Generator(x.device))",),
    ),
    "there and back through a name": (
        "DEV205",
        """
        def f(x: Tensor) -> Tensor:
            # The kernel is missing there.
            host = x.cpu()
            return torch.unique(host).cuda()
        """,
        ("    device = x.device", "    return torch.unique(host).to(device)"),
    ),
    "a head that comes later": (
        "DEV206",
        """
        def f(net: nn.Module, x: Tensor, device: torch.device) -> Tensor:
            net.to(device)
            net.head = nn.Linear(4, 2)
            return net(x.to(device))
        """,
        ("    net.head = nn.Linear(4, 2).to(device)",),
    ),
    "a parameter that comes later": (
        "DEV206",
        """
        def f(net: nn.Module, device: torch.device) -> nn.Module:
            net.to(device)
            net.scale = nn.Parameter(torch.ones(4))
            return net
        """,
        ("    net.scale = nn.Parameter(torch.ones(4).to(device))",),
    ),
    "an item that is used twice": (
        "DEV208",
        """
        def f(net: nn.Module, loader, device: torch.device) -> None:
            net.to(device)
            for x, y in loader:
                x = x.to(device)
                scores = net(x)
                nn.functional.cross_entropy(scores, y).backward()
                print((scores.argmax(1) == y).sum())
        """,
        ("        y = y.to(device)",),
    ),
    "a default argument": (
        "DEV306",
        """
        def f(n: int, *, device: torch.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")) -> Tensor:
            \"\"\"Zeros.\"\"\"
            return torch.zeros(n, device=device)
        """,
        (
            "def f(n: int, *, device: torch.device | None = None) -> Tensor:",
            "    if device is None:",
            '        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        ),
    ),
    "a default device for the rest": (
        "DEV307",
        """
        def f(net: nn.Module, x: Tensor, device: torch.device) -> Tensor:
            torch.set_default_device(device)
            if x.dim() == 1:

                x = x[None]
            return net(x)
        """,
        (
            "    with torch.device(device):",
            "        if x.dim() == 1:",
            "            x = x[None]",
            "        return net(x)",
        ),
    ),
    "a collective beside a tensor": (
        "DEV406",
        """
        def f(x: Tensor) -> Tensor:
            parts = torch.zeros(4)
            dist.all_reduce(parts)
            return x * parts.sum().item()
        """,
        ("    parts = torch.zeros(4, device=x.device)",),
    ),
    "a device kept from construction": (
        "DEV504",
        """
        class Net(nn.Module):
            def __init__(self, device: torch.device) -> None:
                super().__init__()
                self.device = device
                self.rnn = nn.GRU(4, 4)

            def forward(self, x: Tensor):
                hidden = torch.zeros(1, x.size(1), 4, device=self.device)
                return self.rnn(x, hidden)
        """,
        ("        hidden = torch.zeros(1, x.size(1), 4, device=x.device)",),
    ),
    "beside a tensor whose device has a name": (
        "DEV101",
        """
        def f(net: nn.Module, counts: list[int]) -> Tensor:
            device = next(net.parameters()).device
            sizes = torch.tensor(counts, device=device)
            return torch.arange(len(counts)).repeat_interleave(sizes)
        """,
        ("    return torch.arange(len(counts), device=device).repeat_interleave(sizes)",),
    ),
    "beside what a script has moved": (
        "DEV101",
        """
        device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        net = nn.Linear(8, 16).to(device)
        for _ in range(3):
            x = torch.randn(5, 8).to(device)
            y = torch.randn(5, 16)
            nn.functional.mse_loss(net(x), y).backward()
        """,
        ("    y = torch.randn(5, 16, device=device)",),
    ),
    "beside what methods make of an item": (
        "DEV101",
        """
        def f(batch: dict[str, Tensor], n: int) -> Tensor:
            logits = batch["x"].exp()
            return logits[:, -1].softmax(-1) * torch.linspace(0, 1, n)
        """,
        ("    return logits[:, -1].softmax(-1) * torch.linspace(0, 1, n, device=logits.device)",),
    ),
    "beside an argument that a test has found": (
        "DEV101",
        """
        def f(n: int, x: Tensor | None = None) -> Tensor:
            if x is not None:
                return torch.arange(n).float() * x.exp()
            return torch.zeros(n)
        """,
        ("        return torch.arange(n, device=x.device).float() * x.exp()",),
    ),
    "a place for a file that is given": (
        "DEV503",
        """
        def load(path: str, map_location: str) -> dict:
            state = torch.load(path)
            return state
        """,
        ("    state = torch.load(path, map_location=map_location)",),
    ),
    "a place for a compiled module": (
        "DEV503",
        """
        def load(path: str, x: Tensor, device: torch.device) -> Tensor:
            return torch.jit.load(path)(x.to(device))
        """,
        ("    return torch.jit.load(path, map_location=device)(x.to(device))",),
    ),
    "onto a side stream": (
        "DEV601",
        """
        def f() -> Tensor:
            field = torch.ones(8, device="cuda") * 2
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                return field.norm()
        """,
        ("    side.wait_stream(torch.cuda.current_stream())",),
    ),
    "and back from it": (
        "DEV601",
        """
        def f() -> Tensor:
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                partial = torch.ones(8, device="cuda").cumsum(0)
            return partial + 1
        """,
        ("    torch.cuda.current_stream().wait_stream(side)",),
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_repair_that_is_written_out(name: str) -> None:
    code, program, expected = WRITTEN[name]
    text, finding = finding_of(code, program)
    assert finding.fix is not None
    assert finding.fix.edits, finding.help
    edited = apply_edits(text.encode(), finding.fix.edits).decode()
    compile(edited, name, "exec", dont_inherit=True)
    lines = edited.splitlines()
    assert [line for line in lines if line not in text.splitlines()] == list(expected)
    assert not [other for other in lint_text(edited, "lib/a.py") if other.code == code]


@pytest.mark.parametrize(
    ("code", "program"),
    [
        (
            "DEV302",
            """
            def f(n: int, condition: Tensor | None = None, device: torch.device | None = None) -> Tensor:
                if device is None:
                    device = torch.device("cuda")
                if condition is None:
                    return torch.zeros(n, device=device)
                return condition.exp()
            """,
        ),
        ("DEV503", "def f(path: str, x: Tensor) -> Tensor:\n    return torch.jit.load(path)(x)"),
    ],
)
def test_repair_that_only_people_may_choose(code: str, program: str) -> None:
    _, finding = finding_of(code, program)
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SUGGESTION
