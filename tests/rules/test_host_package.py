"""A package that trains its models itself and names no device works on the host: what is said there is a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

import devlint
from devlint.finding import Confidence, Severity

LAYERS = """\
import torch
from torch import nn


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.scale + torch.randn(8, 3)
"""
TRAINING = """\
import torch
from pkg.layers import Noisy


def fit(x, y, epochs):
    net = Noisy()
    chosen = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(epochs):
        chosen.zero_grad()
        ((net(x) - y) ** 2).mean().backward()
        chosen.step()
    return net(x).detach().numpy()
"""


def _confidence(directory: Path, **files: str) -> tuple[Confidence, Severity]:
    """Of the noise that the layers of a package make."""
    (directory / "pyproject.toml").write_text("", "utf-8")
    (directory / "pkg").mkdir(exist_ok=True)
    for name, text in {"__init__": "", "layers": LAYERS, **files}.items():
        (directory / "pkg" / f"{name}.py").write_text(text, "utf-8")
    found = devlint.lint_paths([directory], isolated=True, cwd=directory, settings={"min-confidence": "low"})
    (noise,) = (finding for finding in found if finding.code == "DEV101" and finding.place.path == "pkg/layers.py")
    return noise.confidence, noise.severity


def test_what_it_trains_stays_where_it_is_made(tmp_path: Path) -> None:
    assert _confidence(tmp_path, training=TRAINING) == (Confidence.LOW, Severity.WARNING)


WRAPPED = """\
class Warmup:
    def __init__(self, chosen):
        self.chosen = chosen

    def zero_grad(self):
        self.chosen.zero_grad()

    def step(self):
        self.chosen.step()
"""


def test_an_optimizer_around_another_is_no_loop(tmp_path: Path) -> None:
    assert _confidence(tmp_path, optimizer=WRAPPED) == (Confidence.HIGH, Severity.WARNING)


def test_a_loop_beside_the_layers_is_one(tmp_path: Path) -> None:
    loop = TRAINING.replace("import torch\nfrom pkg.layers import Noisy\n", "")
    assert _confidence(tmp_path, layers=LAYERS + loop) == (Confidence.LOW, Severity.WARNING)


def test_where_nothing_is_made_is_no_device_that_is_named(tmp_path: Path) -> None:
    made = "import torch\n\n\ndef like(x):\n    return torch.zeros(3, device=x.device).to(x.device)\n"
    assert _confidence(tmp_path, training=TRAINING, made=made) == (Confidence.LOW, Severity.WARNING)


def test_layers_are_moved_by_those_who_use_them(tmp_path: Path) -> None:
    assert _confidence(tmp_path) == (Confidence.HIGH, Severity.WARNING)


@pytest.mark.parametrize(
    "named",
    [
        "def fit_there(net, device):\n    return net.to(device)\n",
        "DEFAULT = 'cuda:0'\n",
        "def moved(net, use_gpu):\n    return net.cuda() if use_gpu else net\n",
        "import pytorch_lightning as pl\n\n\nclass Fitted(pl.LightningModule):\n    pass\n",
        "from torch import device as chosen\n",
    ],
)
def test_a_package_that_names_a_device_anywhere_is_used_there(named: str, tmp_path: Path) -> None:
    assert _confidence(tmp_path, training=TRAINING, named=named) == (Confidence.HIGH, Severity.WARNING)


def test_of_a_script_alone_nothing_is_known(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(LAYERS + TRAINING.replace("from pkg.layers import Noisy\n", ""), "utf-8")
    assert [finding.code for finding in devlint.lint_paths([script], isolated=True, cwd=tmp_path)] == ["DEV101"]


SM3 = """\
import torch


