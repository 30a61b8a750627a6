"""Drafts with other nodes and words in the place of theirs: those of the same text, read once more with its layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.drafts.draft import Draft, DraftStep
    from devlint.drafts.source_words import SourceWords


def with_nodes(draft: Draft, of: Callable[[cst.CSTNode], cst.CSTNode], words: SourceWords) -> Draft | None:
    """The draft whose nodes are what ``of`` gives for its own; None where their layout excuses it."""
    if draft.excuse is not None and draft.excuse.excuses(of(draft.excuse.node)):
        return None
    repair = draft.repair
    if repair is not None:
        changes = tuple(_changed(change, of, words) for change in repair.changes)
        repair = replace(repair, message=words.said(repair.message), changes=changes)
    trace = tuple(_step(step, of, words) for step in draft.trace)
    message = words.said(draft.message)
    return replace(draft, node=of(draft.node), message=message, trace=trace, repair=repair, excuse=None)


def _step(step: DraftStep, of: Callable[[cst.CSTNode], cst.CSTNode], words: SourceWords) -> DraftStep:
    device = None if step.device is None else words.said(step.device)
    return replace(step, node=of(step.node), message=words.said(step.message), device=device)


def _changed(change: Change, of: Callable[[cst.CSTNode], cst.CSTNode], words: SourceWords) -> Change:
    def new(value: Any) -> Any:
        return words.code(value) if isinstance(value, str) else of(value)

    return replace(change, **{field.name: new(getattr(change, field.name)) for field in fields(change)})
