"""What a finding has to tell beyond its message, in plain words: the steps of its trace, the verdict, the repair."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from devlint.finding import Applicability, Finding, TraceStep, Verdict
from devlint.reports.verdict import VERDICT_WORDS, first_line, operand_words, run_words

_MOVE = re.compile(r"\b(?:moved|copied|sent|loaded)\b")
FIX_WORDS = {
    Applicability.SAFE: "fix",
    Applicability.UNSAFE: "unsafe fix",
    Applicability.SUGGESTION: "suggestion",
}


def step_words(step: TraceStep) -> str:
    """``made here, on cpu``, ``moved here, to cuda``."""
    if step.device is None or step.device in step.message:
        return step.message
    return f"{step.message}, {'to' if _MOVE.search(step.message) else 'on'} {step.device}"


def advice(finding: Finding) -> Iterator[tuple[str, str]]:
    """The repair: what kind of advice, and the advice."""
    fix = finding.fix
    if finding.help and not (fix is not None and fix.edits and fix.message == finding.help):
        yield "help", finding.help
    if fix is not None and (fix.edits or fix.message != finding.help):
        yield FIX_WORDS[fix.applicability], fix.message


def verdict_words(verdict: Verdict, path: Callable[[str], str]) -> list[str]:
    """``confirmed: on cuda:0 (simulated) by net:build``, what the device says, and where its operands come from."""
    told = ", ".join(part for part in (run_words(verdict), verdict.reason) if part)
    lines = [VERDICT_WORDS[verdict.state] + (f": {told}" if told else "")]
    lines += [first_line(verdict.error)] if verdict.error else []
    return lines + [operand_words(operand, path) for operand in verdict.operands]


def explanation(finding: Finding, path: Callable[[str], str]) -> list[str]:
    """A line for each step, for the verdict and for the repair. ``path`` says how a file is called there."""
    lines = [
        f"{number} {step_words(step)} ({path(step.place.path)}:{step.place.position})"
        for number, step in enumerate(finding.trace, 1)
    ]
    verdict = finding.verdict
    if verdict is not None:
        lines += verdict_words(verdict, path)
    return lines + [f"{word}: {text}" for word, text in advice(finding)]
