"""The parts of ``real_bugs_run.py`` that can go wrong without a project: spots, choices, judgements, the plugin."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from own_tests.choosing import Spot, files_of_tests, module_of, spot_of
from own_tests.code import code_of_runs
from own_tests.environments import _complaint_of
from own_tests.outcomes import Outcome, Side, count_of, read_explained, read_missed, record_of, table
from own_tests.projects import project_of, projects
from own_tests.running import PLUGIN, SuiteRun
from places import Bug

ROOT = Path(__file__).parents[2]

SOURCE = '''import torch


class Net(torch.nn.Module):
    def __init__(self, size):
        """Text."""
        super().__init__()
        self.table = torch.zeros(
            size,
        )

    def forward(self, x):
        if x.sum() > 0:
            return x + self.table

        def inner(y):
            return y * 2

        return inner(x)


SCALE = torch.ones(3)
'''


@pytest.mark.parametrize(
    ("line", "lines", "function", "within"),
    [
        (9, {8, 9, 10}, range(5, 11), "Net.__init__"),
        (5, {7}, range(5, 11), "Net.__init__"),
        (13, {13}, range(12, 20), "Net.forward"),
        (17, {17}, range(12, 20), "Net.forward"),
        (22, {22}, range(22, 23), ""),
    ],
)
def test_a_spot_is_the_statement_and_the_function_around_it(
    line: int, lines: set[int], function: range, within: str
) -> None:
    spot = spot_of(SOURCE, [line])
    assert (spot.lines, spot.function, spot.within) == (lines, function, within)
    assert spot.is_constructor is (within == "Net.__init__")


def test_of_several_lines_the_first_is_at_fault() -> None:
    spot = spot_of(SOURCE, [13, 9])
    assert (spot.lines, spot.fault, spot.within) == ({8, 9, 10, 13}, {13}, "Net.forward")


def test_modules_are_named_as_they_are_imported() -> None:
    assert module_of("src/net/layers/__init__.py", (".", "src")) == "net.layers"
    assert module_of("net/core.py", (".",)) == "net.core"


def test_the_likeliest_tests_come_first(tmp_path: Path) -> None:
    for name, text in {
        "tests/test_other.py": "from net import Other\n",
        "tests/layers/test_pooling.py": "import net\n",
        "tests/test_many.py": "from net.pooling import top_k\ntop_k(1)\n",
        "tests/conftest.py": "top_k",
        "net/pooling.py": "def top_k(): ...\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    chosen = files_of_tests(tmp_path, ("tests", "test"), "net/pooling.py", "Pooling.top_k")
    assert chosen == ["tests/layers/test_pooling.py", "tests/test_many.py"]
    # What no test names is come to by what uses it.
    (tmp_path / "net" / "kernels.py").write_text("class Kernel: ...\n", "utf-8")
    (tmp_path / "net" / "building.py").write_text("def built():\n    return Kernel()\n", "utf-8")
    assert files_of_tests(tmp_path, ("tests",), "net/kernels.py", "Kernel.forward") == []
    (tmp_path / "tests" / "test_use.py").write_text("from net import built\n", "utf-8")
    assert files_of_tests(tmp_path, ("tests",), "net/kernels.py", "Kernel.forward") == ["tests/test_use.py"]


def test_the_table_of_projects(tmp_path: Path) -> None:
    kornia = project_of("kornia-ebe3915-241")
    assert kornia is not None
    assert "kornia_rs" in kornia.needs
    assert project_of("nobody-ebe3915-241") is None
    assert not [word for project in projects() for word in project.needs if word.startswith(("torch=", "torchvision"))]
    file = tmp_path / "projects.jsonl"
    file.write_text('{"name": "a", "needs": "scipy"}\n{"name": "b", "need": "scipy"}\n', "utf-8")
    with pytest.raises(ValueError, match=r"projects\.jsonl:2: not a project"):
        projects(file)


BUG = Bug(
    "net-1-8", "a/net", "p" * 40, "f" * 40, "net.py", (9,), "net.py", (9,), "Net.__init__", "unregistered-tensor", True,
    None, "Kept on the CPU.",
)  # fmt: skip


def finding(path: str, line: int, born: int | None = None) -> dict[str, Any]:
    operand = {"name": "self.table", "born": born and {"path": "net.py", "line": born}, "moved": None, "computed": None}
    verdict = {"state": "confirmed", "operands": [operand]}
    return {"path": path, "line": line, "scope": "Net", "code": "DEV401", "message": "met", "verdict": verdict}


def side(*findings: dict[str, Any], lifted: int = 1, ran: int = 1, auto: tuple[dict[str, Any], ...] = ()) -> Side:
    return Side(spot_of(SOURCE, [9]), "net.py", SuiteRun((), ran, lifted, 0, 1, 0, findings, "", ""), auto)


def test_a_bug_is_found_in_its_function_or_by_what_comes_from_its_line() -> None:
    after = side(finding("net.py", 30))
    assert Outcome(BUG, "net", side(finding("net.py", 6)), after).verdict == "gone"
    assert Outcome(BUG, "net", side(finding("other.py", 2, born=8)), after).verdict == "gone"
    # Of what a constructor keeps, its first line is told, and the name of the attribute.
    assert Outcome(BUG, "net", side(finding("other.py", 2, born=5)), after).verdict == "gone"
    assert Outcome(BUG, "net", side(finding("net.py", 30)), after).verdict == "missed"
    # What leads to a clash in another function goes with the fix.
    assert Outcome(BUG, "net", side(finding("other.py", 2)), after).verdict == "elsewhere"
    # Not so where fewer tests ran: those that showed it may have been stopped.
    stopped = replace(after, run=replace(after.run, passed=0))
    assert Outcome(BUG, "net", side(finding("other.py", 2)), stopped).verdict == "missed"
    assert Outcome(BUG, "net", side(finding("net.py", 8)), side(finding("net.py", 8))).verdict == "still there"
    assert Outcome(BUG, "net", side(finding("net.py", 8)), None, "no torch").verdict == "cannot run"


def test_what_a_placement_shows_is_gone_where_that_placement_ran_after_the_fix() -> None:
    def placed(*findings: dict[str, Any]) -> tuple[tuple[str, SuiteRun], ...]:
        return (("default", SuiteRun((), 1, 1, 0, 1, 0, findings, "", "")),)

    before = replace(side(), again=placed(finding("other.py", 2)))
    assert Outcome(BUG, "net", before, side()).verdict == "missed"
    assert Outcome(BUG, "net", before, replace(side(), again=placed())).verdict == "elsewhere"
    assert Outcome(BUG, "net", before, replace(side(), again=placed(finding("other.py", 2)))).verdict == "missed"


def test_of_operands_that_meet_the_one_that_is_elsewhere_is_the_bugs() -> None:
    born = {"path": "net.py", "line": 8}
    stray = {"name": "zero", "device": "cpu", "born": None, "moved": None, "computed": None}
    there = {"name": "y", "device": "cuda:1", "born": born, "moved": None, "computed": born}
    told = {"state": "confirmed", "device": "cuda:1", "operands": [stray, there]}
    met = finding("other.py", 2) | {"verdict": told}
    alone = met | {"verdict": told | {"operands": [there]}}
    assert Outcome(BUG, "net", side(finding("net.py", 8)), side(met)).verdict == "gone"
    assert Outcome(BUG, "net", side(alone), side()).verdict == "gone"


def test_what_is_made_in_a_helper_and_kept_at_the_bugs_line_shows_it() -> None:
    met = finding("other.py", 2, born=1)
    (operand,) = met["verdict"]["operands"]
    kept, beside = operand | {"kept": {"path": "net.py", "line": 9}}, operand | {"kept": {"path": "net.py", "line": 2}}
    verdicts = [
        Outcome(BUG, "net", side(met | {"verdict": met["verdict"] | {"operands": [one]}}), side()).verdict
        for one in (kept, beside)
    ]
    assert verdicts == ["gone", "elsewhere"]


def test_the_placement_that_shows_a_bug_is_told() -> None:
    again = (("data", SuiteRun((), 1, 1, 0, 1, 0, (), "", "")),
             ("results", SuiteRun((), 1, 1, 0, 1, 0, (finding("net.py", 6),), "", "")))  # fmt: skip
    before = replace(side(finding("net.py", 30)), again=again)
    assert (before.placement, len(before.said)) == ("results", 2)
    outcome = Outcome(BUG, "net", before, replace(side(), again=again[:1]))
    assert outcome.verdict == "gone"
    assert record_of(outcome)["placement"] == "results"
    assert Outcome(BUG, "net", before, replace(side(), again=again)).verdict == "still there"
    assert side(finding("net.py", 6)).placement == "together"


def test_a_call_that_led_to_a_clash_in_a_helper_shows_the_bug() -> None:
    step = {"path": "net.py", "line": 8, "message": "called here"}
    led = finding("other.py", 2) | {"trace": [step]}
    assert Outcome(BUG, "net", side(led), side()).verdict == "gone"
    assert Outcome(BUG, "net", side(led | {"trace": [step | {"line": 30}]}), side()).verdict == "elsewhere"
    # What meets at the bug's line shows it, what meets elsewhere in the function is in the function's own finding.
    assert Outcome(BUG, "net", side(led | {"trace": [step | {"message": "met here"}]}), side()).verdict == "gone"
    met = led | {"trace": [step | {"message": "met here", "line": 6}]}
    assert Outcome(BUG, "net", side(met), side()).verdict == "elsewhere"


def test_why_bugs_are_missed(tmp_path: Path) -> None:
    file = tmp_path / "missed.jsonl"
    file.write_text('{"id": "net-1-8", "class": "values", "why": "Never empty."}\n', "utf-8")
    assert read_missed(file) == {"net-1-8": ("values", "Never empty.")}
    file.write_text('{"id": "net-1-8", "class": "luck", "why": ""}\n', "utf-8")
    with pytest.raises(ValueError, match=r"missed\.jsonl:1: the class is 'luck', not one of placement, stand-in"):
        read_missed(file)


def test_a_constructor_is_reached_on_the_cpu_and_other_lines_on_the_device() -> None:
    assert side(lifted=0).by_tests
    assert not side(lifted=0, ran=0).by_tests
    forward = replace(side(lifted=0), spot=spot_of(SOURCE, [13]))
    assert not forward.by_tests
    assert replace(forward, auto=(finding("net.py", 13),)).by_entry
    assert not replace(forward, auto=({**finding("net.py", 13), "verdict": {"state": "not-reached"}},)).by_entry


def test_a_bug_is_gone_where_tests_come_to_the_fixed_lines() -> None:
    before = side(finding("net.py", 8))
    assert Outcome(BUG, "net", before, side()).verdict == "gone"
    assert Outcome(BUG, "net", before, side(lifted=0, ran=0)).verdict == "still there"
    assert Outcome(BUG, "net", side(ran=0, lifted=0, auto=(finding("net.py", 8),)), side(lifted=0, ran=0)).gone


def test_what_is_said_after_the_fix_counts_unless_it_is_explained(tmp_path: Path) -> None:
    after = side(finding("net.py", 30), finding("other.py", 2))
    outcome = Outcome(BUG, "net", side(finding("net.py", 8)), after)
    assert table([record_of(outcome)])[-1] == ["total", "1", "1", "1", "0", "1", "1", "0", "2"]
    file = tmp_path / "explained.jsonl"
    file.write_text('{"project": "net", "path": "other.py", "scope": "Net", "why": "A bug of its own."}\n', "utf-8")
    known = frozenset(read_explained(file)["net"])
    assert [f["path"] for f in replace(outcome, explained=known).unexplained] == ["net.py"]


def test_the_complaint_of_pip_is_its_error() -> None:
    assert _complaint_of("WARNING: old\nERROR: No matching distribution\nWARNING: new\n") == "No matching distribution"
    assert _complaint_of("WARNING: old\n") == "pip said nothing"


NET = """
import torch
import absent_package


