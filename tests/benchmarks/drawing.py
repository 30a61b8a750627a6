"""Draws of findings to be read by hand, the same for the same seed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from linting import Finding

_CONTEXT = 12
"""Source lines shown before and after a drawn finding."""


def draw(findings: list[Finding], count: int, seed: int, per_rule: int | None = None) -> list[Finding]:
    """``count`` findings at random, each as likely as the other, or all of fewer; at most ``per_rule`` of a rule.

    Each finding has its own place in the random order, so that a finding that comes or goes leaves the others drawn.
    """
    taken: list[Finding] = []
    rules: Counter[str] = Counter()
    for finding in sorted(findings, key=lambda finding: _place_in_order(finding, seed)):
        if len(taken) == count:
            break
        rules[finding["code"]] += 1
        if per_rule is None or rules[finding["code"]] <= per_rule:
            taken.append(finding)
    return sorted(taken, key=lambda f: (f["code"], f["package"], f["path"], f["line"], f["column"]))


def _place_in_order(finding: Finding, seed: int) -> str:
    names = ("package", "version", "path", "code", "fingerprint", "line", "column")
    return hashlib.sha256(json.dumps([seed, *(finding[name] for name in names)]).encode()).hexdigest()


def to_be_labelled(finding: Finding, draw_name: str, directory: Path | None) -> dict[str, Any]:
    """A label with ``label`` and ``why`` still to be filled in, then all that a reader needs to fill them in."""
    return {
        "package": finding["package"],
        "version": finding["version"],
        "path": finding["path"],
        "scope": finding["scope"],
        "rule": finding["code"],
        "fingerprint": finding["fingerprint"],
        "line": finding["line"],
        "label": None,
        "why": None,
        "severity": finding["severity"],
        "draw": draw_name,
        "confidence": finding["confidence"],
        "column": finding["column"],
        "message": finding["message"],
        "help": finding["help"],
        "trace": [
            f"{step['path']}:{step['line']}:{step['column']} {step['message']} [{step['device']}]"
            for step in finding["trace"]
        ],
        "source": source_around(directory / finding["path"], finding["line"]) if directory is not None else None,
    }


def source_around(file: Path, line: int) -> list[str]:
    """The numbered lines around ``line``."""
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    first = max(1, line - _CONTEXT)
    return [f"{number:5} {text}" for number, text in enumerate(lines[first - 1 : line + _CONTEXT], first)]


def words(finding: Finding) -> str:
    """One finding with its trace, as text."""
    head = f"{finding['package']} {finding['path']}:{finding['line']} {finding['code']}"
    lines = [f"{head} {finding['severity']} {finding['confidence']}"]
    lines.append(f"    in {finding['scope']}: {finding['message']}")
    lines += [f"    {step['path']}:{step['line']} {step['message']} [{step['device']}]" for step in finding["trace"]]
    return "\n".join(lines)
