"""Repairs that are written out where they can be, and described where they cannot: both sides of each rule."""

from __future__ import annotations

import textwrap

import pytest

from devlint.finding import Applicability, Finding
from devlint.fixes.applying import apply_edits
from tests.fixture_expectations import lint_text

IMPORTS = "import torch\nimport torch.distributed as dist\nfrom torch import Tensor, nn\n\n\n"

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

DESCRIBED: dict[str, tuple[str, str]] = {
    "a generator whose draw has no name": (
        "DEV103",
        """
        def f(x: Tensor) -> Tensor:
            return torch.bernoulli(x.sigmoid(), generator=torch.Generator())
        """,
    ),
    "a generator made where nothing is known yet": (
        "DEV103",
        """
        class Noise(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.generator = torch.Generator()

            def forward(self, x: Tensor) -> Tensor:
                return x + torch.randn(x.shape, device=x.device, generator=self.generator)
        """,
    ),
    "a creation beside the result of a call": (
        "DEV101",
        """
        def f(net: nn.Linear, n: int) -> Tensor:
            return net(torch.ones(n, net.in_features, device=net.weight.device)) + torch.zeros(net.out_features)
        """,
    ),
    "there and back beside another device": (
        "DEV205",
        """
        def f(x: Tensor, device: torch.device) -> Tensor:
            host = x.cpu()
            return torch.unique(host).cuda() + torch.ones(1, device=device)
        """,
    ),
    "a head added at the top level": (
        "DEV206",
        """
        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.encode = nn.Linear(8, 8)
                self.cuda()

        net = Net()
        net.cuda()
        net.head = nn.Linear(8, 2)
        """,
    ),
    "a model that runs before it moves": (
        "DEV207",
        """
        def f(x: Tensor, device: torch.device) -> nn.Module:
            net = nn.Linear(8, 2)
            optimizer = torch.optim.Adam(net.parameters())
            net(torch.zeros(1, 8)).sum().backward()
            optimizer.step()
            net.to(device)
            return net
        """,
    ),
    "a move in another block": (
        "DEV207",
        """
        def f(device: torch.device, fast: bool):
            net = nn.Linear(8, 2)
            optimizer = torch.optim.Adagrad(net.parameters())
            if fast:
                net.to(device)
            return net, optimizer
        """,
    ),
    "a move to what comes later": (
        "DEV207",
        """
        def f(x: Tensor):
            net = nn.Linear(8, 2)
            optimizer = torch.optim.Adagrad(net.parameters())
            there = x.device
            net.to(there)
            return net, optimizer
        """,
    ),
    "an index that is compared with": (
        "DEV301",
        """
        def f(x: Tensor) -> bool:
            return x.device == torch.device("cuda:1")
        """,
    ),
    "a device of the module": (
        "DEV306",
        """
        DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


        def f(n: int) -> Tensor:
            return torch.zeros(n, device=DEVICE)
        """,
    ),
    "a default of a method": (
        "DEV306",
        """
        class Maker:
            def f(self, n: int, device=torch.device("cuda" if torch.cuda.is_available() else "cpu")) -> Tensor:
                return torch.zeros(n, device=device)
        """,
    ),
    "a default device on import": ("DEV307", 'torch.set_default_device("cuda")'),
    "a default type": (
        "DEV307",
        """
        def f(net: nn.Module) -> nn.Module:
            torch.set_default_tensor_type(torch.cuda.HalfTensor)
            return net.half()
        """,
    ),
    "a default device before a text of several lines": (
        "DEV307",
        """
        def f(net: nn.Module, device: torch.device) -> str:
            torch.set_default_device(device)
            return \"\"\"one
        two\"\"\"
        """,
    ),
    "a default device at the end": (
        "DEV307",
        """
        def f(net: nn.Module, x: Tensor, device: torch.device) -> Tensor:
            if x.dim() == 1:
                torch.set_default_device(device)
            return net(x)
        """,
    ),
    "a collective beside numbers": (
        "DEV406",
        """
        def f(n: int) -> Tensor:
            count = torch.tensor([n])
            dist.all_reduce(count)
            return count
        """,
    ),
    "an input moved to a kept device": (
        "DEV504",
        """
        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                self.head = nn.Linear(4, 2)

            def forward(self, x):
                x = x.to(self.device)
                return self.head(x)
        """,
    ),
    "streams without a name": (
        "DEV601",
        """
        def f() -> Tensor:
            field = torch.ones(8, device="cuda") * 2
            with torch.cuda.stream(torch.cuda.Stream()):
                return field.norm()
        """,
    ),
}


def finding_of(code: str, program: str) -> tuple[str, Finding]:
    text = IMPORTS + textwrap.dedent(program).strip() + "\n"
    return text, next(finding for finding in lint_text(text, "lib/a.py") if finding.code == code)


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


@pytest.mark.parametrize("name", DESCRIBED)
def test_repair_that_is_only_described(name: str) -> None:
    _, finding = finding_of(*DESCRIBED[name])
    assert finding.fix is not None
    assert (finding.fix.edits, finding.fix.applicability) == ((), Applicability.SUGGESTION)
    assert finding.help