class Net(torch.nn.Module):
    def forward(self, x):
        shift = torch.zeros(3)
        return x + shift


def built():
    return absent_package.models.Thing()
"""

TESTS = """
import torch
from net import Net, built


def test_other():
    torch.ones(3)


def test_net():
    Net()(torch.ones(3))


def test_forward_directly():
    Net().forward(torch.ones(3))


def test_fails():
    Net()(torch.ones(3))
    assert False


def test_absent():
    built()
"""


def reached_by(tmp_path: Path, net: str, tests: str, lines: list[int]) -> tuple[dict[str, Any], list[Any], str]:
    """What the plugin tells of the lines, by test; the findings of the run; what pytest said."""
    (tmp_path / "net.py").write_text(net, "utf-8")
    (tmp_path / "test_net.py").write_text(tests, "utf-8")
    told = {"watched": {str(tmp_path / "net.py"): lines}, "names": ["net"], "absent": ["absent_package"],
            "words": ["Net", "forward"], "seconds": 100, "enough": 9, "out": str(tmp_path / "out.json")}  # fmt: skip
    (tmp_path / "told.json").write_text(json.dumps(told), "utf-8")
    report = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "devlint_reaching", "--devlint",
         "--devlint-device=sim:1", f"--devlint-report={report}", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{PLUGIN}:{ROOT}", "DEVLINT_REACHING": f"{tmp_path}/told.json"},
    )  # fmt: skip
    reached = json.loads((tmp_path / "out.json").read_text("utf-8"))
    for key in ("ran", "lifted", "broken"):
        reached[key] = [test.rpartition("::")[2] for test in reached[key]]
    return reached, json.loads(report.read_text("utf-8"))["findings"], done.stdout


@pytest.mark.parametrize("installed", [False, True], ids=["not installed", "for another torch"])
def test_the_plugin_tells_which_tests_came_to_a_line(installed: bool, tmp_path: Path) -> None:
    if installed:
        (tmp_path / "absent_package.py").write_text("raise OSError('Could not load this library')\n", "utf-8")
    reached, findings, said = reached_by(tmp_path, NET, TESTS, [8])
    assert reached["ran"] == ["test_forward_directly", "test_net", "test_fails"], said
    assert (reached["lifted"], reached["broken"]) == (["test_net", "test_fails"], ["test_fails"])
    assert (reached["passed"], reached["failed"], reached["skipped"]) == (3, 1, 1)
    # The call that tells of the line changes neither lines nor columns.
    assert [(f["line"], f["column"]) for f in findings] == [(8, 17)]


CHOOSES = """
import torch

