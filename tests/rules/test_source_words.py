"""Quotations of bare trees, as the source has them."""

from __future__ import annotations

import pytest

from devlint.drafts.source_words import SourceWords
from devlint.drafts.wording import MAX_QUOTED_LENGTH
from devlint.source.bare.nodes import NeedsLayout

RENDERED = [("x + y", "(x + y)"), ('d["k"].device', "d['k'].device"), ("z", "z"), ("f(x + y)", "f((x + y))")]


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("`x + y` is on the CPU", "`(x + y)` is on the CPU"),
        ("`z` and `x + y`", "`z` and `(x + y)`"),
        ("`f(x + y)` fails", "`f((x + y))` fails"),
        ('pass `device=d["k"].device`', "pass `device=d['k'].device`"),
        ("`x + y.to(z)`", "`(x + y).to(z)`"),
        ("`(x + y).to(z)`", "`(x + y).to(z)`"),
        ("`x + years` is another", "`x + years` is another"),
        ("`self.x + y`", "`self.x + y`"),
        ("nothing is quoted", "nothing is quoted"),
    ],
)
def test_quotations_are_those_of_the_source(said: str, written: str) -> None:
    assert SourceWords(RENDERED).said(said) == written


def test_code_is_rewritten_without_quotation_marks() -> None:
    words = SourceWords(RENDERED)
    assert words.code('d["k"].device') == "d['k'].device"
    assert words.code('.to(d["k"].device)') == ".to(d['k'].device)"


def test_without_differences_all_stays_as_it_is() -> None:
    assert SourceWords([("z", "z")]).said("z, `z` and `x + y`") == "z, `z` and `x + y`"


def test_a_text_that_is_written_in_two_ways_needs_the_layout() -> None:
    words = SourceWords([*RENDERED, ("x + y", "x + y")])
    assert words.said("`z`") == "`z`"
    with pytest.raises(NeedsLayout):
        words.said("`x + y` is on the CPU")
    with pytest.raises(NeedsLayout):
        words.said("`x + y.to(z)`")


def test_a_text_that_stands_in_the_sentence_itself_needs_the_layout() -> None:
    with pytest.raises(NeedsLayout):
        SourceWords(RENDERED).said("the device of x + y")


def test_a_text_that_becomes_too_long_to_be_quoted_needs_the_layout() -> None:
    text = "a" * (MAX_QUOTED_LENGTH - 1)
    assert SourceWords([(text, f"({text})")]).said("`z`") == "`z`"
    with pytest.raises(NeedsLayout):
        SourceWords([(text, f"({text})")]).said(f"`{text}`")


def test_a_text_that_becomes_short_enough_to_be_quoted_needs_the_layout() -> None:
    text = "a + " * (MAX_QUOTED_LENGTH // 4) + "abcd"
    with pytest.raises(NeedsLayout):
        SourceWords([(text, text.replace(" ", ""))])