class SM3(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if len(state) == 0:
                    state["sum"] = torch.zeros(p.shape[0])
                state["sum"].add_(p.grad.sum(-1))
                p.add_(state["sum"][:, None], alpha=-group["lr"])
"""


def test_an_optimizer_steps_the_models_of_those_who_use_the_package(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "pkg").mkdir()
    for name, text in {"__init__": "", "layers": LAYERS, "training": TRAINING, "sm3": SM3}.items():
        (tmp_path / "pkg" / f"{name}.py").write_text(text, "utf-8")
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path, settings={"min-confidence": "low"})
    confidences = {finding.code: finding.confidence for finding in found if finding.place.path != "pkg/training.py"}
    assert confidences["DEV505"] > Confidence.LOW
    assert confidences["DEV101"] is Confidence.LOW


STACKED = """\
from torch import nn


class Stacked(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = [nn.Linear(3, 3) for _ in range(2)]

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x
"""


def test_layers_in_a_plain_list_are_trained_nowhere(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "pkg").mkdir()
    for name, text in {"__init__": "", "layers": LAYERS, "training": TRAINING, "stacked": STACKED}.items():
        (tmp_path / "pkg" / f"{name}.py").write_text(text, "utf-8")
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path)
    assert [finding.code for finding in found] == ["DEV502"]


@pytest.mark.parametrize("place", ["examples/gan", "tests/test_layers", "test_layers", "scripts/fit"])
def test_what_an_example_trains_says_nothing_of_the_layers(tmp_path: Path, place: str) -> None:
    (tmp_path / "pkg" / place).parent.mkdir(parents=True, exist_ok=True)
    assert _confidence(tmp_path, **{place: TRAINING}) == (Confidence.HIGH, Severity.WARNING)


PADDING = """\
import torch


def padded(x):
    return torch.cat([x, torch.zeros(x.size(0), 1)], dim=1)
"""


def test_who_works_on_the_default_device_sets_it(tmp_path: Path) -> None:
    kept = "import torch\n\nWEIGHTS = torch.ones(3).to(torch.get_default_device())\n"
    assert _confidence(tmp_path, layers=PADDING, kept=kept) == (Confidence.LOW, Severity.WARNING)
    kept = "import torch\n\nWEIGHTS = torch.ones(3)\nON_CPU = torch.get_default_device() == torch.device('cpu')\n"
    assert _confidence(tmp_path, layers=PADDING, kept=kept) == (Confidence.MEDIUM, Severity.WARNING)


def test_what_clashes_for_sure_clashes_on_any_default_device(tmp_path: Path) -> None:
    kept = "import torch\n\nWEIGHTS = torch.ones(3).to(device=torch.get_default_device())\n"
    assert _confidence(tmp_path, kept=kept) == (Confidence.HIGH, Severity.WARNING)


EXPORTED = """\
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3 * torch.ones(2, 2)
        self.layers = [nn.Linear(2, 2)]

    def forward(self, x):
        return torch.mul(self.scale, self.layers[0](x))
"""


@pytest.mark.parametrize(
    ("name", "more", "confidence"),
    [
        ("test_export.py", "", Confidence.LOW),
        ("tests/exporting.py", "", Confidence.LOW),
        ("test_export.py", "\n\ndef test_there():\n    assert Scaled().cuda()\n", Confidence.HIGH),
        ("export.py", "", Confidence.HIGH),
    ],
)
def test_a_test_that_names_no_device_runs_what_it_defines_on_the_host(
    name: str, more: str, confidence: Confidence, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(EXPORTED + more, "utf-8")
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path, settings={"min-confidence": "low"})
    confidences = {finding.code: finding.confidence for finding in found}
    assert (confidences["DEV501"], confidences["DEV502"]) == (confidence, confidence)


SAMPLES = """\
from torch.utils.data import Dataset


class Samples(Dataset):
    def __init__(self, images):
        self.images = images

    def __getitem__(self, index):
        return self.images[index].cuda()
"""


@pytest.mark.parametrize(
    ("start", "confidence"),
    [
        ("import torch\n\ntorch.multiprocessing.set_start_method('spawn')\n", Confidence.LOW),
        ("def loader(of, data):\n    return of(data, multiprocessing_context='forkserver')\n", Confidence.LOW),
        ("import torch\n\ntorch.multiprocessing.set_start_method('fork')\n", Confidence.MEDIUM),
    ],
)
def test_workers_that_are_started_anew_may_use_accelerators(start: str, confidence: Confidence, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "pkg").mkdir()
    for name, text in {"__init__": "", "samples": SAMPLES, "start": start}.items():
        (tmp_path / "pkg" / f"{name}.py").write_text(text, "utf-8")
    settings = {"select": ["DEV604"], "min-confidence": "low"}
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path, settings=settings)
    assert [finding.confidence for finding in found] == [confidence]


ENGINES = """\
from ignite.engine import Engine
from pkg.layers import Noisy


def fit(batches, chosen):
    net = Noisy()

    def step(engine, batch):
        chosen.zero_grad()
        net(batch).mean().backward()
        chosen.step()

    return Engine(step).run(batches)
"""


def test_engines_run_the_steps_of_models_from_anywhere(tmp_path: Path) -> None:
    assert _confidence(tmp_path, training=ENGINES) == (Confidence.HIGH, Severity.WARNING)


@pytest.mark.parametrize(
    ("training", "confidence"),
    [
        (ENGINES, Confidence.LOW),
        (TRAINING, Confidence.LOW),
        (ENGINES + "\n\nDEFAULT = 'cuda:0'\n", Confidence.MEDIUM),
        (ENGINES.replace("chosen.zero_grad()", "pass"), Confidence.MEDIUM),
    ],
)
def test_what_it_trains_it_saves_from_the_cpu(training: str, confidence: Confidence, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "pkg").mkdir()
    loading = "import torch\n\n\ndef read(model_path):\n    return torch.load(model_path).eval()\n"
    for name, text in {"__init__": "", "layers": LAYERS, "training": training, "loading": loading}.items():
        (tmp_path / "pkg" / f"{name}.py").write_text(text, "utf-8")
    settings = {"select": ["DEV503"], "min-confidence": "low"}
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path, settings=settings)
    assert [finding.confidence for finding in found] == [confidence]


VALIDATION = """\
import torch


def validate(model, loader, device):
    seen = torch.zeros((), device=device)
    for rows, labels in loader:
        seen += (model(rows).argmax(1).cpu() == labels).sum()
    return seen
"""
DATA = """\
from torch.utils.data import Dataset


class Rows(Dataset):
    def __init__(self, rows, labels, device):
        self.rows, self.labels, self.device = rows, labels, device

    def __getitem__(self, index):
        return self.rows[index].to(self.device), self.labels[index]

    def __len__(self):
        return len(self.rows)
"""


@pytest.mark.parametrize("placed", [True, False])
def test_a_data_set_of_the_package_may_hand_out_what_is_on_a_device(tmp_path: Path, placed: bool) -> None:
    data = DATA if placed else DATA.replace(".to(self.device)", "")
    (tmp_path / "pyproject.toml").write_text("", "utf-8")
    (tmp_path / "pkg").mkdir()
    for name, text in {"__init__": "", "data": data, "validation": VALIDATION}.items():
        (tmp_path / "pkg" / f"{name}.py").write_text(text, "utf-8")
    found = devlint.lint_paths([tmp_path], isolated=True, cwd=tmp_path, settings={"min-confidence": "low"})
    (batch,) = (finding for finding in found if finding.code == "DEV208")
    assert batch.confidence == (Confidence.LOW if placed else Confidence.MEDIUM)
