"""An answer beside a fact: agreed, a missed clash, a false clash, or nothing said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal

from devlint.semantics.record.row import Row
from tests.semantics.conformance.answers import Answer
from tests.semantics.conformance.evidence import FIXTURES, Fact

Result = Literal["agrees", "missed", "false", "device", "silent"]
"""`device`: the result is elsewhere than said; `silent`: the oracle could not say."""

RESULTS: tuple[Result, ...] = ("agrees", "missed", "false", "device", "silent")


def compare(fact: Fact, answer: Answer) -> Result:
    """Devices are compared by type, those of a list as far as the oracle tells them."""
    if answer.verdict == "unclear":
        return "silent"
    if fact.clash != (answer.verdict == "clash"):
        return "missed" if fact.clash else "false"
    if fact.clash or not fact.devices or not answer.devices:
        return "agrees"
    real = [d.split(":")[0] for d in fact.devices]
    said = [d.split(":")[0] for d in answer.devices]
    return "agrees" if set(said) <= set(real) and (len(said) == 1 or set(said) == set(real)) else "device"


def known_differences(oracle: str) -> Mapping[str, str]:
    """Code of a row -> why this oracle's answer differs and stays so."""
    content = json.loads((FIXTURES / "known_differences.json").read_text("utf-8"))
    found: dict[str, str] = {}
    for one in content["differences"]:
        if oracle in one["oracles"]:
            found |= dict.fromkeys(one["rows"], one["why"])
    return found


def differences(
    chosen: list[Row], facts: Mapping[str, Fact], answers: list[Answer]
) -> dict[str, tuple[Row, Fact, Answer, Result]]:
    """By code, the rows on which an oracle is not silent and does not agree."""
    found = {}
    for row, answer in zip(chosen, answers, strict=True):
        result = compare(facts[row.key], answer)
        if result not in ("agrees", "silent"):
            found[row.code] = (row, facts[row.key], answer, result)
    return found
