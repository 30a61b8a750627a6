"""The cases of ``speed.py``: whole releases and single files, each beside what it is measured by."""

from __future__ import annotations

import itertools
import shutil
import sys
from pathlib import Path

from linting import line_count
from speed_peers import type_checkers
from timing import Case, Command, Sample, measure, median, median_ratio

from devlint.source.discovery import SUFFIXES

DEVLINT = [sys.executable, "-P", "-m", "devlint", "check", "--isolated", "--no-respect-gitignore"]
_FLOOR = [sys.executable, "-P", str(Path(__file__).parent / "floor.py")]
_RUFF = ["ruff", "check", "--isolated", "--no-respect-gitignore", "--silent", "--exit-zero"]

TOUCHED = {
    "transformers": ("transformers/models/bert/modeling_bert.py", "transformers/modeling_utils.py"),
    "diffusers": ("diffusers/models/unets/unet_2d_condition.py", "diffusers/utils/torch_utils.py"),
    "timm": ("timm/models/vision_transformer.py", "timm/layers/helpers.py"),
}
"""For each corpus a file of its own, and one that many others import."""

GOALS = {"warm": 0.12, "one file touched": 0.2}
"""What is aimed at, in terms of the floor's wall time."""


def python_files(directory: Path) -> list[str]:
    """Every file that devlint looks at by default and ``ast`` can read, relative to ``directory``."""
    found = (path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.suffix in SUFFIXES[:2])
    return sorted(found)


def floor(directory: Path, paths: list[str], jobs: int) -> Command:
    return Command([*_FLOOR, str(jobs)], directory, stdin="\n".join(paths).encode())


def print_whole(directory: Path, scratch: Path, jobs: int, rounds: int, peers: bool) -> None:
    """A release: from nothing, again with nothing changed, with one file touched, and its files without torch."""
    paths = python_files(directory)
    bare = [path for path in paths if b"torch" not in (directory / path).read_bytes()]
    lines = line_count(directory, paths)
    cache, again = scratch / "cache", [*DEVLINT, "-j", str(jobs), "."]
    cached = [*again[:-1], "--cache-dir", str(cache), "."]
    listed = scratch / "bare.txt"
    listed.write_text("\n".join(bare))
    shutil.rmtree(cache, ignore_errors=True)
    counter = itertools.count(1)

    def touch(path: Path) -> None:
        path.write_bytes(path.read_bytes() + f"\ntouched_{next(counter)} = None\n".encode())

    own, shared = (directory / path for path in TOUCHED[directory.name.rpartition("-")[0]])
    warm = Command(cached, directory)
    cached_cases = [
        Case("cold, filling the cache", warm, lambda: shutil.rmtree(cache, ignore_errors=True)),
        Case("warm", warm),
        Case("one file touched", warm, lambda: touch(own)),
        Case("one imported file touched", warm, lambda: touch(shared)),
    ]
    cases = [
        Case("floor", floor(directory, paths, jobs)),
        Case("cold", Command([*again, "--no-cache"], directory)),
        *cached_cases,
        Case("floor without torch", floor(directory, bare, jobs)),
        Case("files without torch alone", Command([*again[:-1], "--no-cache", f"@{listed}"], directory)),
        *([*_peers(directory, scratch, jobs), *type_checkers(directory, scratch, jobs)] if peers else []),
    ]
    samples = measure(cases, rounds)
    base = samples["floor"]
    print(f"\n{directory.name}: {len(paths):,} files ({len(paths) - len(bare):,} with torch), {lines:,} lines; "
          f"the floor takes {median(base, 'wall'):.2f} s, {median(base, 'cpu'):.2f} s of processors")  # fmt: skip
    print(f"  {'':28} {'wall s':>8} {'cpu s':>8} {'of floor':>9} {'cpu':>8}")
    for case in cases[1:]:
        by = samples["floor without torch"] if case.name == "files without torch alone" else base
        print(_row(case.name, samples[case.name], by))


def _row(name: str, samples: list[Sample], base: list[Sample]) -> str:
    walls, cpus = median_ratio(samples, base, "wall"), median_ratio(samples, base, "cpu")
    goal = f"   goal {GOALS[name]}" if name in GOALS else ""
    return f"  {name:28} {median(samples, 'wall'):8.2f} {median(samples, 'cpu'):8.2f} {walls:9.3f} {cpus:8.3f}{goal}"


