"""Which rule comes first where several could report: derived from what each rule declares in its own file.

Two things are decided here: the order in which rules are offered a device mismatch, and which findings at one node
give way to which. A declaration that names no rule, contradicts another one or leaves the order open is an error when
the rules are loaded; the message names the files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from devlint.records import dataclass
from devlint.rules.rule import Rule

RuleClass = type[Rule]

_CLAIMS = "claims_before and claims_after"
_PRECEDENCE = "gives_way_to, gives_way_unless_surer and supersedes"


@dataclass(frozen=True, slots=True)
class Precedence:
    """The derived orders, in terms of codes."""

    claim_order: tuple[str, ...]
    """The rules that may claim a device mismatch, the first to be offered it first."""
    gives_way_to: Mapping[str, frozenset[str]]
    """By code: the codes whose finding at the same node drops its own."""
    gives_way_unless_surer: Mapping[str, frozenset[str]]
    """By code: the codes whose finding at the same node drops its own, unless its own has the higher confidence."""


def precedence_of(rules: Iterable[RuleClass]) -> Precedence:
    """What the rules declare, put together. Raises TypeError for an unknown code, a cycle or an open order."""
    by_code = {rule.code: rule for rule in rules}
    gives_way = {code: set(_known(rule, "gives_way_to", by_code)) for code, rule in by_code.items()}
    for code, rule in by_code.items():
        for other in _known(rule, "supersedes", by_code):
            gives_way[other].add(code)
    unless_surer = {code: set(_known(rule, "gives_way_unless_surer", by_code)) for code, rule in by_code.items()}
    sorter = TopologicalSorter({code: gives_way[code] | unless_surer[code] for code in by_code})
    _prepare(sorter, _PRECEDENCE, by_code)
    return Precedence(
        _claim_order(by_code),
        {code: frozenset(others) for code, others in gives_way.items() if others},
        {code: frozenset(others) for code, others in unless_surer.items() if others},
    )


def _claim_order(by_code: Mapping[str, RuleClass]) -> tuple[str, ...]:
    """The only order of all rules with a ``claim`` that keeps to what each of them declares."""
    claimants = {code: rule for code, rule in by_code.items() if rule.claim is not Rule.claim}
    before: dict[str, set[str]] = {code: set() for code in claimants}
    for code, rule in by_code.items():
        for name in ("claims_before", "claims_after"):
            for other in _known(rule, name, by_code):
                if code not in claimants or other not in claimants:
                    without = rule if code not in claimants else by_code[other]
                    raise TypeError(
                        f"{_file(rule)}: {code} has {other} in `{name}`, but {_shown(without)} has no `claim`"
                    )
                earlier, later = (code, other) if name == "claims_before" else (other, code)
                before[later].add(earlier)
    sorter = TopologicalSorter(before)
    _prepare(sorter, _CLAIMS, by_code)
    order: list[str] = []
    while sorter.is_active():
        ready = sorter.get_ready()
        if len(ready) > 1:
            rivals = " or ".join(_shown(by_code[code]) for code in sorted(ready))
            raise TypeError(f"which claims a device mismatch first, {rivals}? Say so in {_CLAIMS} of one of them")
        order += ready
        sorter.done(*ready)
    return tuple(order)


def _known(rule: RuleClass, name: str, by_code: Mapping[str, RuleClass]) -> Sequence[str]:
    """The codes that a rule declares under a name, once each of them is known to be a rule's."""
    codes = getattr(rule, name)
    if not isinstance(codes, tuple):
        raise TypeError(f"{_file(rule)}: `{name}` of {rule.code} is a tuple of codes, not {codes!r}")
    for code in codes:
        if code not in by_code:
            raise TypeError(f"{_file(rule)}: `{name}` of {rule.code} names {code!r}, which is no rule")
    return codes


def _prepare(sorter: TopologicalSorter[str], names: str, by_code: Mapping[str, RuleClass]) -> None:
    try:
        sorter.prepare()
    except CycleError as error:
        cycle = ", ".join(_shown(by_code[code]) for code in dict.fromkeys(error.args[1]))
        raise TypeError(f"{names} contradict each other: {cycle}") from None


def _shown(rule: RuleClass) -> str:
    return f"{rule.code} ({_file(rule)})"


def _file(rule: RuleClass) -> str:
    return getattr(sys.modules.get(rule.__module__), "__file__", None) or rule.__module__
