"""From events to findings: dispatch events to the rules, resolve precedence, give drafts their places in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from devlint.drafts.draft import Draft, DraftStep, Repair
from devlint.drafts.replaced_nodes import with_nodes
from devlint.drafts.source_words import SourceWords
from devlint.finding import Applicability, Confidence, Finding, Fix, Severity, TraceStep
from devlint.placement.project.analyse import analyse
from devlint.placement.syntax.positions import Positions
from devlint.rules.documented import Documented
from devlint.rules.host_package import (
    as_the_package_bears_out,
    builds_in_place,
    is_a_test_of_the_host,
    works_on_the_default_device,
    works_on_the_host,
)
from devlint.rules.importable import imports_what_is_missing
from devlint.rules.listeners import Drafts, reported
from devlint.rules.refused import Refused
from devlint.rules.registry import precedence
from devlint.rules.rule import Rule
from devlint.source.part import Part
from devlint.source.role import Role
from devlint.source.words_of_torch import text_may_hold_findings

if TYPE_CHECKING:
    from pathlib import Path

    import libcst as cst

    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.domain.events import Event
    from devlint.placement.project.workspace import WorkspaceView
    from devlint.placement.syntax.counterparts import Counterparts
    from devlint.repairs.editing import Editor
    from devlint.repairs.layout import Whole
    from devlint.source.role import Role


def lint_module(
    tree: cst.Module,
    text: str,
    path: str,
    role: Role,
    project: WorkspaceView | None = None,
    file: Path | None = None,
    index: FileIndex | None = None,
    parts: Sequence[Part] = (),
) -> list[Finding]:
    """Every finding of every rule in one file, unfiltered, in the order of their places.

    ``file`` is where the text stands in its ``project``; without one, imported names are known by the tables alone.
    Where ``tree`` is a skeleton, ``parts`` is all that is parsed of the text, and ``index`` what it defines.
    """
    if not text_may_hold_findings(text):
        # The screen leaves such files out, whatever else they name; it may hide nothing.
        return []
    drafts = _drafts(tree, analyse(tree, path, role, project, file, index), path, text, project, file)
    others = project.parts if project is not None else {}
    return findings_of(drafts, text, path, parts or [Part(tree)], index.whole if index is not None else None, others)


def findings_of(
    drafts: Drafts,
    text: str,
    path: str,
    parts: Sequence[Part],
    whole: Whole | None,
    others: Mapping[str, Sequence[Part]] = MappingProxyType({}),
) -> list[Finding]:
    """The findings that drafts come to, in the order of their places.

    ``parts`` is all that is parsed of the text, ``others`` of other files, by path; ``whole`` gives a definition in
    full of which they may have the signature alone.
    """
    if not drafts:
        return []
    from devlint.repairs.editing import Editor

    positions = Positions(parts, path, others)
    editor = Editor(text, positions, whole)
    findings = (
        _finding(rule, draft, positions, editor)
        for rule, draft in _resolve_precedence(drafts)
        if positions.holds(draft.node)
    )
    return sorted(findings, key=lambda finding: finding.sort_key)


Scopes = frozenset[tuple[str, str]]
"""The paths and qualified names of scopes."""


def scopes_with_findings(
    tree: cst.Module,
    text: str,
    path: str,
    role: Role,
    project: WorkspaceView | None,
    file: Path | None,
    index: FileIndex,
    parts: Sequence[Part],
    laid_out: Callable[[Scopes], bool],
) -> tuple[Scopes, Drafts, list[Finding] | None]:
    """Every scope that a finding of :func:`lint_module` would show, and the drafts; trees may be bare.

    If all of these scopes are ``laid_out``, by LibCST in one of the ``parts``, the findings as well.
    """
    drafts = _drafts(tree, analyse(tree, path, role, project, file, index), path, text, project, file)
    met = {scope for _, draft in drafts for scope in (draft.scope, *(step.scope for step in draft.trace))}
    scopes = frozenset((scope.path, scope.qualname) for scope in met)
    if not laid_out(scopes):
        return scopes, drafts, None
    others = project.parts if project is not None else {}
    return scopes, drafts, findings_of(drafts, text, path, parts, index.whole, others)


def with_layout(drafts: Drafts, counterparts: Counterparts) -> Drafts:
    """Drafts of bare trees, with LibCST's nodes in the place of theirs, and quotations as the source has them.

    Raises NeedsLayout where the rules might say something else of these.
    """
    words = SourceWords(counterparts.rendered())
    found = ((rule, with_nodes(draft, counterparts.of, words)) for rule, draft in drafts)
    return [(rule, draft) for rule, draft in found if draft is not None]


def _drafts(
    tree: cst.Module, events: Iterable[Event], path: str, text: str, project: WorkspaceView | None, file: Path | None
) -> Drafts:
    """Every draft of every rule that has a place in the analysed file ``path``, in the order of the events."""
    refused, documented = Refused(), Documented()
    told = list(reported(documented.watch(refused.watch(events))))
    judged = ((rule, documented.judged(rule, refused.judged(draft))) for rule, draft in told)
    drafts = [
        (rule, documented.judged(rule, refused.judged(relocated)))
        for rule, draft in judged
        if (relocated := _relocated(draft, path)) is not None
    ]
    drafts = as_the_package_bears_out(drafts, text, project, file)
    if any(_rests_on_the_default(*one) for one in drafts) and works_on_the_default_device(text, project, file):
        drafts = _lowered(drafts, _rests_on_the_default)
    moved = next((draft.scope.role for rule, draft in drafts if rule.of_moved_modules), None)
    if moved is not None and builds_in_place(moved, text, project, file):
        drafts = _lowered(drafts, lambda rule, draft: rule.of_moved_modules)
    stays = any(is_a_test_of_the_host(draft.scope.role, text) for _, draft in drafts[:1])
    if stays or (drafts and imports_what_is_missing(tree, project, file)):
        return _lowered(drafts, lambda rule, draft: True)
    if not all(rule.of_callers_models for rule, _ in drafts) and works_on_the_host(text, project, file):
        return _lowered(drafts, _rests_on_a_move)
    return drafts


def _lowered(drafts: Drafts, is_a_guess: Callable[[Rule, Draft], bool]) -> Drafts:
    """The drafts, with low confidence where one is a guess."""
    return [
        (rule, replace(draft, confidence=Confidence.LOW) if is_a_guess(rule, draft) else draft)
        for rule, draft in drafts
    ]


def _rests_on_a_move(rule: Rule, draft: Draft) -> bool:
    """Whether it says nothing of models that stay where they are made."""
    wrong_there = rule.wrong_on_the_host and draft.confidence is Confidence.HIGH
    return not (rule.of_callers_models or wrong_there)


def _rests_on_the_default(rule: Rule, draft: Draft) -> bool:
    """Whether it holds unless the default device is where the caller works."""
    return rule.of_bare_factories and draft.confidence is Confidence.MEDIUM


def _relocated(draft: Draft, path: str) -> Draft | None:
    """The draft at a place of the analysed file: where it is in another file, at the step that passes the value in.

    None if the trace does not lead through the analysed file.
    """
    if draft.scope.path == path:
        return draft
    here = [step for step in draft.trace if step.passes_on and step.scope.path == path]
    passed_in = next((step for step in here if step.crosses), here[0] if here else None)
    if passed_in is not None and not passed_in.crosses and here[-1] is draft.trace[-1]:
        passed_in = here[-1]  # it comes in by its name alone, `from tables import LENGTHS`: where it is used
    if passed_in is None:
        return None
    repair = draft.repair
    if repair is not None:
        function, elsewhere = draft.scope.qualname, draft.scope.path
        place = f"in `{function}` ({elsewhere})" if function else f"in {elsewhere}"
        repair = Repair(Applicability.SUGGESTION, f"{repair.message} {place}")
    return replace(draft, node=passed_in.node, scope=passed_in.scope, repair=repair)


def _resolve_precedence(drafts: Drafts) -> Drafts:
    """One draft for each rule and node, the gravest and surest, less those that give way to another rule's."""
    best: dict[tuple[str, int], tuple[Rule, Draft]] = {}
    for rule, draft in drafts:
        key = (rule.code, id(draft.node))
        if key not in best or _weight(rule, draft) > _weight(*best[key]):
            best[key] = (rule, draft)
    return [
        (rule, draft)
        for (code, node), (rule, draft) in best.items()
        if not any((other, node) in best for other in precedence().gives_way_to.get(code, ()))
        and not any(
            (other, node) in best and best[other, node][1].confidence >= draft.confidence
            for other in precedence().gives_way_unless_surer.get(code, ())
        )
    ]


def _weight(rule: Rule, draft: Draft) -> tuple[int, int]:
    return (int(_severity(rule, draft)), int(draft.confidence))


def _severity(rule: Rule, draft: Draft) -> Severity:
    """That of the rule or of the draft; an error is said only of what is sure, by a rule that is right when it is."""
    severity = rule.severity if draft.severity is None else draft.severity
    is_certain = draft.confidence is Confidence.HIGH and not rule.error_when_confirmed
    return Severity.WARNING if severity is Severity.ERROR and not is_certain else severity


def _finding(rule: Rule, draft: Draft, positions: Positions, editor: Editor) -> Finding:
    repair = draft.repair
    return Finding(
        code=rule.code,
        name=rule.name,
        severity=_severity(rule, draft),
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
    """The trace steps with their places, each of them once."""
    trace: list[TraceStep] = []
    for step in steps:
        place = positions.place(step.node, step.scope.path)
        placed = TraceStep(place, step.message, step.device, begins=not step.passes_on)
        if placed not in trace:
            trace.append(placed)
    return tuple(trace)
