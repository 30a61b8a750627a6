"""Suspicions, entries and runs, and what comes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.check import Request, check
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import Finding, Severity, Verdict, VerdictState
from devlint.gate.wanted import BaselineUse, Wanted
from devlint.pipeline.result import Result
from devlint.runtime import entries
from devlint.runtime.entries import Entry
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import Placement, Wish

NET = """\
import functools
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        hidden = torch.zeros(x.shape[0], 8)
        return self.lin(x) + hidden

    def never_called(self, x: torch.Tensor):
        return x + torch.ones(8)


class Derived(Base):
    pass


class Conditional(nn.Module):
    def forward(self, x, wide=False):
        mask = torch.ones(8)
        if wide:
            x = x * mask
        return x


class Repaired(Base):
    def forward(self, x):
        hidden = torch.zeros(x.shape[0], 8, device=x.device)
        return self.lin(x) + hidden


class Narrow(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, x):
        return self.encoder(x) + torch.zeros(8)


def doubled(function):
    @functools.wraps(function)
    def inner(x):
        return function(x) * 2
    return inner


class Decorated(nn.Module):
    @doubled
    def _shift(x):
        return x + torch.ones(
            8,
        )

    def forward(self, x):
        pick = lambda value: torch.cat([value, torch.zeros(1, 8)])
        return pick(Decorated._shift(x))


def build():
    return Derived(), torch.rand(4, 8)


def build_repaired():
    return Repaired(), {"x": torch.rand(4, 8)}


def build_conditional():
    return Conditional(), (torch.rand(4, 8),)


def build_decorated():
    return Decorated(), (torch.rand(4, 8),)


def on_the_cpu():
    return lambda: torch.zeros(3) + 1


def broken():
    raise ValueError("no such weights")


def module_alone():
    return Base()
