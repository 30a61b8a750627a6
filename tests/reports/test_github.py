"""GitHub's annotations and the page of the job."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from devlint.finding import Finding, Place, TraceStep
from devlint.pipeline.result import Result
from devlint.reports.github import github_document
from devlint.reports.painting import visible
from devlint.reports.repository import Repository
from devlint.reports.step_summary import MOST_BYTES, blob_url, room_in_summary, step_summary
from tests.reports.examples import (
    CLEAN,
    CONFIRMED,
    FINDING,
    MADE,
    NOTE,
    REFUTED,
    RESULT,
    WARNING,
    findings,
    many,
    repository,
)

COMMAND = re.compile(r"::(error|warning|notice) ([^:\n]*)::([^\n]*)")


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Kind, properties and message of each command, read as GitHub's runner reads them."""
    found = []
    for kind, properties, message in COMMAND.findall(text):
        pairs = dict(pair.split("=", 1) for pair in properties.split(","))
        found.append((kind, {name: unescaped(value) for name, value in pairs.items()}, unescaped(message)))
    return found


def unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_an_annotation_tells_all() -> None:
    text = github_document(RESULT, repository()).text
    assert text.splitlines()[0] == (
        "::error file=src/net.py,line=5,endLine=5,col=14,endColumn=28,title=DEV101 creation-without-device::"
        "`hidden` is created on the CPU; `self.rnn` fails when the model is on an accelerator"
        "%0A1 `torch.zeros`: made here, on cpu (src/net.py:5:14)"
        "%0A2 moved here, to cuda (src/net.py:6:14)"
        "%0A3 they meet here (src/net.py:7:12)"
        "%0Ahelp: create it where the input is"
        "%0Aunsafe fix: add `device=x.device`"
    )
    assert [kind for kind, _, _ in annotations(text)] == ["error", "warning"]


def test_a_clean_run_says_nothing() -> None:
    assert github_document(CLEAN, repository()).text == ""


def test_no_columns_across_lines_nor_in_notebooks_nor_where_only_the_line_is_known() -> None:
    places = [
        Place("a.py", 3, 5, 4, 2),
        Place("nb.ipynb", 3, 5, 3, 9, cell=2, file_line=17),
        Place("a.py", 3, 0, 3, 0),
    ]
    text = github_document(Result(tuple(replace(FINDING, place=place) for place in places), 1), repository()).text
    regions = [{k: v for k, v in named.items() if k not in ("file", "title")} for _, named, _ in annotations(text)]
    assert regions == [
        {"line": "3", "endLine": "4"},
        {"line": "17", "endLine": "17"},
        {"line": "3", "endLine": "3"},
    ]


def test_ten_of_a_kind_the_gravest_first_and_the_rest_in_the_log() -> None:
    result = Result((*many(12, NOTE), *many(13, WARNING), *many(11, FINDING), REFUTED), 4)
    document = github_document(result, repository())
    kinds = [kind for kind, _, _ in annotations(document.text)]
    assert kinds == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10
    folded = document.text.split("::group::")[1].splitlines()
    assert folded[0] == "7 more findings"
    assert folded[1].startswith("error DEV101 src/net.py:5:14: `hidden`")
    assert len(folded) == 9
    assert folded[-1] == "::endgroup::"
    (remark,) = document.remarks
    assert remark.startswith("7 findings more than GitHub annotates (10 of a kind a step)")


@pytest.mark.parametrize(("message", "steps"), [("m", 10_000), ("m" * 10_000, 0), ("\U0001f600" * 9_000, 50)])
def test_a_message_longer_than_the_runner_takes_keeps_its_ends(message: str, steps: int) -> None:
    trace = tuple(TraceStep(MADE, f"step {number}") for number in range(1, steps + 1))
    long = replace(FINDING, message=message, trace=trace)
    ((_, _, told),) = annotations(github_document(Result((long,), 1), repository()).text)
    assert len(told.encode("utf-16-le")) // 2 <= 4_096
    assert told.startswith(message[:500])
    assert told.endswith("unsafe fix: add `device=x.device`")
    assert ("\n...\n" in told) is (steps == 10_000)


def test_one_long_trace_does_not_fill_the_summary() -> None:
    trace = tuple(TraceStep(MADE, f"step {number}") for number in range(30_000))
    text = step_summary(Result((replace(FINDING, trace=trace), WARNING), 1), repository(), "", MOST_BYTES)
    assert "DEV301" in text
    assert len(text) < 10_000


