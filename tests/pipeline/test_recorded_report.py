"""A report made from a recorded lint result is the report that the analysis made."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from devlint.configuration.codes import all_codes
from devlint.pipeline.file_report import analyse_file, recorded_report
from devlint.pipeline.lint_result import LintResult
from devlint.pipeline.stages.display_paths import with_display_paths
from devlint.pipeline.task import FileTask, Gate
from devlint.source.tree import WorkingTree

FLAGGED = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x + torch.ones(3)\n"
DEEP = "import torch\n\ny = " + "(" * 250 + "1" + ")" * 250 + "\n"


def notebook(*cells: str) -> bytes:
    made = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


CONTENTS = {
    "flagged.py": FLAGGED.encode(),
    "suppressed.py": FLAGGED.replace("ones(3)", "ones(3)  # noqa: DEV101").encode(),
    "unused.py": b"import os  # noqa: DEV101\n",
    "syntax.py": b"import torch\n\ndef f(:\n",
    "deep.py": DEEP.encode(),
    "undecodable.py": b"import torch\n\xff\n",
    "flagged.ipynb": notebook("import torch", FLAGGED),
    "broken.ipynb": notebook("import torch\n", "def f(:\n", FLAGGED),
    "deep.ipynb": notebook("import torch\n", "x = 1\n", DEEP),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_recorded_result_makes_the_same_report(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(CONTENTS[name])
    task = FileTask(str(path), name, name, name, Gate(frozenset(all_codes())), cwd=str(tmp_path), recorded=True)
    report = analyse_file(task, WorkingTree())
    record = report.record
    assert record is not None
    assert report.findings or report.suppressed or report.below_gate
    again = recorded_report(LintResult(record.findings, record.refusal), record.digest, task)
    assert with_display_paths(again, task) == replace(report, record=None)


def test_a_file_that_has_changed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(FLAGGED)
    task = FileTask(str(path), "net.py", "net.py", "net.py", Gate(frozenset(all_codes())), recorded=True)
    record = analyse_file(task, WorkingTree()).record
    assert record is not None
    path.write_text(FLAGGED + "\n")
    with pytest.raises(ValueError, match="has changed"):
        recorded_report(LintResult(record.findings), record.digest, task)
