"""The page in a real browser: what its script does, where its arrows point, what hostile text cannot do."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from devlint.pipeline.result import Result
from devlint.reports.html.page import html_document
from tests.reports.examples import CONFIRMED, FINDING, MET, NET, NOTE, REFUTED, WARNING, source

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
OTHER = replace(WARNING, place=replace(WARNING.place, path=f"{HOSTILE}.py"), message=HOSTILE, scope=HOSTILE)
RESULT = Result((FINDING, CONFIRMED, REFUTED, NOTE, OTHER), 4, confirming=True)


def opened(directory: Path, text: str, width: int = 1200) -> str:
    """The document as it stands after its scripts have run."""
    file = directory / "page.html"
    file.write_text(text, encoding="ascii")
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={directory / 'profile'}",
            f"--window-size={width},900", "--virtual-time-budget=3000", "--dump-dom", file.as_uri(),
        ],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout.decode("utf-8")


def asked(directory: Path, text: str, script: str, width: int = 1200) -> Any:
    """What a script answers that is added to the page; for it the page's own policy must be taken out."""
    free, number = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    assert number == 1
    probe = f"<script>document.title = 'answer ' + JSON.stringify((function () {{{script}}})());</script></body>"
    dom = opened(directory, free.replace("</body>", probe), width)
    answer = re.search(r"<title>answer (.*?)</title>", dom, re.S)
    assert answer is not None
    return json.loads(unescape(answer[1]))


@pytest.fixture(scope="module")
def page() -> str:
    return html_document(RESULT, source({OTHER.place.path: f"x = '{HOSTILE}'\n".encode() * 9}))


def test_the_script_runs_under_the_pages_policy_and_what_others_wrote_does_not(page: str, tmp_path: Path) -> None:
    dom = opened(tmp_path, page)
    assert "<title>devlint: 3 errors, 1 warning, 1 note</title>" in dom
    assert re.search(r'<form class="filters"(?! hidden)', dom)
    assert dom.count("<script>") == 1
    assert "<img" not in dom


def test_filters_hide_findings_files_and_count(page: str, tmp_path: Path) -> None:
    shown = """
      var form = document.querySelector("form.filters"), answers = [];
      function state() {
        var cards = Array.from(document.querySelectorAll("article"));
        answers.push([
          cards.map(function (card) { return card.offsetHeight > 0 ? 1 : 0; }).join(""),
          Array.from(document.querySelectorAll("section.file, nav li"))
            .map(function (e) { return e.hidden ? 0 : 1; }).join(""),
          form.elements.count.value
        ]);
      }
      function change(element, property, value) {
        element[property] = value;
        form.dispatchEvent(new Event("input"));
      }
      state();
      change(form.elements.code, "value", "DEV301"); state();
      change(form.elements.code, "value", "");
      var error = form.querySelector('[value="error"]');
      change(error, "checked", false); state();
      change(error, "checked", true);
      change(form.querySelector('[value="refuted"]'), "checked", false); state();
      change(form.querySelector('[value="refuted"]'), "checked", true);
      change(form.elements.words, "value", "NET.py  dev701"); state();
      change(form.elements.words, "value", "nothing has this"); state();
      return answers;
    """
    assert asked(tmp_path, page, shown) == [
        ["11111", "1111", "5 shown"],
        ["00001", "0101", "1 of 5 shown"],
        ["00011", "1111", "2 of 5 shown"],
        ["11011", "1111", "4 of 5 shown"],
        ["00010", "1010", "1 of 5 shown"],
        ["00000", "0000", "0 of 5 shown"],
    ]


def test_markers_stand_beside_their_steps_and_nothing_overflows(tmp_path: Path) -> None:
    long = f"x = '{'wide ' * 60}'\n".encode()
    result = Result((replace(FINDING, message="a" * 300), replace(FINDING, place=MET, trace=FINDING.trace[:1])), 1)
    page = html_document(result, source({"src/net.py": NET + long}))
    measure = """
      function middle(element) { var box = element.getBoundingClientRect(); return box.top + box.height / 2; }
      var apart = Array.from(document.querySelectorAll("article")).map(function (card) {
        var dots = Array.from(card.querySelectorAll("circle")).map(middle).sort();
        var steps = Array.from(card.querySelectorAll(".row.step")).map(middle).sort();
        return dots.map(function (y, index) { return Math.round(Math.abs(y - steps[index])); });
      });
      var root = document.documentElement;
      return { apart: apart, overflow: root.scrollWidth - root.clientWidth };
    """
    for width in (1200, 500):
        assert asked(tmp_path, page, measure, width) == {"apart": [[0, 0, 0], [0]], "overflow": 0}


def test_a_link_to_a_rule_opens_it(page: str, tmp_path: Path) -> None:
    follow = """
      window.dispatchEvent(new Event("hashchange"));
      var before = document.querySelectorAll("details[open]").length;
      history.replaceState(null, "", "#rule-DEV101");
      window.dispatchEvent(new Event("hashchange"));
      return [before, document.getElementById("rule-DEV101").open];
    """
    assert asked(tmp_path, page, follow) == [0, True]