def test_what_a_run_confirmed_comes_before_what_it_did_not() -> None:
    document = github_document(Result((*many(10), CONFIRMED), 1, confirming=True), repository())
    assert "not one device" in annotations(document.text)[0][2]


@settings(max_examples=50, deadline=None)
@given(findings())
def test_no_text_is_taken_for_a_command(finding: Finding) -> None:
    text = github_document(Result(many(25, finding), 1), repository()).text
    commands = [line for line in text.split("\n") if line.lstrip().startswith("::")]
    assert len(commands) == 12
    assert len(annotations(text)) == 10
    for line in text.split("\n"):
        assert line in commands or "##[" not in line
        assert "\r" not in line
    _, named, message = annotations(text)[0]
    assert set(named) <= {"file", "line", "endLine", "col", "endColumn", "title"}
    assert named["file"] == visible(repository().path(finding.place.path)) or "%" in finding.place.path
    assert message.split("\n")[0] == visible(finding.message) or "%" in finding.message


def test_the_summary_has_a_row_for_each_finding_the_gravest_first() -> None:
    text = step_summary(Result((WARNING, FINDING), 3, seconds=0.5), repository(), "", MOST_BYTES)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert text.startswith("### devlint\n\n1 error and 1 warning in 3 files &#40;0.50 s&#41;\n")
    assert [row.split(" | ")[1] for row in rows[1:]] == ["<code>DEV101</code>", "<code>DEV301</code>"]
    assert "<code>hidden</code> is created on the CPU" in rows[1]
    assert "<br>2 moved here, to cuda" in rows[1]


def test_the_summary_links_to_the_commit() -> None:
    environment = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b", "GITHUB_SHA": "0123"}
    url = blob_url(environment)
    assert url == "https://github.com/a/b/blob/0123"
    text = step_summary(RESULT, repository(), url, MOST_BYTES)
    assert '<a href="https&#58;//github.com/a/b/blob/0123/src/net.py&#35;L5">' in text
    assert blob_url({}) == ""


def test_the_summary_names_verdicts() -> None:
    text = step_summary(Result((CONFIRMED,), 1, confirming=True), repository(), "", MOST_BYTES)
    assert "| verdict |" in text
    assert text.rstrip().endswith("| confirmed |")


def test_a_summary_of_more_than_a_mebibyte_is_cut_between_rows_and_the_rest_counted() -> None:
    result = Result((*many(4_000, WARNING), *many(1_000)), 9)
    text = step_summary(result, repository(), "", MOST_BYTES)
    assert MOST_BYTES - 4_000 < len(text.encode()) <= MOST_BYTES
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(row.endswith(" |") for row in rows)
    more = re.search(r"_\.\.\. and ([\d,]+) more findings\._\n$", text)
    assert more is not None
    assert int(more[1].replace(",", "")) == 5_000 - (len(rows) - 1)
    assert rows[1].startswith("| 🔴 error")


@pytest.mark.parametrize("room", [0, 10, 100, 200, 400, 1_000])
def test_a_summary_never_takes_more_room_than_there_is(room: int) -> None:
    assert len(step_summary(RESULT, repository(), "", room).encode()) <= room


def test_the_room_is_what_other_programs_of_the_step_have_left(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    assert room_in_summary({}) == 0
    assert room_in_summary({"GITHUB_STEP_SUMMARY": str(file)}) == MOST_BYTES
    file.write_bytes(b"x" * 1_000)
    assert room_in_summary({"GITHUB_STEP_SUMMARY": str(file)}) == MOST_BYTES - 1_000
    file.write_bytes(b"x" * (MOST_BYTES + 1))
    assert room_in_summary({"GITHUB_STEP_SUMMARY": str(file)}) == 0


@settings(max_examples=50, deadline=None)
@given(findings())
def test_no_text_gets_out_of_its_cell(finding: Finding) -> None:
    text = step_summary(Result((finding,), 1), Repository(Path("/nowhere")), "https://h/a/b", MOST_BYTES)
    (_, row) = [line for line in text.split("\n") if line.startswith("| ")]
    assert row.count("|") == 5
    tags = set(re.findall(r"<(/?\w+)", row))
    assert tags <= {"code", "/code", "a", "/a", "details", "/details", "summary", "/summary", "br"}
    assert not re.search(r"[`*_\[\]{}!~@\\]", row)
    assert text.count("\n") == 7
