"""What a run says of a finding, in each form that is written here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from devlint.finding import Operand, Place, Verdict, VerdictState
from devlint.pipeline.result import EntryRun, Result
from devlint.reports.concise import concise_lines
from devlint.reports.json_document import json_document
from devlint.reports.painting import paint
from devlint.reports.source_lines import SourceLines
from devlint.reports.summary import summary_line
from devlint.reports.text import text_lines
from tests.reports.test_text import FINDING, MADE, NET

MET = Verdict(
    VerdictState.CONFIRMED,
    "cuda:0",
    simulated=True,
    entry="net:build",
    error="Input and hidden tensors are not at the same device\nCompile with TORCH_USE_CUDA_DSA",
    operands=(
        Operand("hx", "cpu", (1, 8), "torch.float32", born=MADE),
        Operand("", "cuda:0", (), "torch.float32", born=Place("run.py", 3, 0, 3, 0), moved=Place("run.py", 9, 5, 9, 9)),
    ),
)
RESULT = Result(
    (replace(FINDING, verdict=MET),),
    1,
    confirming=True,
    entries=(EntryRun("net:build", "cuda:0", True, "ran"),),
)


def test_text_names_the_run_its_error_and_both_operands() -> None:
    text = paint(text_lines(RESULT.findings, SourceLines(Path(), {"net.py": NET}), None), color=False)
    assert (
        """
   = confirmed: on cuda:0 (simulated) by net:build
     Input and hidden tensors are not at the same device
     `hx` float32[1, 8] on cpu, made at net.py:5:14
     a value float32[] on cuda:0, made at run.py:3, moved at run.py:9:5
   = help: create it where the input is
"""
        in text
    )


def test_concise_ends_with_the_verdict() -> None:
    line = paint(concise_lines(RESULT.findings), color=False)
    assert line.endswith("is created on the CPU (confirmed on cuda:0 (simulated) by net:build)\n")


def test_json_holds_verdict_and_entries() -> None:
    document = json.loads(json_document(RESULT))
    verdict = document["findings"][0]["verdict"]
    assert verdict["state"] == "confirmed"
    assert (verdict["device"], verdict["simulated"], verdict["entry"]) == ("cuda:0", True, "net:build")
    assert verdict["error"].startswith("Input and hidden")
    assert verdict["operands"][0]["born"] == {"path": "net.py", "line": 5, "column": 14}
    assert verdict["operands"][1]["moved"] == {"path": "run.py", "line": 9, "column": 5}
    assert document["entries"] == [
        {"entry": "net:build", "device": "cuda:0", "simulated": True, "state": "ran", "reason": None}
    ]


def test_summary_counts_verdicts() -> None:
    line = paint([summary_line(RESULT)], color=False)
    assert line.startswith("1 error in 1 file (0.00 s): 1 confirmed")


def test_only_what_was_confirmed_gates_a_confirming_run() -> None:
    refuted = replace(FINDING, verdict=replace(MET, state=VerdictState.REFUTED))
    assert RESULT.exit_code == 1
    assert replace(RESULT, findings=(refuted,)).exit_code == 0
    assert replace(RESULT, not_run="net:build: nothing reached cuda:0").exit_code == 2