def _peers(directory: Path, scratch: Path, jobs: int) -> list[Case]:
    """Other linters that are installed, with as many processes; theirs is other work than devlint's."""
    cases: list[Case] = []
    if shutil.which("ruff"):
        threads = {"RAYON_NUM_THREADS": str(jobs)}
        cache = ["--cache-dir", str(scratch / "ruff-cache")]
        cases += [
            Case("ruff without cache", Command([*_RUFF, "--no-cache", "."], directory, environment=threads)),
            # Twice: the first run of the first round fills the cache.
            Case("ruff, filling its cache", Command([*_RUFF, *cache, "."], directory, environment=threads)),
            Case("ruff with cache", Command([*_RUFF, *cache, "."], directory, environment=threads)),
        ]
    if shutil.which("flake8"):
        command = ["flake8", "--isolated", "--exit-zero", "-q", "-j", str(jobs), "--select", "F", "."]
        cases.append(Case("flake8 (pyflakes)", Command(command, directory)))
    if shutil.which("semgrep"):
        rules = scratch / "semgrep.yml"
        rules.write_text(
            "rules:\n- {id: cuda, languages: [python], severity: WARNING, message: cuda, pattern: $X.cuda()}\n"
        )
        command = ["semgrep", "scan", "--config", str(rules), "--metrics=off", "--disable-version-check", "-q"]
        command += ["--no-git-ignore", "-j", str(jobs), "."]
        cases.append(Case("semgrep (one rule)", Command(command, directory)))
    return cases


def print_single_files(scratch: Path, rounds: int) -> None:
    """One file from nothing, beside the start of Python with what it needs; commands that look at no file."""
    directory = scratch / "single"
    directory.mkdir(exist_ok=True)
    (directory / "net.py").write_text(torch_file(500))
    (directory / "bare.py").write_text(torch_file(500).replace("torch", "numpy"))
    (directory / "one.py").write_text(_ONE_MODULE)

    def python(code: str) -> Command:
        return Command([sys.executable, "-P", "-c", code], directory)

    def devlint(*arguments: str) -> Command:
        return Command([sys.executable, "-P", "-m", "devlint", *arguments], directory)

    cases = [
        Case("python", python("pass")),
        Case("import click", python("import click")),
        Case("import libcst", python("import libcst")),
        Case("500 lines with torch", devlint("check", "--isolated", "--no-cache", "net.py")),
        Case("500 lines without torch", devlint("check", "--isolated", "--no-cache", "bare.py")),
        Case("--version", devlint("--version")),
        Case("rule DEV101", devlint("rule", "DEV101")),
        Case("import torch", python("import torch")),
        Case(
            "confirm of one module",
            devlint("confirm", "--isolated", "--model", "one:Net", "--input", "float32[4,8]", "one.py"),
        ),
    ]
    measured_by = {
        "500 lines with torch": ("import libcst", 3.0),
        "500 lines without torch": ("import click", 2.5),
        "--version": ("import click", None),
        "rule DEV101": ("import click", None),
        "confirm of one module": ("import torch", 2.5),
    }
    samples = measure(cases, max(rounds, 3) * 3)
    print(f"\nsingle files\n  {'':28} {'wall s':>8} {'cpu s':>8} {'ratio':>9} {'cpu':>8}")
    for case in cases:
        found = samples[case.name]
        line = f"  {case.name:28} {median(found, 'wall'):8.3f} {median(found, 'cpu'):8.3f}"
        if case.name in measured_by:
            by, goal = measured_by[case.name]
            walls, cpus = (median_ratio(found, samples[by], of) for of in ("wall", "cpu"))
            line += f" {walls:9.2f} {cpus:8.2f}   of {by}" + (f", goal {goal}" if goal else "")
        print(line)


_ONE_MODULE = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x) + torch.zeros(8)
"""
"""Wrong at one place, so that the run has something to repair and to tell."""

_MODULE = '''

class Block{n}(nn.Module):
    """One block of a network, of the usual kind."""

    def __init__(self, width, heads, dropout=0.1):
        super().__init__()
        self.width = width
        self.heads = heads
        self.attend = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)
        self.norm = nn.LayerNorm(width)
        self.register_buffer("scale", torch.ones(width))

    def mask(self, x, lengths):
        steps = torch.arange(x.shape[1], device=x.device)
        return steps[None, :] >= lengths[:, None]

    def forward(self, x, lengths=None):
        mask = None if lengths is None else self.mask(x, lengths)
        attended, weights = self.attend(x, x, x, key_padding_mask=mask)
        x = self.norm(x + attended)
        hidden = torch.relu(self.first(x))
        if self.training:
            hidden = hidden * torch.bernoulli(torch.full_like(hidden, 0.9))
        positions = torch.zeros(x.shape[0], x.shape[1], self.width, device=x.device)
        for head in range(self.heads):
            positions[:, head % x.shape[1]] += weights.sum(dim=-1)[:, :1]
        return self.norm(x + self.second(hidden) + positions) * self.scale
'''


def torch_file(lines: int) -> str:
    """A program of about so many lines: modules one like another, right but for one of them."""
    blocks = max(round((lines - 4) / _MODULE.count("\n")), 1)
    text = "import torch\nfrom torch import nn\n" + "".join(_MODULE.replace("{n}", str(n)) for n in range(blocks))
    wrong = text.rfind(", device=x.device)\n        for")
    return text[:wrong] + text[wrong + len(", device=x.device") :]
