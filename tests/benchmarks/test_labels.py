"""Labels read, matched with findings, and the precision that follows."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from label_report import print_precision
from labels import LABELS, Label, Tally, add, match, parse_label, read_labels, weighted
from linting import Finding

LABEL = Label("net", "1.0", "net/net.py", "Net.forward", "DEV101", "f1", 10, "true", "CPU mask", "error", "error-tier")


def finding(fingerprint: str = "f1", line: int = 10, code: str = "DEV101", severity: str = "error") -> Finding:
    return {
        "package": "net", "version": "1.0", "path": "net/net.py", "code": code, "fingerprint": fingerprint,
        "line": line, "severity": severity, "message": "message",
    }  # fmt: skip


def write(file: Path, *labels: Label) -> Path:
    file.write_text("".join(json.dumps(asdict(label)) + "\n" for label in labels), encoding="utf-8")
    return file


def test_a_label_is_read_back_and_what_a_draw_adds_is_passed_over() -> None:
    assert parse_label(asdict(LABEL) | {"message": "...", "trace": []}) == LABEL


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": "maybe"}, "label is 'maybe', not one of true, false, unclear"),
        ({"label": None}, "label is None"),
        ({"draw": "third"}, "draw is 'third'"),
        ({"line": "10"}, "line is '10'"),
        ({"why": " "}, "why must be one line"),
        ({"why": "one\ntwo"}, "why must be one line"),
    ],
)
def test_a_wrong_label_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_label(asdict(LABEL) | changes)


def test_a_label_without_all_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="without scope, why"):
        parse_label({name: value for name, value in asdict(LABEL).items() if name not in ("scope", "why")})


def test_a_finding_drawn_twice_has_one_verdict(tmp_path: Path) -> None:
    again = replace(LABEL, draw="second")
    assert len(read_labels(write(tmp_path / "labels.jsonl", LABEL, again))) == 2
    with pytest.raises(ValueError, match=r"labels\.jsonl:2: labelled false, and true before"):
        read_labels(write(tmp_path / "labels.jsonl", LABEL, replace(again, label="false")))
    with pytest.raises(ValueError, match="twice in the draw error-tier"):
        read_labels(write(tmp_path / "labels.jsonl", LABEL, LABEL))


def test_a_filled_in_draw_is_added_once_and_a_half_filled_one_not_at_all(tmp_path: Path) -> None:
    labels, drawn = tmp_path / "labels.jsonl", write(tmp_path / "drawn.jsonl", LABEL)
    assert add([drawn], labels) == 1
    assert read_labels(labels) == [LABEL]
    with pytest.raises(ValueError, match=r"drawn\.jsonl:1: labelled twice"):
        add([drawn], labels)
    with pytest.raises(ValueError, match="label is ''"):
        add([write(drawn, replace(LABEL, fingerprint="f2"), replace(LABEL, fingerprint="f3", label=""))], labels)
    assert read_labels(labels) == [LABEL]


def test_the_labels_that_are_kept_can_be_read() -> None:
    assert not LABELS.exists() or read_labels(LABELS)


def test_what_has_no_label_is_new_and_what_has_no_finding_is_gone() -> None:
    lost = replace(LABEL, fingerprint="f2", line=20)
    matched = match([finding(), finding("f3", 30)], [LABEL, lost])
    assert matched.judged == [(finding(), LABEL)]
    assert matched.unlabelled == [finding("f3", 30)]
    assert matched.gone == [lost]


def test_a_finding_that_moved_on_its_line_keeps_its_label() -> None:
    assert match([finding("other")], [LABEL]).judged == [(finding("other"), LABEL)]
    assert match([finding("other", code="DEV208")], [LABEL]).gone == [LABEL]
    both = match([finding("other"), finding()], [LABEL])
    assert both.judged == [(finding(), LABEL)]
    assert both.unlabelled == [finding("other")]


def test_a_label_of_another_version_does_not_match() -> None:
    assert match([finding()], [replace(LABEL, version="0.9")]).unlabelled == [finding()]


def test_precision_leaves_unclear_findings_apart() -> None:
    tally = Tally(true=8, false=2, unclear=10)
    assert (tally.precision, tally.least, tally.all) == (0.8, 0.4, 20)
    assert Tally(unclear=3).precision is None
    assert Tally().least is None


def test_few_labels_bound_precision_loosely() -> None:
    assert Tally(true=10).lower_bound() == pytest.approx(0.722, abs=0.001)
    assert Tally(true=400).lower_bound() == pytest.approx(0.990, abs=0.001)
    assert Tally(true=8, false=2).lower_bound() == pytest.approx(0.490, abs=0.001)
    assert Tally(false=3).lower_bound() == 0
    assert Tally(unclear=1).lower_bound() is None


def test_a_severity_counts_as_often_as_it_occurs() -> None:
    tallies = {"error": Tally(true=100), "warning": Tally(true=5, false=5)}
    assert weighted(tallies, {"error": 100, "warning": 300}) == pytest.approx((100 + 150) / 400)
    assert weighted(tallies, {"error": 100, "warning": 0}) == 1
    assert weighted({"error": Tally(true=1)}, {"error": 1, "warning": 1}) is None
    assert weighted({}, {}) is None


def test_the_report_names_lost_findings_and_keeps_the_draw_as_it_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    labels = [
        LABEL,
        replace(LABEL, fingerprint="f2", line=20, label="false", why="a CPU index"),
        replace(LABEL, fingerprint="f3", line=30, why="lost again"),
    ]
    new = [finding("f4", 40), finding("f5", 50, severity="warning")]
    assert print_precision([finding(), *new], labels, everything=False) == new
    text = " ".join(capsys.readouterr().out.split())
    assert "error tier 1 0 0 100.0 % 20.7 % 100.0 % 1 of 2" in text
    assert "error-tier, as read 2 1 0 66.7 %" in text
    assert "error-tier, now 1 0 0 100.0 %" in text
    assert "gone: 2 labelled findings: 1 true (lost), 1 false (repaired), 0 unclear" in text
    assert "true: net net/net.py:30 DEV101 (lost again)" in text
    assert "net net/net.py:40 DEV101 error: message" in text
    assert "net/net.py:50" not in text
