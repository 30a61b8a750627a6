"""Drafts with other nodes in the place of theirs: those of the same text, read once more with its layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.drafts.draft import Draft


def with_nodes(draft: Draft, of: Callable[[cst.CSTNode], cst.CSTNode]) -> Draft | None:
    """The draft whose nodes are what ``of`` gives for its own; None where their layout excuses it."""
    if draft.excuse is not None and draft.excuse.excuses(of(draft.excuse.node)):
        return None
    repair = draft.repair
    if repair is not None:
        repair = replace(repair, changes=tuple(_changed(change, of) for change in repair.changes))
    trace = tuple(replace(step, node=of(step.node)) for step in draft.trace)
    return replace(draft, node=of(draft.node), trace=trace, repair=repair, excuse=None)


def _changed(change: Change, of: Callable[[cst.CSTNode], cst.CSTNode]) -> Change:
    given: dict[str, Any] = {field.name: getattr(change, field.name) for field in fields(change)}
    nodes: dict[str, Any] = {name: of(value) for name, value in given.items() if not isinstance(value, str)}
    return replace(change, **nodes)


def words_of(draft: Draft) -> Iterator[str]:
    """All that a draft says."""
    yield draft.message
    for step in draft.trace:
        yield step.message
    if draft.repair is not None:
        yield draft.repair.message
        for change in draft.repair.changes:
            given = (getattr(change, field.name) for field in fields(change))
            yield from (value for value in given if isinstance(value, str))
