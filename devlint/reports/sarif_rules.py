"""The rules of a SARIF run: all that there are, so that two runs of one version differ in their results only."""

from __future__ import annotations

import re
from typing import Any

from devlint.configuration.codes import all_codes
from devlint.finding import Severity
from devlint.reports.sarif_limits import DESCRIPTION_CHARACTERS, NAME_CHARACTERS, TAGS_SHOWN
from devlint.reports.shortening import clipped

LEVELS = {Severity.NOTE: "note", Severity.WARNING: "warning", Severity.ERROR: "error"}
_PROBLEM_SEVERITIES = {Severity.NOTE: "recommendation", Severity.WARNING: "warning", Severity.ERROR: "error"}
_FAMILIES = {"6": "asynchrony", "7": "performance", "9": "linter"}


def sarif_rules() -> list[dict[str, Any]]:
    """A reportingDescriptor for each rule, in the order of their codes."""
    return [
        {
            "id": rule.code,
            "name": clipped(rule.name, NAME_CHARACTERS),
            "shortDescription": {"text": clipped(rule.summary, DESCRIPTION_CHARACTERS)},
            "fullDescription": {"text": clipped(_what_it_does(rule.page) or rule.summary, DESCRIPTION_CHARACTERS)},
            "help": {"text": f"{rule.code} {rule.name}\n\n{rule.page}", "markdown": rule.page},
            "defaultConfiguration": {"level": LEVELS[rule.suspected_as]},
            "properties": {
                "problem.severity": _PROBLEM_SEVERITIES[rule.suspected_as],
                "tags": tags(rule.code)[:TAGS_SHOWN],
            },
        }
        for rule in all_codes().values()
    ]


def tags(code: str) -> list[str]:
    """The words by which GitHub's users filter alerts. Never ``security``, which would rank them as vulnerabilities."""
    return ["pytorch", "device-placement", _FAMILIES.get(code[3:4], "correctness")]


def _what_it_does(page: str) -> str:
    section = re.search(r"^## What it does\n+(.*?)(?=\n## |\Z)", page, re.M | re.S)
    return "" if section is None else " ".join(section[1].split())
