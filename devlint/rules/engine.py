"""From events to findings: hand each event to the rules that name it, settle whose a clash is, give drafts a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from devlint.drafts.causes import CAUSE_ORDER
from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.finding import Applicability, Finding, Fix, TraceStep
from devlint.placement.domain.events import Event, Met
from devlint.placement.project.analyse import analyse
from devlint.placement.syntax.positions import Positions
from devlint.rules.registry import rule_classes
from devlint.rules.rule import Rule
from devlint.source.part import Part

if TYPE_CHECKING:
    from pathlib import Path

    import libcst as cst

    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.project.workspace import Project
    from devlint.repairs.editing import Editor
    from devlint.source.role import Role

SAME_EXPRESSION = (("DEV102", "DEV309", "DEV301", "DEV302"), ("DEV204", "DEV201"))
"""Codes that speak of one expression: where several stand on it, only the first is said."""

ONE_CREATION = ("DEV101", "DEV407")
"""A creation that clashes, and one that only may: the second is said where the first is less sure."""

Handler = Callable[[Event], Iterable[Draft]]


def lint_module(
    tree: cst.Module,
    text: str,
    path: str,
    role: Role,
    project: Project | None = None,
    file: Path | None = None,
    index: FileIndex | None = None,
    parts: Sequence[Part] = (),
) -> list[Finding]:
    """Every finding of every rule in one file, unfiltered, in the order of their places.

    ``file`` is where the text stands in its ``project``; without one, imported names are known by the tables alone.
    Where ``tree`` is a skeleton, ``parts`` is all that is parsed of the text, and ``index`` what it defines.
    """
    if "torch" not in text:
        # The screen leaves such files out, whatever else they name; it may hide nothing.
        return []
    found = _drafts(analyse(tree, path, role, project, file, index))
    drafts = [(rule, at_home) for rule, draft in found if (at_home := _brought_home(draft, path))]
    if not drafts:
        return []
    from devlint.repairs.editing import Editor

    positions = Positions(parts or [Part(tree)], path, project.parts if project is not None else {})
    editor = Editor(text, positions, index.whole if index is not None else None)
    findings = (_finding(rule, draft, positions, editor) for rule, draft in _settle(drafts))
    return sorted(findings, key=lambda finding: finding.sort_key)


def scopes_spoken_of(
    tree: cst.Module, path: str, role: Role, project: Project | None, file: Path | None, index: FileIndex
) -> frozenset[tuple[str, str]]:
    """Path and qualified name of all scopes that :func:`lint_module` would speak of; the trees may be bare."""
    found = _drafts(analyse(tree, path, role, project, file, index))
    drafts = [draft for _, draft in found if _brought_home(draft, path)]
    scopes = {scope for draft in drafts for scope in (draft.scope, *(step.scope for step in draft.trace))}
    return frozenset((scope.path, scope.qualname) for scope in scopes)


def _drafts(events: Iterable[Event]) -> Iterator[tuple[Rule, Draft]]:
    rules = [cls() for cls in rule_classes()]
    by_event: dict[str, list[tuple[Rule, Handler]]] = {
        name: [(rules[number], getattr(rules[number], name)) for number in numbers]
        for name, numbers in _handling().items()
    }
    by_code = {rule.code: rule for rule in rules}
    causes = [by_code[code] for code in CAUSE_ORDER if code in by_code]

    for event in events:
        for rule, handler in by_event.get(_handler_name(type(event).__name__), ()):
            for draft in handler(event):
                yield rule, draft
        if isinstance(event, Met):
            yield from _claimed(event, causes)
    for rule in rules:
        for draft in rule.finish():
            yield rule, draft


def _brought_home(draft: Draft, home: str) -> Draft | None:
    """The draft at a place of this file: what comes from another one is told where it came in."""
    if draft.scope.path == home:
        return draft
    came_in = next((step for step in draft.trace if step.passes_on and step.scope.path == home), None)
    if came_in is None:
        return None
    repair = draft.repair
    if repair is not None:
        name, path = draft.scope.qualname, draft.scope.path
        place = f"in `{name}` ({path})" if name else f"in {path}"
        repair = Repair(Applicability.SUGGESTION, f"{repair.message} {place}")
    return replace(draft, node=came_in.node, scope=came_in.scope, repair=repair)


def _claimed(event: Met, causes: list[Rule]) -> list[tuple[Rule, Draft]]:
    for rule in causes:
        drafts = list(rule.claim(event))
        if drafts:
            return [(rule, draft) for draft in drafts]
    return []


@cache
def _handler_name(event_type: str) -> str:
    """``DeviceNamed`` is handled by ``device_named``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event_type).lower()


@cache
def _handling() -> Mapping[str, Sequence[int]]:
    """By the name of a handler: which of the rules have it, by their numbers."""
    base = set(dir(Rule))
    found: dict[str, list[int]] = {}
    for number, rule in enumerate(rule_classes()):
        for name in dir(rule):
            if name not in base and not name.startswith("_") and callable(getattr(rule, name)):
                found.setdefault(name, []).append(number)
    return found


def _settle(drafts: list[tuple[Rule, Draft]]) -> list[tuple[Rule, Draft]]:
    """One finding a cause: the gravest and surest draft of each rule and node; one code of a family an expression."""
    best: dict[tuple[str, int], tuple[Rule, Draft]] = {}
    for rule, draft in drafts:
        key = (rule.code, id(draft.node))
        if key not in best or _weight(rule, draft) > _weight(*best[key]):
            best[key] = (rule, draft)
    for family in SAME_EXPRESSION:
        for index, code in enumerate(family):
            for stronger in family[:index]:
                for key in [k for k in best if k[0] == code and (stronger, k[1]) in best]:
                    del best[key]
    clashing, doubtful = ONE_CREATION
    for key in [key for key in best if key[0] == doubtful and (clashing, key[1]) in best]:
        if best[clashing, key[1]][1].confidence >= best[key][1].confidence:
            del best[key]
    return list(best.values())


def _weight(rule: Rule, draft: Draft) -> tuple[int, int]:
    severity = rule.severity if draft.severity is None else draft.severity
    return (int(severity), int(draft.confidence))


def _finding(rule: Rule, draft: Draft, positions: Positions, editor: Editor) -> Finding:
    repair = draft.repair
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=rule.severity if draft.severity is None else draft.severity,
        confidence=draft.confidence,
        message=draft.message,
        place=positions.place(draft.node),
        scope=draft.scope.qualname,
        snippet=positions.snippet(draft.node),
        trace=_trace(draft.trace, positions),
        help=repair.message if repair else "",
        fix=_fix(repair, editor) if repair else None,
        related_lines=positions.statement_lines(draft.node),
    )


def _fix(repair: Repair, editor: Editor) -> Fix:
    """The repair with its edits; without any it is advice, however sure."""
    edits = editor.edits(repair.changes)
    return Fix(repair.applicability if edits else Applicability.SUGGESTION, repair.message, edits)


def _trace(steps: tuple[DraftStep, ...], positions: Positions) -> tuple[TraceStep, ...]:
    """Trace steps with places; a place told twice in a row is told once, by its later words."""
    trace: list[TraceStep] = []
    for step in steps:
        place = positions.place(step.node, step.scope.path)
        placed = TraceStep(place, step.message, step.device, begins=not step.passes_on)
        if placed not in trace:
            trace.append(placed)
    return tuple(trace)
