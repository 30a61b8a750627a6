"""``devlint confirm`` as its user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        shift = torch.zeros(x.shape[-1])
        return self.lin(x) + shift


def build():
    print("building")
    return Net(), torch.rand(2, 4)
"""


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(NET)
    return tmp_path


def test_json_record_and_progress(devlint: Run, cwd: Path) -> None:
    done = devlint(
        "confirm", "net.py", "--entry", "net:build", "--device", "sim", "--output-format", "json", "--record", "r.jsonl"
    )
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    verdict = document["findings"][0]["verdict"]
    assert (verdict["state"], verdict["device"], verdict["simulated"], verdict["entry"]) == (
        "confirmed", "cuda:0", True, "net:build",
    )  # fmt: skip
    assert {operand["born"]["line"] for operand in verdict["operands"]} >= {11}
    assert document["entries"][0]["state"] == "ran"
    assert done.stderr.splitlines()[0] == "devlint: net:build on cuda:0 (simulated): ran"
    rows = [json.loads(line) for line in (cwd / "r.jsonl").read_text().splitlines()]
    assert (rows[0]["type"], rows[-1]["type"]) == ("start", "end")
    assert "observation" in {row["type"] for row in rows}


def test_configured_entries_and_text(devlint: Run, cwd: Path) -> None:
    (cwd / "pyproject.toml").write_text(
        '[[tool.devlint.entries]]\nmodel = "net:Net"\ninit = "width=8"\ninputs = ["float32[2,8]"]\n'
    )
    done = devlint("confirm", "--device", "sim")
    assert done.returncode == 1, done.stderr
    assert "= confirmed: on cuda:0 (simulated) by net:Net" in done.stdout
    assert "`shift` float32[8] on cpu, made at net.py:11:17" in done.stdout
    assert "1 error in 1 file" in done.stdout
    assert ": 1 confirmed" in done.stdout


def test_without_torch_it_cannot_run(devlint: Run, cwd: Path) -> None:
    (cwd / "torch.py").write_text('raise ImportError("no torch here")\n')
    done = devlint("confirm", "net.py", "--entry", "net:build", "--device", "sim", env={"PYTHONPATH": str(cwd)})
    assert done.returncode == 2
    assert done.stderr == "devlint: net:build on cuda:0 (simulated): failed\n"
    assert done.stdout.splitlines()[0] == (
        "net:build failed on cuda:0 (simulated): torch cannot be imported (no torch here); install devlint[runtime]"
    )
    assert "Traceback" not in done.stderr


def test_no_device_is_told_in_one_line(devlint: Run, cwd: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a device here")
    done = devlint("confirm", "net.py", "--entry", "net:build", "--device", "cuda", "-q")
    assert done.returncode == 2
    assert done.stderr == ("devlint: net:build on cuda:0: there is no CUDA device here; --device sim simulates one\n")
    assert "not reached" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "nothing to run: give --entry"),
        (("--entry", "net"), "--entry net: expected module:name"),
        (("--model", "net:Net"), "say what it is called with"),
        (("--input", "float32[2]"), "no --model is given"),
        (
            ("--entry", "net:build", "--device", "gpu"),
            "--device gpu: expected auto, cuda, cuda:N, sim, sim:N, sim-xpu, sim-xpu:N or sim-mps",
        ),
        (("--entry", "net:build", "--placements", "third"), "expected auto, all, or some of first, second, cpu"),
        (("--entry", "net:build", "--memory-limit", "lots"), "expected a size such as 800M or 4G"),
        (("--entry", "net:build", "--", "--epochs", "1"), "no --script is given"),
        (("--model", "net:Net", "--input", "gone.pt"), "the input `gone.pt`: there is no file gone.pt"),
        (("--model", "net:Net", "--input", "float32"), "is not like `float32[4,16]`, `int64[4]{0..9}`, `batch.pt:key`"),
    ],
)
def test_bad_usage_is_one_line(devlint: Run, cwd: Path, arguments: tuple[str, ...], reason: str) -> None:
    done = devlint("confirm", *arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ('entry = "a:b"\nmodel = "c:d"', "an entry has one of `entry`, `model` and `script`"),
        ('entries = "a:b"', "an entry has no key `entries`"),
        ("entry = 3", "`entries.entry` must be a string"),
    ],
)
def test_bad_configuration_is_one_line(devlint: Run, cwd: Path, entry: str, reason: str) -> None:
    (cwd / "devlint.toml").write_text(f"[[entries]]\n{entry}\n")
    done = devlint("confirm")
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


