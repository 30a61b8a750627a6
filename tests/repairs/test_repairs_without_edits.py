"""Repairs without edits: what cannot be written down safely is described."""

from __future__ import annotations

import pytest

from devlint.finding import Applicability
from tests.repairs.repaired import finding_of

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


@pytest.mark.parametrize("name", DESCRIBED)
def test_repair_that_is_only_described(name: str) -> None:
    _, finding = finding_of(*DESCRIBED[name])
    assert finding.fix is not None
    assert (finding.fix.edits, finding.fix.applicability) == ((), Applicability.SUGGESTION)
    assert finding.help
