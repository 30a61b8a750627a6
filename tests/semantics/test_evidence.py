"""Judge and simulated machine against evidence that does not come from devlint's tables, row by row."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
import torch

from devlint.semantics.record.files import write_rows
from devlint.semantics.record.row import Row
from tests.semantics.conformance import answers as oracles
from tests.semantics.conformance.answers import Answer
from tests.semantics.conformance.comparing import compare, differences, known_differences
from tests.semantics.conformance.evidence import FIXTURES, Fact, best, facts, nearest, of_record, rows

JUDGED = "judge"
SIMULATED = "simulated"


@cache
def settled() -> tuple[list[Row], dict[str, Fact]]:
    """The rows something independent is known of, and the best of it."""
    known = {key: fact for key, sources in facts().items() if (fact := best(sources)) is not None}
    return [row for row in rows() if row.key in known], known


def unlisted(oracle: str, ask: Callable[[Sequence[Row]], list[Answer]], chosen: list[Row]) -> tuple[set[str], set[str]]:
    """Codes that differ and are not listed, and codes that are listed and do not differ."""
    found = set(differences(chosen, settled()[1], ask(chosen)))
    listed = set(known_differences(oracle)) & {row.code for row in chosen}
    return found - listed, listed - found


@pytest.mark.filterwarnings("ignore")
def test_the_judge_differs_only_where_that_is_known() -> None:
    new, gone = unlisted(JUDGED, lambda chosen: [oracles.judged(row) for row in chosen], settled()[0])
    assert not new, "differences that known_differences.json does not list"
    assert not gone, "listed differences that are gone"


@pytest.mark.no_cover  # The machine belongs to the runtime half, which is not traced.
@pytest.mark.filterwarnings("ignore")
def test_the_simulated_machine_differs_only_where_that_is_known() -> None:
    """Every fifth row, and all that differ; tests/benchmarks/conformance.py runs them all."""
    torch.set_num_threads(1)
    listed = known_differences(SIMULATED)
    chosen = [row for i, row in enumerate(settled()[0]) if i % 5 == 0 or row.code in listed]
    new, gone = unlisted(SIMULATED, oracles.simulated, chosen)
    assert not new, "differences that known_differences.json does not list"
    assert not gone, "listed differences that are gone"


@pytest.mark.filterwarnings("ignore")
def test_the_judge_raises_no_false_alarm_and_misses_few_clashes() -> None:
    chosen, known = settled()
    results = [compare(known[row.key], oracles.judged(row)) for row in chosen]
    clashes = sum(known[row.key].clash for row in chosen)
    assert clashes > 3000
    assert results.count("false") == 0
    assert results.count("missed") < clashes / 100
    assert results.count("silent") < len(chosen) / 200


def test_sources_do_not_contradict_each_other() -> None:
    codes = {row.key: row.code for row in rows()}
    apart = {codes[key]: sources for key, sources in facts().items() if len({f.clash for f in sources.values()}) > 1}
    assert not apart


def test_what_is_cited_names_its_source() -> None:
    files = [json.loads((FIXTURES / name).read_text("utf-8")) for name in ("cited.json", "cited_op_db.json")]
    sources = [source for content in files for source in content["sources"]]
    codes = [code for source in sources for code, _ in source["rows"]]
    assert len(codes) == len(set(codes)) >= 400
    assert set(codes) <= {row.code for row in rows()}
    assert {expected for source in sources for _, expected in source["rows"]} == {"ok", "err"}
    assert all(source["says"] and source["url"].startswith(("https://", "torch 2.13.0, ")) for source in sources)


def test_the_record_of_the_structured_metas_is_what_this_torch_says(tmp_path: Path) -> None:
    path = nearest("metas")
    assert path is not None
    chosen = rows()[::60]
    write_rows(tmp_path / "rows.jsonl", {}, chosen)
    command = [sys.executable, "-m", "devlint.semantics.record", "--device", "meta", "--rows", tmp_path / "rows.jsonl"]
    subprocess.run([*command, "--out", tmp_path / "record.jsonl"], check=True, capture_output=True, timeout=120)
    now, said = of_record(tmp_path / "record.jsonl", "metas"), of_record(path, "metas")
    assert len(now) > 10
    assert now == {row.key: said[row.key] for row in chosen if row.key in said}


def test_known_differences_name_rows_and_give_reasons() -> None:
    codes = {row.code for row in rows()}
    for one in json.loads((FIXTURES / "known_differences.json").read_text("utf-8"))["differences"]:
        assert set(one["oracles"]) <= {JUDGED, SIMULATED}
        assert len(one["why"].split()) > 5
        assert set(one["rows"]) <= codes


def test_a_record_of_the_cuda_build_is_there_and_covers_the_rows() -> None:
    path = nearest("build")
    assert path is not None
    assert len(of_record(path, "build")) > 0.95 * len(rows())


def test_the_nearest_record_is_chosen_by_torch_then_by_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.semantics.conformance.evidence.FIXTURES", tmp_path)
    assert nearest("gpu") is None
    names = ("2.11.0+cu128-nvidia-h200", "2.13.0+cu130-nvidia-a100", "2.13.0+cu130-nvidia-h200", "2.13.0+cu130-no-gpu")
    for name in (*names, "2.13.0+cpu-dry-run", "2.13.0+cpu-structured-metas"):
        (tmp_path / f"torch-{name}.jsonl").touch()
    assert [
        nearest("gpu", torch_version=v, name=n).name for v, n in (("2.13.1", "h200"), ("2.13.0", ""), ("2.10.0", ""))
    ] == [  # type: ignore[union-attr]
        "torch-2.13.0+cu130-nvidia-h200.jsonl",
        "torch-2.13.0+cu130-nvidia-a100.jsonl",
        "torch-2.11.0+cu128-nvidia-h200.jsonl",
    ]
    assert nearest("build") == tmp_path / "torch-2.13.0+cu130-no-gpu.jsonl"
    assert nearest("metas") == tmp_path / "torch-2.13.0+cpu-structured-metas.jsonl"


def test_only_what_settles_a_row_is_a_fact(tmp_path: Path) -> None:
    lines = [
        {"record": 1},
        {"key": "a", "outcome": "ok", "devices": ["cuda:0"]},
        {"key": "b", "outcome": "error", "exception": "RuntimeError", "message": "indices should be either on cpu or "
         "on the same device as the indexed tensor (cpu)"},
        {"key": "c", "outcome": "error", "exception": "RuntimeError", "message": "CUDA out of memory"},
        {"key": "d", "outcome": "crashed"},
        {"key": "e", "outcome": "skipped"},
    ]  # fmt: skip
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert of_record(tmp_path / "r.jsonl", "gpu") == {
        "a": Fact("gpu", False, "", ("cuda:0",)),
        "b": Fact("gpu", True, "index_device"),
    }
    assert of_record(tmp_path / "r.jsonl", "metas") == {"b": Fact("metas", True, "index_device")}


@pytest.mark.parametrize(
    ("fact", "answer", "result"),
    [
        (Fact("gpu", True), Answer("clash"), "agrees"),
        (Fact("gpu", True), Answer("ok"), "missed"),
        (Fact("gpu", False), Answer("clash"), "false"),
        (Fact("gpu", False), Answer("unclear"), "silent"),
        (Fact("gpu", False, devices=("cuda:0",)), Answer("ok", devices=("cuda",)), "agrees"),
        (Fact("gpu", False, devices=("cuda:0",)), Answer("ok", devices=("cpu",)), "device"),
        (Fact("gpu", False, devices=("cpu", "cuda:0")), Answer("ok", devices=("cuda:0",)), "agrees"),
        (Fact("gpu", False, devices=()), Answer("ok", devices=("cpu",)), "agrees"),
    ],
)
def test_an_answer_beside_a_fact(fact: Fact, answer: Answer, result: str) -> None:
    assert compare(fact, answer) == result
