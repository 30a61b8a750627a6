"""The page for browsers, read as a browser reads it but without one."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from devlint.finding import Applicability, Edit, Finding, Fix, Place, TraceStep, Verdict, VerdictState
from devlint.pipeline.result import EntryRun, Hidden, Result
from devlint.reports.html import page
from devlint.reports.html.changes import changed_lines
from devlint.reports.html.drawing import Drawings
from devlint.reports.html.markup import markdown, plain, prose
from devlint.reports.html.page import html_document
from devlint.reports.html.rail import ROW_HEIGHT, chains
from devlint.reports.html.rows import CodeRow, FileRow, GapRow, StepRow, rows
from devlint.reports.html.syntax import spans
from tests.reports.examples import (
    CLEAN,
    CONFIRMED,
    FAILED,
    FINDING,
    MADE,
    MET,
    NET,
    NOTE,
    REFUTED,
    RESULT,
    WARNING,
    findings,
    many,
    source,
)

_VOID = {"meta", "input", "br", "wbr"}
_TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h4", "p", "ul", "ol", "li", "b", "form",
    "select", "option", "label", "input", "output", "div", "nav", "main", "section", "article", "a", "span", "code",
    "figure", "svg", "path", "circle", "text", "dl", "dt", "dd", "details", "summary", "pre", "script", "table",
    "thead", "tbody", "tr", "th", "td", "wbr",
}  # fmt: skip
_ATTRIBUTES = {
    "aria-hidden", "aria-label", "charset", "checked", "class", "content", "cx", "cy", "d", "data-code",
    "data-severity", "data-verdict", "dy", "height", "hidden", "href", "http-equiv", "id", "lang", "name",
    "placeholder", "r", "tabindex", "title", "type", "value", "viewbox", "width", "x", "y",
}  # fmt: skip


class Page(HTMLParser):
    """Checks that the tags are balanced and none but ours; gathers the text by tag and class."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self._keys: list[list[str]] = []
        self.feed(text)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)
        for link in self.links:
            assert link.startswith("#")
            assert link[1:] in self.ids

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, tag
        given = dict(attributes)
        assert set(given) <= _ATTRIBUTES, given
        if given.get("id"):
            self.ids.append(given["id"] or "")
        if "href" in given:
            self.links.append(given["href"] or "")
        if tag not in _VOID:
            self.open.append(tag)
            self._keys.append([tag, *(given.get("class") or "").split()])
            for key in self._keys[-1]:
                self.texts.setdefault(key, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._keys.pop()

    def handle_data(self, data: str) -> None:
        for key in {key for keys in self._keys for key in keys}:
            self.texts[key][-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def read(result: Result, texts: dict[str, bytes] | None = None) -> Page:
    text = html_document(result, source(texts))
    assert text.isascii()
    assert text.startswith("<!DOCTYPE html>\n")
    return Page(text)


def test_a_finding_stands_there_with_its_code_and_its_steps() -> None:
    read_page = read(RESULT)
    assert read_page.texts["title"] == ["devlint: 1 error, 1 warning"]
    assert read_page.texts["message"][0] == FINDING.message.replace("`", "")
    assert read_page.texts["h2"][1:2] == ["src/net.py 2 findings"]
    assert read_page.texts["step"] == [
        "             ╰ 1 torch.zeros: made here, on cpu",
        "             ╰ 2 moved here, to cuda",
        "           ╰ 3 they meet here",
    ]
    assert "    hidden = torch.zeros(8)" in read_page.texts["code"]
    assert read_page.texts["gone"] == ["-     hidden = torch.zeros(8)"]
    assert read_page.texts["come"] == ["+     hidden = torch.zeros(8, device=x.device)"]
    assert read_page.texts["dt"] == ["help", "unsafe fix"]


def test_each_step_has_its_marker_at_the_height_of_its_row() -> None:
    text = html_document(Result((FINDING,), 1), source())
    shown = rows(FINDING, source())
    heights = [index * ROW_HEIGHT + ROW_HEIGHT // 2 for index, row in enumerate(shown) if isinstance(row, StepRow)]
    assert [int(y) for y in re.findall(r'<circle [^>]*cy="(\d+)"', text)] == heights
    assert re.findall(r'<text class="nr"[^>]*>(\d+)', text) == ["1", "2", "3"]
    assert f'height="{len(shown) * ROW_HEIGHT}"' in text
    style = re.search(r"\.row \{ display: block; height: (\d+)px", text)
    assert style is not None
    assert int(style[1]) == ROW_HEIGHT


def test_values_have_lanes_of_their_own_up_to_where_they_meet() -> None:
    def trace(*begins: bool) -> tuple[TraceStep, ...]:
        return (*(TraceStep(MADE, "a step", "cpu", begins=new) for new in begins), TraceStep(MET, "the end"))

    assert chains(FINDING.trace) == [[1, 2, 3]]
    two = trace(True, False, True, False)
    assert chains(two) == [[1, 2], [3, 4]]
    assert chains(trace(True, True)) == [[1], [2]]
    assert chains(trace(True)) == [[1, 2]]
    assert chains(()) == []
    text = html_document(Result((replace(FINDING, trace=two),), 1), source())
    assert text.count('<path class="tip') == 2
    assert len(set(re.findall(r'<circle [^>]*cx="(\d+)"', text))) == 3


def test_devices_have_one_colour_each() -> None:
    text = html_document(Result((FINDING,), 1), source())
    assert re.findall(r'<circle class="dot (\w+)"', text) == ["cpu", "acc", "meet"]
    assert re.findall(r'<span class="row step (\w+)"', text) == ["cpu", "acc", "meet"]
    assert '<li class="cpu">CPU</li><li class="acc">accelerator</li>' in text


def test_the_file_in_which_a_trace_ends_comes_last() -> None:
    helper = Place("helper.py", 1, 8, 1, 9)
    over = replace(FINDING, trace=(TraceStep(helper, "made here", "cpu"), TraceStep(MET, "they meet here")))
    shown = rows(over, source({"helper.py": b"a\n" * 9}))
    assert [row.place.path for row in shown if isinstance(row, FileRow)] == ["helper.py", "src/net.py"]


def test_far_lines_are_left_out_and_near_ones_shown() -> None:
    text = "\n".join(f"    line{number}" for number in range(1, 61)).encode()
    far = replace(
        FINDING,
        place=Place("a.py", 10, 5, 10, 9),
        trace=(TraceStep(Place("a.py", 10, 5, 10, 9), "made here"), TraceStep(Place("a.py", 50, 5, 50, 9), "met")),
    )
    shown = rows(far, source({"a.py": text}))
    assert [row.number for row in shown if isinstance(row, CodeRow)] == [8, 9, 10, 11, 12, 48, 49, 50, 51, 52]
    assert [row.count for row in shown if isinstance(row, GapRow)] == [35]
    assert {row.margin for row in shown if isinstance(row, CodeRow)} == {4}


def test_steps_of_a_file_that_is_gone_are_still_told() -> None:
    lost = replace(
        FINDING, place=replace(MADE, path="gone.py"), trace=(TraceStep(replace(MET, path="gone.py"), "left"),)
    )
    assert [text.strip(" ╰") for text in read(Result((lost,), 1)).texts["step"]] == ["1 left"]


def test_verdicts_and_what_was_run() -> None:
    entries = (EntryRun("net:build", "cuda:0", True, "ran"), EntryRun("net:b", "cuda:0", True, "failed", "no <b>"))
    unclear = replace(FINDING, verdict=Verdict(VerdictState.INCONCLUSIVE, reason="why"))
    read_page = read(Result((CONFIRMED, REFUTED, unclear), 1, confirming=True, entries=entries))
    assert [text.split()[0] for text in read_page.texts["verdict"]] == ["confirmed", "refuted", "inconclusive"]
    assert "not one device" in read_page.texts["verdict"][0]
    assert read_page.texts["td"][4:8] == ["net:b", "cuda:0 (simulated)", "failed", "no <b>"]
    assert read_page.texts["tiles"] == ["3 errors0 warnings0 notes1 confirmed1 refuted1 inconclusive0 not reached"]


def test_a_clean_run_says_so_and_a_failed_one_why() -> None:
    assert read(CLEAN).texts["notice"] == ["No device-placement problem found."]
    assert read(Result((), 0, nothing="no file")).texts["notice"] == ["no file"]
    assert read(FAILED).texts["notice"] == ["gone.py: no such file or directory"]
    hidden = read(Result((FINDING,), 1, Hidden(suppressed=2))).texts["notice"]
    assert hidden == ["hidden: 2 suppressed by comments"]


def test_only_the_gravest_of_very_many_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "DRAWN", 3)
    read_page = read(Result((*many(5, WARNING), FINDING), 1))
    assert len(read_page.texts["figure"]) == 3
    assert len(read_page.texts["article"]) == 6
    assert len(read_page.texts["step"]) == 3
    assert "only the gravest 3 of 6 findings" in read_page.texts["notice"][0]


def test_the_pages_policy_lets_its_own_script_and_style_run_and_nothing_else() -> None:
    text = html_document(RESULT, source())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for kind in ("script", "style"):
        (content,) = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src &#x27;sha256-{digest}&#x27;" in policy[1]
    assert policy[1].startswith("default-src &#x27;none&#x27;;")
    assert not re.search(r"https?://|//[a-z]|\bsrc=|url\(|@import", text)
    assert not re.search(r"\sstyle=|\son\w+=", text)


def test_the_same_result_gives_the_same_page() -> None:
    assert html_document(RESULT, source()) == html_document(RESULT, source())


def test_the_rules_that_spoke_are_explained() -> None:
    read_page = read(Result((FINDING, NOTE), 1))
    assert [text.split(" ")[0] for text in read_page.texts["summary"]] == ["DEV101", "DEV701"]
    assert "Why is this bad" in read_page.texts["h4"]


def test_a_fix_in_a_notebook_or_another_file_is_told_in_words_only() -> None:
    edits = (Edit(0, 1, "z", cell=2), Edit(0, 1, "z", path="other.py"))
    for edit in edits:
        fixed = replace(FINDING, fix=Fix(Applicability.SAFE, "do it", (edit,)))
        read_page = read(Result((fixed,), 1), {"other.py": b"x = 1\n"})
        assert "diff" not in read_page.texts
        assert "do it" in read_page.texts["dd"]


def test_marks_within_marks_and_tabs_keep_the_text() -> None:
    text = "\tx = f(a,\tb)\n"
    inner = TraceStep(Place("t.py", 1, 8, 1, 9), "made here", "cpu")
    outer = replace(
        FINDING, place=Place("t.py", 1, 6, 1, 13), trace=(inner, TraceStep(Place("t.py", 1, 6, 1, 13), "met"))
    )
    drawn = Drawings(source({"t.py": text.encode()})).figure(outer)
    code = re.search(r'<span class="row code">(.*?)</span><span class="row step', drawn)
    assert code is not None
    assert re.sub(r"<[^>]*>", "", code[1]) == "x = f(a,    b)"
    assert '<span class="flag error mark cpu">a</span>' in code[1]


def test_what_is_missing_at_the_end_of_a_line_is_marked_there() -> None:
    end = replace(FINDING, place=Place("t.py", 1, 6, 1, 7), trace=())
    drawn = Drawings(source({"t.py": b"x = (\n"})).figure(end)
    assert '<span class="row code">x = (<span class="flag error"> </span></span>' in drawn


def test_syntax_colours_cover_words_and_never_fail() -> None:
    lines = ["def f():", '    """a', '    b"""', "    return 1  # c"]
    found = spans(lines)
    assert found[1] == [(0, 3, "k")]
    assert found[2] == [(4, 8, "s")]
    assert found[3] == [(0, 8, "s")]
    assert found[4] == [(4, 10, "k"), (11, 12, "n"), (14, 17, "c")]
    assert spans(["if x:", "  y", " z", "return"]) == {1: [(0, 2, "k")]}
    assert spans(["return (", "'''"]) == {1: [(0, 6, "k")]}


def test_markdown_of_the_rules_pages() -> None:
    text = "One `a<b>`\nline.\n\n## Head\n\n- x\n  y\n- z\n\n```python\nif a < b:\n\n    pass\n```\n"
    assert markdown(text) == (
        "<p>One <code>a&lt;b&gt;</code> line.</p>\n<h4>Head</h4>\n"
        "<ul><li>x y</li><li>z</li></ul>\n<pre>if a &lt; b:\n\n    pass</pre>"
    )


@pytest.mark.parametrize(
    ("data", "edit", "expected"),
    [
        (b"a = 1\nb = 2\n", Edit(4, 5, "3"), ["- a = 1", "+ a = 3"]),
        (b"a = 1\nb = 2\n", Edit(0, 6, ""), ["- a = 1"]),
        (b"a = 1\r\nb = 2\r\n", Edit(6, 6, "c = 0\n"), ["+ c = 0"]),
        (b"# coding: latin-1\nx = '\xe9'\n", Edit(22, 22, "b"), ["- x = '\u00e9'", "+ x = b'\u00e9'"]),
        (b"a = (1,\n  2)\n", Edit(4, 12, "3"), ["- a = (1,", "-   2)", "+ a = 3"]),
        (b"a\n", Edit(4, 5, "3"), []),
    ],
)
def test_a_fix_is_shown_as_the_lines_it_changes(data: bytes, edit: Edit, expected: list[str]) -> None:
    changes = changed_lines(Fix(Applicability.SAFE, "", (edit,)), "a.py", source({"a.py": data}))
    assert [" ".join(change) for change in changes] == expected


def test_text_means_nothing() -> None:
    assert plain("<b>\"'&\x1b\udcff\u202e") == "&lt;b&gt;&quot;&#x27;&amp;␛\\udcff\ufffd"
    assert prose("`<`>`") == "<code>&lt;</code>&gt;`"


@settings(max_examples=60, deadline=None)
@given(findings())
def test_no_text_breaks_the_page(finding: Finding) -> None:
    lines = "\n".join([finding.message, finding.help, finding.scope, finding.message]).encode("utf-8", "replace")
    read_page = read(Result((finding, finding), 1), {finding.place.path: lines or NET})
    assert len(read_page.texts["article"]) == 2
    assert len(read_page.texts["script"]) == 1