MORE = """\
import torch
from torch import nn


class Other(nn.Module):
    def forward(self, x):
        return x + torch.ones(4)

    def sample(self, x: torch.Tensor):
        return x + torch.ones(4)


def shifted(x: torch.Tensor):
    return x + torch.ones(4)


def build():
    return Other(), load("weights.pt")


def load(path):
    return torch.load(path)


def right():
    return nn.Linear(4, 4), torch.rand(2, 4)
"""


def test_why_an_entry_failed_leads_the_report(devlint: Run, cwd: Path) -> None:
    (cwd / "more.py").write_text(MORE)
    done = devlint("confirm", "more.py", "--entry", "more:build", "--device", "sim")
    assert done.returncode == 2
    assert done.stdout.splitlines()[:5] == [
        "more.py:22:12: more:build failed on cuda:0 (simulated): FileNotFoundError: [Errno 2] No such file or "
        "directory: 'weights.pt'",
        "    |",
        " 21 | def load(path):",
        " 22 |     return torch.load(path)",
        "    |            ^^^^^^^^^^^^^^^^",
    ]
    assert done.stderr == "devlint: more:build on cuda:0 (simulated): failed\n"
    told = devlint("confirm", "more.py", "--entry", "more:build", "--device", "sim", "--output-format", "json")
    assert "failed: FileNotFoundError" in told.stderr
    entry = json.loads(told.stdout)["entries"][0]
    assert entry["failed_at"] == {"path": "more.py", "line": 22, "column": 12}


def test_a_run_that_settles_nothing_finds_nothing_well(devlint: Run, cwd: Path) -> None:
    (cwd / "none.py").write_text("import torch\n\n\ndef build():\n    raise KeyError('weights')\n")
    done = devlint("confirm", "none.py", "--entry", "none:build", "--device", "sim")
    assert done.returncode == 2
    assert "none.py:5:5: none:build failed on cuda:0 (simulated): KeyError: 'weights'" in done.stdout
    assert "Nothing was settled in 1 file" in done.stdout
    assert "No device-placement problem" not in done.stdout


def test_what_nothing_came_near_is_one_line(devlint: Run, cwd: Path) -> None:
    (cwd / "more.py").write_text(MORE)
    arguments = ("confirm", "net.py", "more.py", "--entry", "net:build", "--device", "sim")
    done = devlint(*arguments)
    assert done.returncode == 1, done.stderr
    assert "more.py:" not in done.stdout
    assert done.stdout.count("= not reached") == 0
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("Not reached: ")]
    assert line == (
        "Not reached: 3 findings in `Other.forward`, `Other.sample` and `shifted`, which nothing ran; -v shows them"
    )
    assert "1 confirmed, 3 not reached" in done.stdout
    assert devlint(*arguments, "-v").stdout.count("= not reached: nothing that ran calls `") == 3
    document = json.loads(devlint(*arguments, "--output-format", "json").stdout)
    assert len(document["findings"]) == 4


def test_a_line_beside_what_ran_is_shown(devlint: Run, cwd: Path) -> None:
    (cwd / "net.py").write_text(
        NET.replace(
            "        return self", "        if x.shape[0] > 9:\n            x = x + torch.ones(4)\n        return self"
        )
    )
    done = devlint("confirm", "net.py", "--entry", "net:build", "--device", "sim")
    assert "= not reached: on cuda:0 (simulated) by net:build, `Net.forward` ran, but not this line" in done.stdout
    assert "which nothing ran" not in done.stdout


def test_what_is_skipped_is_told_once(devlint: Run, cwd: Path) -> None:
    (cwd / "net.py").write_text(
        NET.replace("width=4", "encoder").replace("nn.Linear(width, width)", "encoder")
        + "\n\ndef shifted(x):\n    return x + torch.ones(4)\n"
    )
    done = devlint("confirm", "net.py", "--auto", "--device", "sim", "--select", "DEV1")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "devlint: net:Net on cuda:0 (simulated): skipped: its constructor needs `encoder`",
        "devlint: net:shifted: skipped: no class of its file calls it, and it does not say that it takes tensors and "
        "numbers alone; give an --entry that calls it",
    ]
    assert "No device-placement problem" not in done.stdout


