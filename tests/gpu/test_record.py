"""The conformance record of this machine: made, or gone on with, and held against judge, simulation and CUDA build."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from devlint.semantics.record.files import file_name, read_record
from devlint.semantics.record.machine import header
from tests.semantics.conformance import answers as oracles
from tests.semantics.conformance.comparing import compare, known_differences
from tests.semantics.conformance.evidence import FIXTURES, Fact, nearest, of_record, rows

ROOT = FIXTURES.parents[1]


@pytest.fixture(scope="module")
def record() -> Path:
    """The record, in fixtures/semantics. Rows it holds already are not run again."""
    path = FIXTURES / file_name(header("cuda"))
    command = [sys.executable, "-m", "devlint.semantics.record", "--device", "cuda", "--out", str(path)]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def facts(record: Path) -> Mapping[str, Fact]:
    return of_record(record, "gpu")


def test_every_row_is_in_the_record(record: Path) -> None:
    about, ended = read_record(record)
    assert about["gpu"]
    assert about["driver"] not in ("", "unknown")
    assert {row.key for row in rows()} <= {e.key for e in ended}


def test_the_gpu_says_what_the_build_without_one_said(facts: Mapping[str, Fact]) -> None:
    path = nearest("build")
    assert path is not None
    said = of_record(path, "build")
    codes = {row.key: row.code for row in rows()}
    apart = [codes[k] for k in facts.keys() & said.keys() & codes.keys() if facts[k].clash != said[k].clash]
    assert not apart


@pytest.mark.filterwarnings("ignore")
def test_judge_and_gpu_differ_only_where_that_is_known(facts: Mapping[str, Fact]) -> None:
    chosen = [row for row in rows() if row.key in facts]
    results = {row.code: compare(facts[row.key], oracles.judged(row)) for row in chosen}
    listed = known_differences("judge")
    assert not [(c, r) for c, r in results.items() if r not in ("agrees", "silent") and c not in listed]