"""


class Project:
    def __init__(self, cwd: Path, nursery: Nursery) -> None:
        self.cwd, self.nursery = cwd, nursery

    def __call__(self, *named: Entry, auto: bool = False, train: bool = False, **values: object) -> Result:
        check = Request((".",), self.cwd, Overrides(values), jobs=1)
        request = ConfirmRequest(check, named, Wish("sim"), auto=auto, train=train, timeout=120)
        self.result, self.runs = confirm(request, nursery=self.nursery)
        return self.result

    def at(self, text: str, code: str = "DEV101") -> Finding:
        line = NET[: NET.index(text)].count("\n") + 1
        return next(f for f in self.result.findings if f.place.line == line and f.code == code)

    def verdict(self, text: str) -> Verdict:
        verdict = self.at(text).verdict
        assert verdict is not None
        return verdict


@pytest.fixture
def project(tmp_path: Path, nursery: Nursery) -> Project:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "pyproject.toml").write_text("[project]\nname='x'\n")
    return Project(tmp_path, nursery)


def test_what_happens_is_confirmed_with_both_births_and_the_rest_is_not_reached(project: Project) -> None:
    result = project(entries.built("net:build"))
    verdict = project.verdict("hidden = torch.zeros(x.shape[0], 8)\n")
    assert (verdict.state, verdict.device, verdict.simulated) == (VerdictState.CONFIRMED, "cuda:0", True)
    assert "Expected all tensors to be on the same device" in (verdict.error or "")
    births = {(operand.device, operand.born.line if operand.born else 0) for operand in verdict.operands}
    made = NET[: NET.index("hidden = torch.zeros(x.shape[0], 8)\n")].count("\n") + 1
    assert ("cpu", made) in births
    assert any(device == "cuda:0" and line for device, line in births)
    assert project.verdict("x + torch.ones(8)\n").state is VerdictState.NOT_REACHED
    assert project.at("hidden = torch.zeros(x.shape[0], 8)\n").severity is Severity.ERROR
    assert project.at("x + torch.ones(8)\n").severity is Severity.WARNING
    assert result.exit_code == 1
    assert [(entry.entry, entry.device, entry.state) for entry in result.entries] == [("net:build", "cuda:0", "ran")]


def test_what_a_baseline_knows_is_settled_too(project: Project) -> None:
    known = Overrides({"baseline": "known.json"})
    assert check(Request((".",), project.cwd, known, jobs=1, wanted=Wanted(BaselineUse.WRITE))).exit_code == 0
    assert project(entries.built("net:build"), baseline="known.json").exit_code == 1
    assert project.verdict("hidden = torch.zeros(x.shape[0], 8)\n").state is VerdictState.CONFIRMED


def test_repaired_program_confirms_nothing(project: Project) -> None:
    result = project(entries.built("net:build_repaired"))
    assert result.exit_code == 0
    assert {f.verdict.state for f in result.findings if f.verdict} == {VerdictState.NOT_REACHED}


def test_a_meeting_that_did_not_run_leaves_it_open(project: Project) -> None:
    project(entries.built("net:build_conditional"))
    verdict = project.verdict("mask = torch.ones(8)")
    assert verdict.state is VerdictState.INCONCLUSIVE
    assert verdict.reason.startswith("what happens at net.py:")


def test_multi_line_statement_decorator_and_lambda(project: Project) -> None:
    project(entries.built("net:build_decorated"))
    assert project.verdict("x + torch.ones(\n").state is VerdictState.CONFIRMED
    assert project.verdict("pick = lambda").state is VerdictState.CONFIRMED


def test_nothing_on_the_device_is_no_success(project: Project) -> None:
    result = project(entries.built("net:on_the_cpu"))
    assert result.not_run == "nothing that ran reached cuda:0"
    assert result.exit_code == 2


def test_entries_that_cannot_run_say_why_and_keep_the_other_verdicts(project: Project) -> None:
    result = project(entries.built("net:build"), entries.built("net:broken"), entries.built("net:module_alone"))
    assert result.not_run == "net:broken on cuda:0: ValueError: no such weights"
    assert result.exit_code == 2
    assert project.verdict("hidden = torch.zeros(x.shape[0], 8)\n").state is VerdictState.CONFIRMED
    assert [entry.reason for entry in result.entries][2] == (
        "net:module_alone returns a module without inputs; return (model, inputs)"
    )


def test_model_is_built_and_trained(project: Project) -> None:
    result = project(entries.model("net:Base", "width=8", ["x=float32[4,8]"]), train=True)
    assert result.exit_code == 1
    assert {run.state for run in project.runs} == {"ran"}


def test_auto_builds_what_it_can_and_says_what_it_cannot(project: Project) -> None:
    result = project(auto=True)
    states = {entry.entry: (entry.state, entry.reason) for entry in result.entries}
    assert states["net:Base"] == ("ran", None)
    assert states["net:Decorated"] == ("ran", None)
    assert states["net:Narrow"] == ("skipped", "its constructor needs `encoder`")
    assert project.verdict("hidden = torch.zeros(x.shape[0], 8)\n").state is VerdictState.CONFIRMED
    assert result.exit_code == 1


def test_a_script_runs_with_its_arguments(project: Project) -> None:
    (project.cwd / "train.py").write_text(
        "import sys\nimport torch\nfrom net import Base\n\n\n"
        "if __name__ == '__main__':\n"
        "    assert sys.argv == ['train.py', '--width', '8']\n"
        "    model = Base(int(sys.argv[2])).to('cuda')\n"
        "    model(torch.rand(2, 8, device='cuda'))\n"
        "    sys.exit(0)\n"
    )
    result = project(entries.script("train.py", ["--width", "8"]))
    assert project.runs[0].reason is None
    assert project.verdict("hidden = torch.zeros(x.shape[0], 8)\n").state is VerdictState.CONFIRMED
    assert result.exit_code == 1


def test_what_no_rule_foretold_is_a_finding_of_the_run(project: Project) -> None:
    (project.cwd / "made.py").write_text(
        "import torch\n\nMAKERS = {'wide': vars(torch)['on' + 'es']}\n\n\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        shift = MAKERS['wide'](8)\n"
        "        return x + shift\n\n\n"
        "class Silenced(Net):\n"
        "    def forward(self, x):\n"
        "        return x + MAKERS['wide'](8)  # noqa: DEV101\n\n\n"
        "def build():\n    return Net(), torch.rand(8)\n\n\n"
        "def build_silenced():\n    return Silenced(), torch.rand(8)\n"
    )
    result = project(entries.built("made:build"), entries.built("made:build_silenced"))
    found = [finding for finding in result.findings if finding.origin == "runtime"]
    assert [(f.code, f.place.path, f.place.line, f.place.column, f.scope) for f in found] == [
        ("DEV101", "made.py", 8, 17, "Net.forward")
    ]
    assert found[0].verdict is not None
    assert found[0].verdict.state is VerdictState.CONFIRMED
    assert [step.place.line for step in found[0].trace] == [8, 18, 9]
    assert found[0].fingerprint
    assert result.exit_code == 1
    project(entries.built("made:build"), ignore=["DEV101"])
    assert [f.origin for f in project.result.findings] == []


def test_low_confidence_is_shown_only_if_confirmed(project: Project) -> None:
    (project.cwd / "net.py").unlink()
    (project.cwd / "data.py").write_text(
        "import torch\nfrom torch.utils.data import Dataset\n\n\n"
        "class Rows(Dataset):\n"
        "    def __init__(self, rows: torch.Tensor) -> None:\n        self.rows = rows\n\n"
        "    def __getitem__(self, index: int) -> torch.Tensor:\n"
        "        row = self.rows[index]\n        return row + torch.zeros(row.shape)\n\n\n"
        "def on_the_device():\n    return Rows(torch.rand(3, 2, device='cuda'))[0]\n\n\n"
        "def here():\n    torch.rand(3, device='cuda') + 1\n    return Rows(torch.rand(3, 2))[0]\n"
    )
    result = project(entries.built("data:here"))
    assert (result.findings, result.hidden.below_confidence, result.exit_code) == ((), 1, 0)
    result = project(entries.built("data:on_the_device"))
    assert [f.verdict.state for f in result.findings if f.verdict] == [VerdictState.CONFIRMED]


def test_another_device_is_asked_for_by_the_rules_that_need_it(project: Project) -> None:
    (project.cwd / "net.py").write_text(
        "import torch\n\n\ndef build(device: torch.device):\n"
        "    def step():\n"
        "        x = torch.ones(3, device=device)\n"
        "        y = torch.ones(3)\n"
        "        if x.is_cuda:\n            y = y.cuda()\n"
        "        return x + y\n"
        "    return step\n"
    )
    result = project(entries.built("net:build"))
    assert [run.job.placement for run in project.runs] == [Placement.FIRST, Placement.SECOND]
    assert [(f.code, f.verdict.state, f.verdict.device) for f in result.findings if f.verdict] == [
        ("DEV310", VerdictState.CONFIRMED, "cuda:1")
    ]