def test_auto_builds_what_calls_a_function_with_a_finding(devlint: Run, cwd: Path) -> None:
    """Names that share a reason are told together."""
    alone = "".join(f"\n\ndef alone_{n}(x: torch.Tensor, path: str):\n    return x + torch.ones(4)\n" for n in range(5))
    alone += "\n\ndef taken(x: torch.Tensor, by: float):\n    return x * by + torch.ones(4)\n"
    (cwd / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\ndef shifted(x: torch.Tensor):\n    return x + torch.ones(4)\n\n\n"
        "def twice(x):\n    return shifted(shifted(x))\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.lin = nn.Linear(4, 4)\n\n    def forward(self, x):\n        return twice(self.lin(x))\n" + alone
    )
    done = devlint("confirm", "net.py", "--auto", "--device", "sim", "--select", "DEV1")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "devlint: net:Net on cuda:0 (simulated): ran",
        "devlint: net:taken on cuda:0 (simulated): ran",
        "devlint: net:alone_0, net:alone_1, net:alone_2 and 2 more: skipped: no class of its file calls it, and it "
        "does not say that it takes tensors and numbers alone; give an --entry that calls it",
    ]
    assert "= confirmed: on cuda:0 (simulated) by net:Net" in done.stdout
    assert "= confirmed: on cuda:0 (simulated) by net:taken" in done.stdout


def test_auto_of_what_has_no_finding_finds_nothing_well(devlint: Run, cwd: Path) -> None:
    (cwd / "net.py").write_text("import torch\n\n\ndef plain(x):\n    return x\n")
    done = devlint("confirm", "net.py", "--auto", "--device", "sim")
    assert done.returncode == 2
    assert "No device-placement problem" not in done.stdout
    assert "--auto builds the modules that have findings, and those of files that are named" in done.stderr


PRIOR = """
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence


class Prior(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.prior = Normal(torch.zeros(4), 1.0)

    def forward(self, x):
        return kl_divergence(Normal(self.lin(x), 1.0), vars(self)["prior"])


class Needs(nn.Module):
    def __init__(self, tokenizer):
        super().__init__()

    def forward(self, x):
        return x
"""


def test_auto_builds_the_modules_of_a_named_file_that_have_no_finding(devlint: Run, cwd: Path) -> None:
    (cwd / "net.py").write_text(PRIOR)
    assert "Prior" not in devlint("check", "net.py").stdout
    done = devlint("confirm", "net.py", "--auto", "--device", "sim")
    assert done.returncode == 1
    assert "`self.prior.scale` on cpu meets" in done.stdout
    (cwd / "net.py").write_text(PRIOR.replace("return kl", "x = self.lin(x) + torch.zeros(4)\n        return kl"))
    done = devlint("confirm", "net.py", "--auto", "--device", "sim")
    assert done.stderr.splitlines() == ["devlint: net:Prior on cuda:0 (simulated): ran"]
    assert "2 confirmed" in done.stdout
    (cwd / "net.py").write_text(PRIOR.replace("Normal(torch.zeros(4), 1.0)", "Normal(0.0, 1.0)"))
    done = devlint("confirm", "net.py", "--auto", "--device", "sim")
    assert done.returncode == 0
    assert "Needs" in done.stderr
    assert devlint("confirm", ".", "--auto", "--device", "sim").returncode == 2


def test_torch_without_numpy_says_nothing_of_it(devlint: Run, cwd: Path) -> None:
    hidden = cwd / "hidden"
    hidden.mkdir()
    (hidden / "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')\n")
    done = devlint("confirm", "net.py", "--entry", "net:build", "--device", "sim", env={"PYTHONPATH": str(hidden)})
    assert done.returncode == 1, done.stderr
    assert done.stderr == "devlint: net:build on cuda:0 (simulated): ran\n"


def test_values_come_from_files_and_literals(devlint: Run, cwd: Path) -> None:
    torch, numpy = pytest.importorskip("torch"), pytest.importorskip("numpy")
    (cwd / "tokens.py").write_text(
        "import torch\nfrom torch import nn\n\n\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.table = nn.Embedding(10, 4)\n\n"
        "    def forward(self, ids, *, scale, shifted=False):\n"
        "        h = self.table(ids) * scale\n"
        "        if shifted:\n            h = h + torch.ones(4)\n"
        "        return h\n"
    )
    torch.save({"ids": torch.tensor([3, 9]), "scale": torch.tensor([2.0])}, cwd / "batch.pt")
    numpy.savez(cwd / "batch.npz", ids=numpy.array([3, 9]))
    arguments = ("confirm", "tokens.py", "--model", "tokens:Net", "--device", "sim", "--input", "shifted=True")
    for given in (["**batch.pt"], ["batch.npz", "scale=batch.pt:scale"], ["int64[2]{0..9}", "scale=2.0"]):
        done = devlint(*arguments, *(part for text in given for part in ("--input", text)))
        assert done.returncode == 1, done.stdout + done.stderr
        assert "= confirmed" in done.stdout
    done = devlint(*arguments, "--input", "batch.pt:tokens")
    assert done.returncode == 2
    assert "tokens:Net failed on cuda:0 (simulated): batch.pt holds no `tokens`, only ids, scale" in done.stdout
