"""Findings to report, and what hypothesis makes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from devlint.finding import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Place,
    Severity,
    TraceStep,
    Verdict,
    VerdictState,
)
from devlint.pipeline.result import Result
from devlint.reports.repository import Repository
from devlint.reports.source_lines import SourceLines

NET = b"""\
import torch


def forward(self, x):
    hidden = torch.zeros(8)
    hidden = hidden.to("cuda")
    return self.rnn(x, hidden)
"""
_CLOSING = NET.index(b"(8)") + 2
MADE = Place("src/net.py", 5, 14, 5, 28)
MOVED = Place("src/net.py", 6, 14, 6, 31)
MET = Place("src/net.py", 7, 12, 7, 31)

FINDING = Finding(
    "DEV101",
    "creation-without-device",
    Severity.ERROR,
    Confidence.HIGH,
    "`hidden` is created on the CPU; `self.rnn` fails when the model is on an accelerator",
    MADE,
    scope="Net.forward",
    trace=(
        TraceStep(MADE, "`torch.zeros`: made here", "cpu"),
        TraceStep(MOVED, "moved here", "cuda"),
        TraceStep(MET, "they meet here"),
    ),
    help="create it where the input is",
    fix=Fix(Applicability.UNSAFE, "add `device=x.device`", (Edit(_CLOSING, _CLOSING, ", device=x.device"),)),
    fingerprint="6ff1" * 16,
)
WARNING = replace(
    FINDING,
    code="DEV301",
    name="hardcoded-accelerator",
    severity=Severity.WARNING,
    place=MOVED,
    trace=(),
    fix=None,
    help="",
    fingerprint="70a2" * 16,
)
NOTE = replace(WARNING, code="DEV701", name="create-then-move", severity=Severity.NOTE, fingerprint="81b3" * 16)
UNREADABLE = Finding(
    "DEV902",
    "unreadable-file",
    Severity.ERROR,
    Confidence.HIGH,
    "cannot be analysed: byte 0xff is not valid utf-8",
    Place("src/latin.py", 1, 1, 1, 2),
    fingerprint="92c4" * 16,
)
RESULT = Result((FINDING, WARNING), 3, seconds=0.25)
FAILED = Result((FINDING, UNREADABLE), 2, missing=("gone.py",), seconds=0.25)
CLEAN = Result((), 3, seconds=0.25)
REFUTED = replace(FINDING, verdict=Verdict(VerdictState.REFUTED, "cuda:0", True, "net:build"), fingerprint="a3d5" * 16)
CONFIRMED = replace(FINDING, verdict=Verdict(VerdictState.CONFIRMED, "cuda:0", True, "net:Build", "not one device"))


def source(texts: dict[str, bytes] | None = None) -> SourceLines:
    """The files behind the examples, and more."""
    return SourceLines(Path("/nowhere"), {"src/net.py": NET, **(texts or {})})


def repository() -> Repository:
    """Nowhere is a repository: the paths stay what they are."""
    return Repository(Path("/nowhere"))


def many(count: int, finding: Finding = FINDING) -> tuple[Finding, ...]:
    """As many like findings, each with an identity of its own."""
    return tuple(replace(finding, fingerprint=f"{number:064x}") for number in range(count))


_PIECES = st.one_of(
    st.sampled_from("\"'<>&`|[](){}*_#:,%\\\r\n\t\x00\x1b\x7f\x85\u2028\u202e\udcff\ufffe\U0001f600"),
    st.characters(exclude_categories=("Cs",)),
    st.sampled_from(["]]>", "-->", "</script>", "::error::", "##[error]", "%0A", "[a](1)", "{0}", "<b onload=1>"]),
)
HOSTILE = st.lists(_PIECES, max_size=12).map("".join)
"""Text that someone may have put into a source or a file name."""


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding in which every text may hold anything."""
    path = draw(HOSTILE.filter(lambda text: text.strip("./\\") and "\0" not in text))
    line, column = draw(st.integers(1, 9)), draw(st.integers(0, 40))
    place = Place(path, line, column, line + draw(st.integers(0, 2)), column + draw(st.integers(0, 9)))
    cell = draw(st.sampled_from([0, 0, 3]))
    place = replace(place, cell=cell, file_line=cell * 11)
    step = st.builds(TraceStep, st.just(place), HOSTILE, st.none() | HOSTILE)
    severity = draw(st.sampled_from(Severity))
    fix = st.builds(
        Fix, st.sampled_from(Applicability), HOSTILE, st.tuples(st.builds(Edit, st.just(1), st.just(3), HOSTILE))
    )
    return Finding(
        "DEV101",
        "creation-without-device",
        severity,
        draw(st.sampled_from(Confidence)),
        draw(HOSTILE),
        place,
        scope=draw(HOSTILE),
        trace=tuple(draw(st.lists(step, max_size=3))),
        help=draw(HOSTILE),
        fix=draw(st.none() | fix),
        fingerprint="f" * 64,
    )
