"""Comparisons of devices: what they come to is read out of the program, which runs as it did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from devlint.check import Request
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.finding import Place, VerdictState
from devlint.runtime import entries
from devlint.runtime.comparisons import watched
from devlint.runtime.entries import Entry
from devlint.runtime.nursery import Nursery
from devlint.runtime.observation import Observation
from devlint.runtime.placements import Wish
from tests.fixture_expectations import FIXTURES, expectations_of

ENTRIES = """\
import torch
import never_equal as compares


def build():
    return step


def step(device=torch.device("cpu")):
    x = torch.ones(4, device=device)
    for each in (compares.with_a_string, compares.with_an_indexed_string, compares.with_an_index_less_device,
                 compares.the_other_way_round, compares.among_strings, compares.over_a_name):
        each(x)
    compares.by_identity(x, x)
    if device.type != "cpu":
        compares.of_a_made_tensor()
    net = compares.Guarded().to(device)
    net(x)
    net.on_gpu()


if __name__ == "__main__":
    import sys

    step(torch.device(sys.argv[1]))
"""
NEVER = FIXTURES / "rules" / "DEV305" / "never_equal.py"
UNREACHED = {46}
"""An assertion that names a kind of device which is not simulated."""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    shutil.copy(NEVER, tmp_path)
    (tmp_path / "entry.py").write_text(ENTRIES)
    return tmp_path


@pytest.mark.parametrize(
    "entry", [entries.built("entry:build"), entries.script("entry.py", ("cuda",))], ids=["entry", "script"]
)
def test_every_comparison_that_never_holds_is_confirmed(program: Path, nursery: Nursery, entry: Entry) -> None:
    overrides = Overrides({"select": ["DEV305"]}, None, isolated=True)
    check = Request(("never_equal.py",), program, overrides, jobs=1)
    result, _ = confirm(ConfirmRequest(check, (entry,), Wish("sim"), timeout=60), nursery=nursery)
    states = {(f.place.line, f.place.column): f.verdict.state for f in result.findings if f.verdict is not None}
    assert {line for line, _ in states} == {line for line, _ in expectations_of(NEVER, NEVER.read_text()).expected}
    of_the_cpu = {10, 26} if entry.kind == "script" else set()
    for (line, _), state in states.items():
        if line in UNREACHED:
            assert state is VerdictState.NOT_REACHED
        elif line in of_the_cpu:
            assert state is VerdictState.INCONCLUSIVE  # the script was told where to run
        else:
            assert state is VerdictState.CONFIRMED, line


def answers(source: str, *columns: tuple[int, int]) -> list[str]:
    """What is told of a program with comparisons at these columns of its only line."""
    found: list[Observation] = []
    places = [Place("program.py", 1, start, 1, end) for start, end in columns]
    with watched(places, found.append) as compiled:
        exec(compiled(source.encode(), "program.py"), {})
    return [o.message for o in found]


def test_a_comparison_that_holds_is_not_told() -> None:
    source = "import torch; d = torch.zeros(1).device; assert (d == torch.device('cpu')) is True"
    start = source.index("d == ") + 1
    assert answers(source, (start, start + len("d == torch.device('cpu')"))) == []


def test_a_comparison_with_another_kind_of_device_is_right() -> None:
    source = "import torch; d = torch.zeros(1).device; assert (d == 'cuda') is False"
    start = source.index("d == ") + 1
    assert answers(source, (start, start + len("d == 'cuda'"))) == []


def test_operands_are_evaluated_once_and_in_order() -> None:
    source = "import torch; o = []; (o.append(1) or torch.device('cpu')) == (o.append(2) or 'cpu'); assert o == [1, 2]"
    start, end = source.index("(o.append(1)") + 1, source.index("; assert") + 1
    assert answers(source, (start, end)) == ["`cpu == 'cpu'` is False"]


def test_a_chain_of_comparisons_is_left_alone() -> None:
    source = "import torch; d = torch.zeros(1).device; d == 'cpu' == 3"
    start = source.index("d == ") + 1
    assert answers(source, (start, len(source) + 1)) == []
