"""Which rule comes first is derived from what the rules declare; what cannot be derived is an error."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from devlint.rules.registry import precedence, rule_classes
from tests.fixture_expectations import lint_text
from tests.rules.temporary_rules import rule_file, rules_beside

CLAIM_ORDER = (
    "DEV103", "DEV202", "DEV502", "DEV501", "DEV504", "DEV206", "DEV104", "DEV201", "DEV205", "DEV310", "DEV208",
    "DEV101", "DEV404", "DEV402", "DEV405", "DEV401",
)  # fmt: skip
"""The order in which findings of these rules were labelled and compared; a rule more may stand anywhere in it."""

CLAIMS = "def claim(self, event: DeviceMismatch) -> Iterable[Draft]:\n    return ()\n"


def test_the_order_of_claims_is_kept() -> None:
    assert tuple(code for code in precedence().claim_order if code in CLAIM_ORDER) == CLAIM_ORDER


def test_every_rule_that_claims_has_its_place() -> None:
    claiming = {
        rule.code for rule in rule_classes() if "claim" in {name for cls in rule.__mro__[:-2] for name in vars(cls)}
    }
    assert claiming == set(precedence().claim_order)


@pytest.mark.parametrize(
    ("code", "others"),
    [
        ("DEV309", {"DEV102"}),
        ("DEV301", {"DEV102", "DEV309"}),
        ("DEV302", {"DEV102", "DEV309", "DEV301"}),
        ("DEV201", {"DEV204"}),
    ],
)
def test_findings_at_one_node_give_way_as_before(code: str, others: set[str]) -> None:
    assert precedence().gives_way_to[code] >= others


def test_a_creation_that_may_clash_gives_way_to_one_that_does() -> None:
    assert precedence().gives_way_unless_surer["DEV407"] >= {"DEV101"}


def test_a_rule_is_placed_between_two_others_by_its_own_file(tmp_path: Path) -> None:
    body = f'claims_after = ("DEV202",)\nclaims_before = ("DEV502",)\n\n{CLAIMS}'
    rule_file(tmp_path / "extra", body)
    with rules_beside(tmp_path):
        order = precedence().claim_order
    assert order == ("DEV103", "DEV202", "DEV999", *CLAIM_ORDER[2:])


FAILING = {
    "a rule that claims without a place": (CLAIMS, "which claims a device mismatch first", "DEV999", "DEV103"),
    "a place that is half open": (
        f'claims_after = ("DEV202",)\n\n{CLAIMS}',
        "which claims a device mismatch first",
        "DEV502",
        "DEV999",
    ),
    "a cycle": (
        f'claims_after = ("DEV502",)\nclaims_before = ("DEV202",)\n\n{CLAIMS}',
        "claims_before and claims_after contradict each other",
        "DEV999",
        "DEV202",
    ),
    "before itself": (
        f'claims_before = ("DEV999",)\n\n{CLAIMS}',
        "claims_before and claims_after contradict each other",
        "DEV999",
    ),
    "an unknown code": (f'claims_before = ("DEV998",)\n\n{CLAIMS}', "`claims_before` of DEV999 names 'DEV998'"),
    "a place without a claim": ('claims_before = ("DEV401",)', "DEV999", "has no `claim`"),
    "before a rule without a claim": (f'claims_before = ("DEV301",)\n\n{CLAIMS}', "DEV301", "has no `claim`"),
    "a code that is no tuple": ('gives_way_to = ("DEV101")', "`gives_way_to` of DEV999 is a tuple of codes"),
    "an unknown code to give way to": ('gives_way_to = ("DEV998",)', "`gives_way_to` of DEV999 names 'DEV998'"),
    "an unknown code to supersede": ('supersedes = ("dev101",)', "`supersedes` of DEV999 names 'dev101'"),
    "two rules that give way to each other": (
        'gives_way_to = ("DEV201",)\nsupersedes = ("DEV204",)',
        "gives_way_to, gives_way_unless_surer and supersedes contradict each other",
        "DEV999",
        "DEV201",
        "DEV204",
    ),
    "a doubtful and a plain precedence": (
        'gives_way_unless_surer = ("DEV309",)\nsupersedes = ("DEV102",)',
        "gives_way_to, gives_way_unless_surer and supersedes contradict each other",
        "DEV999",
        "DEV309",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_what_cannot_be_derived_is_an_error_that_names_the_files(name: str, tmp_path: Path) -> None:
    body, *parts = FAILING[name]
    path = rule_file(tmp_path / "extra", body)
    with rules_beside(tmp_path), pytest.raises(TypeError) as refused:
        rule_classes()
    message = str(refused.value)
    assert str(path) in message
    assert [part for part in parts if part not in message] == []


REPORTS = """
{declared}

def created(self, event: Created) -> Iterable[Draft]:
    from devlint.finding import Confidence

    yield Draft(event.node, event.scope, "made here", Confidence.{confidence})
"""

CLASHING = dedent("""
    import torch

    def shift(x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(3)
""")


@pytest.mark.parametrize(
    ("declared", "confidence", "codes"),
    [
        ("", "HIGH", {"DEV101", "DEV999"}),
        ('gives_way_to = ("DEV101",)', "HIGH", {"DEV101"}),
        ('gives_way_to = ("DEV102",)', "HIGH", {"DEV101", "DEV999"}),
        ('supersedes = ("DEV101",)', "LOW", {"DEV999"}),
        ('gives_way_unless_surer = ("DEV101",)', "HIGH", {"DEV101", "DEV999"}),
        ('gives_way_unless_surer = ("DEV101",)', "MEDIUM", {"DEV101"}),
        ('gives_way_unless_surer = ("DEV101",)', "LOW", {"DEV101"}),
    ],
)
def test_findings_at_one_node_give_way_as_declared(
    declared: str, confidence: str, codes: set[str], tmp_path: Path
) -> None:
    rule_file(tmp_path / "extra", REPORTS.format(declared=declared, confidence=confidence))
    with rules_beside(tmp_path):
        assert {finding.code for finding in lint_text(CLASHING, "library.py")} == codes


def test_the_first_claim_has_the_mismatch(tmp_path: Path) -> None:
    body = """
        {place}

        def claim(self, event: DeviceMismatch) -> Iterable[Draft]:
            yield Draft(event.node, event.scope, "claimed")
    """
    found = {}
    for place in ('claims_before = ("DEV103",)', 'claims_after = ("DEV401",)'):
        rule_file(tmp_path / "extra", dedent(body).format(place=place))
        with rules_beside(tmp_path):
            found[place] = {finding.code for finding in lint_text(CLASHING, "library.py")}
    assert list(found.values()) == [{"DEV999"}, {"DEV101"}]
