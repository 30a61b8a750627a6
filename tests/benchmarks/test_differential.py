"""Programs written at random: they are what they claim to be, and the two halves of devlint agree on some of them."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from devlint.runtime.nursery import Nursery
from tests.benchmarks.differential import compared
from tests.benchmarks.generating.files import batch, batches, of, runs
from tests.benchmarks.generating.units import Unit, unit
from tests.benchmarks.metamorphic import REWRITINGS, Tally, compare
from tests.benchmarks.rewriting.program import Program

BROKEN = Unit(
    (
        "def left_behind(x: torch.Tensor):",
        "    return x + torch.ones(4, 4)",
        "",
        "def put_there(x: torch.Tensor):",
        "    return x + torch.ones(4, 4, device=x.device)",
    ),
    (),
    (),
    tuple(f"lambda device: main.{name}(torch.randn(4, 4).to(device))" for name in ("left_behind", "put_there")),
)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as home:
        yield home


def test_a_seed_gives_the_same_programs() -> None:
    first, second = (batch(random.Random("seed"), "same", 4) for _ in range(2))
    assert (first.main, first.apart, first.driver) == (second.main, second.apart, second.driver)
    assert first.main != batch(random.Random("another"), "same", 4).main


def test_each_line_belongs_to_the_unit_that_wrote_it() -> None:
    made = batch(random.Random("owners"), "owned", 5)
    for text, owners, part in zip((made.main, made.apart), made.owners, ("lines", "apart"), strict=True):
        lines = text.splitlines()
        for number, one in enumerate(made.units):
            own = [line for line, owner in zip(lines, owners, strict=True) if owner == number]
            assert own == [line for written in getattr(one, part) for line in written.splitlines() or [""]]


def test_programs_are_of_many_kinds() -> None:
    kinds: Counter[type[ast.AST]] = Counter()
    for _, made in batches(0, 4, 10):
        kinds.update(type(node) for node in ast.walk(ast.parse(made.main + made.apart)))
    wanted = (ast.ClassDef, ast.For, ast.If, ast.With, ast.Lambda, ast.ListComp, ast.DictComp, ast.AugAssign, ast.Tuple)
    assert all(kinds[kind] > 1 for kind in wanted), kinds


def test_what_fails_on_the_cpu_is_no_program() -> None:
    assert runs(BROKEN)
    assert not runs(Unit((), (), (), ("main.nothing",)))


def test_a_bug_is_found_by_both_halves_and_its_repaired_twin_by_none(tmp_path: Path, nursery: Nursery) -> None:
    said = compared(of((BROKEN,), "known"), "known", tmp_path, nursery)
    assert [(one.how, one.finding.code, one.finding.scope) for one in said] == [
        ("found local", "DEV101", "left_behind")
    ]


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(rng=st.randoms(use_true_random=False))
def test_an_error_of_the_static_half_clashes_when_its_line_runs(
    rng: random.Random, tmp_path_factory: pytest.TempPathFactory, nursery: Nursery
) -> None:
    one = unit(rng, 0)
    assume(runs(one))
    name = f"drawn_{rng.randrange(10**9)}"
    said = compared(of((one,), name), name, tmp_path_factory.mktemp("drawn"), nursery)
    assert [(told.finding.place.line, told.finding.message) for told in said if told.how == "false error"] == []


def test_rewritings_change_no_finding() -> None:
    text = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
    text += "\n".join(BROKEN.lines) + "\n"
    text += "def put_back(x: torch.Tensor):\n    mask = torch.ones(4, 4, device=x.device)\n    return x * mask\n"
    text += "class Kept:\n    def put(self, x):\n        self.x = x\n    def get(self):\n        return self.x\n"
    runs = (*BROKEN.runs, "lambda device: main.Kept().put(1)")
    tallies: dict[str, Tally] = {}
    assert list(compare(Program(text, "rewritten", runs=runs), Path("rewritten.py").absolute(), tallies)) == []
    assert tallies.keys() == {"formatting", *REWRITINGS}
    assert all(tally.findings == 1 for tally in tallies.values())
