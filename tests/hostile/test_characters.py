"""Nothing in a source, a name or a setting steers the terminal, the log or the page that shows it."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

from devlint.finding import Finding, TraceStep
from devlint.pipeline.result import Result
from devlint.reports.concise import concise_lines
from devlint.reports.grouped import grouped_lines
from devlint.reports.machine import document
from devlint.reports.painting import paint
from devlint.reports.source_lines import SourceLines
from devlint.reports.text import text_lines
from tests.cli.conftest import Run
from tests.reports.examples import FINDING

EVIL = "\x1b[31m\x1b]0;title\x07\x9b1m\x08\x00\x7f\u202e\u2066\u2028\u200f\u061c\r"
PATH = f"src/{EVIL}net.py".replace("\0", "")
MACHINE = ["json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson", "html"]
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u2028\u2029"


def steering(text: str) -> set[str]:
    """The characters of a text that move a cursor, change a colour or turn the order of others."""
    return {c for c in text if (unicodedata.category(c) == "Cc" and c != "\n") or c in BIDI}


def evil(finding: Finding) -> Finding:
    place = replace(finding.place, path=PATH)
    assert finding.fix is not None
    return replace(
        finding,
        message=f"`{EVIL}` is evil",
        place=place,
        scope=EVIL,
        snippet=EVIL,
        help=f"say {EVIL}",
        trace=tuple(TraceStep(place, f"{step.message}{EVIL}", f"cuda{EVIL}") for step in finding.trace),
        fix=replace(finding.fix, message=f"add {EVIL}"),
    )


RESULT = Result((evil(FINDING),) * 12, 1, texts={PATH: f"x = '{EVIL}'\n".encode() * 9})


@pytest.mark.parametrize("output_format", MACHINE)
def test_no_document_holds_a_character_that_steers(output_format: str, tmp_path: Path) -> None:
    variables = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GITHUB_SHA": "0" * 40}
    variables |= {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b"}
    made = document(output_format, RESULT, tmp_path, variables)
    assert made.text
    assert steering(made.text) == set()
    assert steering("\n".join(made.remarks)) == set()
    assert bool(made.step_summary) == (output_format == "github")
    assert steering(made.step_summary) == set()


def test_no_line_for_people_does_either(tmp_path: Path) -> None:
    source = SourceLines(tmp_path, RESULT.texts)
    found = RESULT.findings
    for lines in (text_lines(found, source, None), concise_lines(found), grouped_lines(found)):
        shown = paint(lines, False)
        assert "evil" in shown
        assert steering(shown) == set()


def test_what_is_said_on_standard_error_is_clean_too(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "devlint.toml").write_text('"\\u001b[31m\\u202e" = 1\n', encoding="utf-8")
    texts = [devlint().stderr]
    (tmp_path / "devlint.toml").write_text('exclude = ["\\u001b[31m"]\nbaseline = "\\u001b[31m"\n', encoding="utf-8")
    texts += [devlint().stderr, devlint("--show-settings").stderr]
    (tmp_path / "devlint.toml").write_text('exclude = ["\\u001bc"]\nbaseline = "\\u001b[31m"\n', encoding="utf-8")
    texts += [devlint().stderr, devlint("--show-settings").stdout]
    (tmp_path / "devlint.toml").unlink()
    name = "\x1b[31m\u202e"
    texts += [devlint(*arguments).stderr for arguments in ([name], [f"--{name}"], ["--config", name], [f"@{name}"])]
    (tmp_path / f"{name}.py").write_text("")
    texts += [devlint("--show-files").stdout]
    for text in texts:
        assert text
        assert steering(text) == set(), text
