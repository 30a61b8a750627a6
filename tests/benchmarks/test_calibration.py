"""The share of true findings by rule, severity and confidence, as readers' labels give it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from calibration import FILES, Judged, parse_judged, read_judged, still_made, table
from verdicts import markdown_table

from devlint.configuration.codes import ALWAYS_ON, all_codes
from devlint.finding import Severity

README = Path(__file__).parents[2] / "README.md"

ROW = {
    "release": "net==1.0", "path": "net/net.py", "line": 10, "code": "DEV101", "severity": "error",
    "confidence": "high", "label": "true", "why": "CPU mask",
}  # fmt: skip


def judged(**changes: Any) -> Judged:
    return parse_judged(ROW | changes)


def test_both_forms_of_a_label_are_read() -> None:
    older = {"package": "net", "version": "1.0", "rule": "DEV101", "path": "net/net.py", "line": 10}
    older |= {"severity": "error", "label": "true", "where": "library", "cause": None, "why": "CPU mask"}
    assert parse_judged(older) == judged(confidence="-")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": "maybe"}, "label is 'maybe'"),
        ({"severity": "note"}, "severity is 'note'"),
        ({"confidence": "sure"}, "confidence is 'sure'"),
        ({"release": None}, "without release"),
        ({"line": 0}, "without release, path, line or code"),
    ],
)
def test_what_is_no_label_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        judged(**changes)


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps(ROW) + "\n" + json.dumps(ROW | {"label": "perhaps"}) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"labels\.jsonl:2: not a label: label is 'perhaps'"):
        read_judged(file)


def test_unclear_ones_are_in_no_share() -> None:
    labels = [judged(), judged(label="false"), judged(label="unclear"), judged(label="unclear")]
    assert table(labels)[1][3:7] == ["1", "1", "2", "50 %"]
    assert table([judged(label="unclear")])[1][6] == "-"


def test_a_line_for_each_rule_severity_and_confidence_errors_first() -> None:
    labels = [judged(code="DEV503", severity="warning"), judged(confidence="medium"), judged(), judged()]
    words = [line[:3] for line in table(labels)[1:]]
    assert words == [
        ["all", "error", ""],
        ["all", "warning", ""],
        ["DEV101", "error", "high"],
        ["DEV101", "error", "medium"],
        ["DEV503", "warning", "high"],
    ]
    assert [line[:3] for line in table(labels, by_confidence=False)[1:]] == [
        ["all", "error", "3"],
        ["all", "warning", "1"],
        ["DEV101", "error", "3"],
        ["DEV503", "warning", "1"],
    ]


def test_two_labels_of_one_line_need_two_findings() -> None:
    finding = {"path": "net/net.py", "line": 10, "code": "DEV101"}
    assert still_made([judged(), judged()], [finding]) == [judged()]
    assert still_made([judged(line=11)], [finding]) == []


def test_the_label_files_of_the_project_are_readable() -> None:
    labels = read_judged(*FILES)
    assert len({label.release for label in labels}) > 30
    assert {file.parent.name for file in FILES} >= {"1", "extra"}


def test_a_rule_says_errors_only_if_nine_in_ten_of_them_are_true() -> None:
    """Of what it was sure of: later samples count with what it says as a warning since, with high confidence."""
    graves = {code: rule for code, rule in all_codes().items() if rule.severity is Severity.ERROR}
    sure: dict[str, Counter[str]] = {code: Counter() for code in graves}
    for label in read_judged(*FILES):
        if label.code in graves and (label.severity == "error" or label.confidence == "high"):
            sure[label.code][label.label] += 1
    doubtful = {code for code, said in sure.items() if said["true"] < 0.9 * (said["true"] + said["false"])}
    demoted = {code for code, rule in graves.items() if rule.suspected_as is Severity.WARNING}
    assert demoted == doubtful - ALWAYS_ON


def test_the_readme_shows_the_table_of_the_label_files() -> None:
    lines = table(read_judged(*FILES), by_confidence=False)
    shown = README.read_text("utf-8").partition("<!-- calibration -->\n")[2].partition("\n\n")[0]
    assert shown == markdown_table(lines, frozenset(range(lines[0].index("true")))).strip()