try:
    import absent_package
except ImportError:
    absent_package = None


class Net(torch.nn.Module):
    def forward(self, x, shift=None, scale=1):
        shift = torch.zeros(3) if shift is None else shift
        scale = torch.ones(3) if scale is None else x.new_tensor(scale)
        return x * scale + shift
"""

CHOICES = """
import torch
from net import Net, absent_package


def test_made():
    Net()(torch.ones(3))


def test_given():
    Net()(torch.ones(3), torch.ones(3))


def test_who_is_ready_for_an_absent_package_is_told_that_it_is():
    assert absent_package is None
"""


@pytest.mark.parametrize(("line", "ran"), [(12, ["test_made"]), (13, ["test_made", "test_given"])])
def test_of_a_choice_the_arm_that_makes_the_value_is_reached(line: int, ran: list[str], tmp_path: Path) -> None:
    (tmp_path / "absent_package.py").write_text("raise OSError('Could not load this library')\n", "utf-8")
    reached, _, said = reached_by(tmp_path, CHOOSES, CHOICES, [line])
    assert (reached["lifted"], reached["passed"]) == (ran, 3), said
    assert reached["at"] == {f"{tmp_path / 'net.py'}:{line}": [len(ran), len(ran)]}


def test_a_spot_needs_a_function_to_be_within() -> None:
    assert Spot(frozenset({3}), range(3, 4), "").is_constructor is False


def test_the_code_of_runs_is_what_lifted_tests_load(tmp_path: Path) -> None:
    copy = tmp_path / "devlint"
    shutil.copytree(ROOT / "devlint", copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = code_of_runs(tmp_path)
    assert before == code_of_runs()
    code_of_runs.cache_clear()
    rule = next((copy / "rules").rglob("creation*.py"))
    rule.write_text(rule.read_text("utf-8") + "# Another line.\n", "utf-8")
    assert code_of_runs(tmp_path) == before
    code_of_runs.cache_clear()
    simulated = copy / "runtime" / "simulated" / "transfers.py"
    simulated.write_text(simulated.read_text("utf-8") + "# Another line.\n", "utf-8")
    changed = code_of_runs(tmp_path)
    assert changed != before
    code_of_runs.cache_clear()
    table = copy / "semantics" / "tables" / "operations_by_hand.json"
    table.write_text(table.read_text("utf-8").replace("reduction", "unknown", 1), "utf-8")
    assert code_of_runs(tmp_path) not in (before, changed)


def test_rows_are_counted_by_the_code_that_they_were_run_with() -> None:
    rows = [
        {"verdict": "gone", "code": "new"},
        {"verdict": "missed", "code": "old"},
        {"verdict": "not reached", "code": "new"},
        {"verdict": "cannot run", "code": ""},
        {"verdict": "still there"},
    ]
    assert count_of(rows, "new") == "2 of 4 that ran, 1 of 3 reached"
    assert count_of([], "new") == "0 of 0 that ran, 0 of 0 reached"
