"""The pages of the rules keep their form, and what they show is what the rules say."""

from __future__ import annotations

import re

import pytest

from devlint.finding import Confidence
from devlint.rules.registry import RuleInfo, all_rules
from tests.fixture_expectations import lint_text

HEADINGS = [
    "What it does",
    "Why is this bad",
    "Example",
    "Use instead",
    "When it is right",
    "Fix safety",
    "How a run confirms it",
    "Known problems",
]

RULES = all_rules()
SHOWN = [rule for rule in RULES if not rule.code.startswith("DEV9")]
"""The rules that look at programs; those of the linter itself have their examples in its own tests."""


def _code(rule: RuleInfo) -> str:
    return rule.code


def _section(rule: RuleInfo, heading: str) -> str:
    _, _, rest = rule.page.partition(f"\n## {heading}\n")
    return rest.split("\n## ", 1)[0].strip()


def _programs(rule: RuleInfo, heading: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", _section(rule, heading), re.DOTALL)


@pytest.mark.parametrize("rule", RULES, ids=_code)
def test_page_has_the_headings_in_order_and_says_something_under_each(rule: RuleInfo) -> None:
    assert re.findall(r"^## (.+)$", rule.page, re.MULTILINE) == HEADINGS
    empty = [heading for heading in HEADINGS if not _section(rule, heading)]
    assert not empty


@pytest.mark.parametrize("rule", RULES, ids=_code)
def test_summary_is_one_sentence(rule: RuleInfo) -> None:
    assert rule.summary.endswith(".")
    assert "\n" not in rule.summary
    assert len(rule.summary) <= 160


ONLY_WHEN_ASKED = frozenset({"DEV312"})
"""Rules whose findings have low confidence, all of them: what readers found true of them was too little."""


@pytest.mark.parametrize("rule", SHOWN, ids=_code)
def test_every_example_is_flagged(rule: RuleInfo) -> None:
    programs = _programs(rule, "Example")
    assert programs
    for text in programs:
        least = Confidence.LOW if rule.code in ONLY_WHEN_ASKED else Confidence.MEDIUM
        codes = {finding.code for finding in lint_text(text, "library.py") if finding.confidence >= least}
        assert rule.code in codes, f"{rule.code} does not flag its own example, which gets {sorted(codes)}:\n{text}"


@pytest.mark.parametrize("rule", SHOWN, ids=_code)
def test_every_use_instead_is_clean(rule: RuleInfo) -> None:
    programs = _programs(rule, "Use instead")
    assert programs
    for text in programs:
        messages = [finding.message for finding in lint_text(text, "library.py") if finding.code == rule.code]
        assert not messages, f"{rule.code} flags what its page recommends: {messages}\n{text}"


def test_what_is_read_of_the_rules_is_what_their_classes_say() -> None:
    from devlint.rules.registry import _imported, _written

    assert sorted(_written()) == sorted(_imported())
