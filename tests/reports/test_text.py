"""The form for people, whole."""

from __future__ import annotations

import re
from pathlib import Path

from devlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Severity, TraceStep
from devlint.pipeline.result import Hidden, Result
from devlint.reports.painting import paint, visible
from devlint.reports.source_lines import SourceLines
from devlint.reports.summary import summary_line
from devlint.reports.text import text_lines

NET = b"""\
import torch


def forward(self, x):
    hidden = torch.zeros(8)
    hidden = hidden.to("cuda")
    return self.rnn(x, hidden)
"""

FACTORY_END = NET.index(b"zeros(8)") + len("zeros(8")

MADE = Place("net.py", 5, 14, 5, 28)
MOVED = Place("net.py", 6, 14, 6, 31)
MET = Place("net.py", 7, 12, 7, 31)

FINDING = Finding(
    "DEV101",
    "creation-without-device",
    Severity.ERROR,
    Confidence.HIGH,
    "`hidden` is created on the CPU",
    MADE,
    trace=(
        TraceStep(MADE, "made here", "cpu"),
        TraceStep(MOVED, "moved here", "cuda"),
        TraceStep(MET, "met here"),
        TraceStep(Place("gone.py", 3, 1, 3, 2), "left here"),
    ),
    help="create it where the input is",
    fix=Fix(Applicability.UNSAFE, "add `device=x.device`", (Edit(FACTORY_END, FACTORY_END, ", device=x.device"),)),
)

EXPECTED = """\
net.py:5:14: DEV101 error [creation-without-device] `hidden` is created on the CPU
   |
 4 | def forward(self, x):
 5 |     hidden = torch.zeros(8)
   |              ^^^^^^^^^^^^^^
 6 |     hidden = hidden.to("cuda")
   |
 1 made here, on cpu (net.py:5:14)
 2 moved here, to cuda (net.py:6:14)
 6 |     hidden = hidden.to("cuda")
   |              -----------------
 3 met here (net.py:7:12)
 7 |     return self.rnn(x, hidden)
   |            -------------------
 4 left here (gone.py:3:1)
   |
   = help: create it where the input is
   = unsafe fix: add `device=x.device`
   -     hidden = torch.zeros(8)
   +     hidden = torch.zeros(8, device=x.device)

"""


def source() -> SourceLines:
    return SourceLines(Path("/nowhere"), {"net.py": NET})


def test_a_finding_with_its_trace_and_its_repair() -> None:
    assert paint(text_lines([FINDING], source(), 100), False) == EXPECTED


def test_colour_changes_nothing_but_the_colour() -> None:
    painted = paint(text_lines([FINDING], source(), 100), True)
    assert "\x1b[1;31mDEV101\x1b[0m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == EXPECTED


def test_a_repair_that_the_help_tells_is_not_told_twice() -> None:
    fix = Fix(Applicability.SUGGESTION, "do it")
    told = Finding("DEV503", "n", Severity.WARNING, Confidence.HIGH, "m", MADE, help="do it", fix=fix)
    assert paint(text_lines([told], source(), None), False).count("do it") == 1


def test_the_summary_counts_and_says_what_was_hidden() -> None:
    warning = Finding("DEV503", "n", Severity.WARNING, Confidence.HIGH, "m", MADE)
    note = Finding("DEV701", "n", Severity.NOTE, Confidence.HIGH, "m", MADE)
    result = Result(
        (FINDING, FINDING, warning, note), 1200, Hidden(suppressed=1, below_severity=2, below_confidence=3), 1.234
    )
    assert paint([summary_line(result)], False) == (
        "2 errors, 1 warning and 1 note in 1,200 files (1.23 s); "
        "hidden: 1 suppressed by comments, 2 below the least severity, 3 below the least confidence\n"
    )
    assert result.exit_code == 1
    assert Result((note,), 1).exit_code == 0


def test_names_cannot_steer_the_terminal() -> None:
    assert visible("a\x1b]0;title\x07\n.py") == "a␛]0;title␇␊.py"
    assert visible("文件.py") == "文件.py"


def test_on_a_terminal_words_are_kept_whole() -> None:
    shown = paint(text_lines([FINDING], source(), 50), False).splitlines()
    assert shown[:2] == ["net.py:5:14: DEV101 error", "    [creation-without-device] `hidden` is created"]
    assert all(len(line) <= 50 for line in shown if "[creation" not in line)
    assert "".join(" ".join(shown[:3]).split()) == "".join(EXPECTED.splitlines()[0].split())
