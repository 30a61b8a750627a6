"""The codes: which there are, what a selector such as ``DEV3`` or ``ALL`` stands for, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from devlint.configuration.complaint import Complaint
from devlint.finding import Severity

if TYPE_CHECKING:
    from devlint.rules.registry import RuleInfo

UNUSED_SUPPRESSION = "DEV900"
SYNTAX_ERROR = "DEV901"
UNREADABLE_FILE = "DEV902"

ALWAYS_ON = frozenset({SYNTAX_ERROR, UNREADABLE_FILE})
"""What no selection, threshold or comment turns off: a file that could not be judged is never called clean."""


class UnknownCode(Complaint, ValueError):
    """A selector that no code matches. The message names the nearest codes."""


@cache
def all_codes() -> Mapping[str, RuleInfo]:
    """Every code, in order. Reading them imports the rules but neither libcst nor torch."""
    from devlint.rules.registry import all_rules

    return {rule.code: rule for rule in all_rules()}


def matching(selector: str) -> frozenset[str]:
    """The codes that a selector stands for: a code, the beginning of some, or ``ALL``.

    Raises :class:`UnknownCode` if there are none.
    """
    wanted = selector.strip().upper()
    codes = all_codes()
    if wanted == "ALL":
        return frozenset(codes)
    found = frozenset(code for code in codes if wanted and code.startswith(wanted))
    if not found:
        raise UnknownCode(_unknown(selector.strip()))
    return found


def _unknown(selector: str) -> str:
    import difflib

    codes = all_codes()
    by_name = {code.name: code.code for code in codes.values()}
    near = [by_name[name] for name in difflib.get_close_matches(selector.lower(), by_name, n=2, cutoff=0.7)]
    families = sorted({code[:4] for code in codes})
    near += difflib.get_close_matches(selector.upper(), [*codes, *families, "ALL"], n=3, cutoff=0.6)
    hint = f"; did you mean {either(dict.fromkeys(near))}?" if near else "; `devlint rule --all` lists the codes"
    return f"unknown code `{selector}`{hint}"


def either(names: Iterable[str]) -> str:
    """``a, b or c``, each in backticks."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One layer of selection: a configuration file, or the command line."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """``enabled`` codes, and those of them that a selector named (else only rules above note are enabled)."""

    enabled: frozenset[str]
    named: frozenset[str] = frozenset()


def resolve(choices: Iterable[Choice]) -> Selection:
    """Apply the layers in turn. ``select`` starts anew; within one layer the more specific selector wins, then ignore.

    Without any ``select``, every rule that can gate is on: all but those whose severity is note.
    """
    enabled = {code.code for code in all_codes().values() if code.severity > Severity.NOTE}
    named: set[str] = set()
    for choice in choices:
        verdicts: dict[str, tuple[int, bool]] = {}
        if choice.select is not None:
            enabled, named = set(), set()
        for selectors, on in ((choice.select or (), True), (choice.extend_select, True), (choice.ignore, False)):
            for selector in selectors:
                specificity = 0 if selector.strip().upper() == "ALL" else len(selector.strip())
                for code in matching(selector):
                    if specificity >= verdicts.get(code, (-1, on))[0]:
                        verdicts[code] = (specificity, on)
        for code, (_, on) in verdicts.items():
            (enabled.add if on else enabled.discard)(code)
            (named.add if on else named.discard)(code)
    return Selection(frozenset(enabled) | ALWAYS_ON, frozenset(named))
