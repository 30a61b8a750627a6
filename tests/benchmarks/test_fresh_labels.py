"""The labels of freshly linted releases: read, matched with findings, counted."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from fresh_labels import LABELS, FreshLabel, causes, read_fresh_labels, still_there, table
from linting import Finding

LABEL = FreshLabel("net", "1.0", "net/a.py", 10, "DEV101", "error", "library", "true", None, "The mask is on the CPU.")


def finding(line: int = 10, code: str = "DEV101", path: str = "net/a.py") -> Finding:
    return {"path": path, "line": line, "code": code}


def test_the_labels_that_are_kept_can_be_read() -> None:
    labels = read_fresh_labels(LABELS)
    assert len(labels) == len(LABELS.read_text(encoding="utf-8").splitlines()) > 100
    assert {label.label for label in labels} == {"true", "false", "unclear"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": "maybe"}, "label is 'maybe', not one of true"),
        ({"severity": "note"}, "severity is 'note'"),
        ({"where": "moon"}, "where is 'moon'"),
        ({"line": "10"}, "line is '10'"),
        ({"why": ""}, "why is ''"),
        ({"fingerprint": "f"}, "fingerprint"),
        ({"cause": "magic"}, "cause is 'magic', not one of None, receiver"),
        ({"label": "false"}, "cause is None, not one of receiver"),
    ],
)
def test_a_record_that_is_no_label_is_named_by_its_line(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    file = tmp_path / "labels.jsonl"
    records = [asdict(LABEL), asdict(LABEL) | changes]
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"labels\.jsonl:2: not a label: .*{said}"):
        read_fresh_labels(file)


def test_a_finding_is_there_on_its_line_under_its_rule() -> None:
    others = [finding(line=11), finding(code="DEV401"), finding(path="net/b.py")]
    assert still_there([LABEL], [*others, finding()]) == [True]
    assert still_there([LABEL], others) == [False]


def test_two_labels_of_one_line_need_two_findings() -> None:
    assert still_there([LABEL, LABEL], [finding()]) == [True, False]
    assert still_there([LABEL, LABEL], [finding(), finding()]) == [True, True]


def test_the_precision_leaves_unclear_and_lost_findings_out() -> None:
    labels = [
        LABEL,
        replace(LABEL, label="false", cause="host"),
        replace(LABEL, label="false", cause="host"),
        replace(LABEL, label="unclear"),
        replace(LABEL, severity="warning"),
    ]
    assert table(labels, [True, True, False, True, False])[1:] == [
        ["error", "1 of 1", "1 of 2", "1 of 1", "50 %"],
        ["warning", "0 of 1", "0 of 0", "0 of 0", "-"],
        ["all", "1 of 2", "1 of 2", "1 of 1", "50 %"],
    ]
    assert [line[:2] for line in causes(labels, [True, True, False, True, False])[1:]] == [["host", "1 of 2"]]
