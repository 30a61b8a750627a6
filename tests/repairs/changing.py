"""Texts with changes made in them: each change is found by the code of its node."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devlint.drafts.changes import (
    Change,
)
from devlint.placement.syntax.nodes import code_of, descend
from devlint.placement.syntax.positions import Positions
from devlint.repairs.editing import Editor
from devlint.source.part import Part


def changed(text: str, *find: Callable[[cst.CSTNode], Change | None]) -> str | None:
    """The text after the changes that the finders make of its nodes; None where they cannot be made."""
    tree = cst.parse_module(text)
    changes = [made for node in descend(tree) for finder in find if (made := finder(node)) is not None]
    assert changes, "nothing was found to change"
    edits = Editor(text, Positions([Part(tree)], "a.py")).edits(changes)
    if not edits:
        return None
    data = text.encode()
    for edit in reversed(edits):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data.decode()


def calls(name: str, make: Callable[[cst.Call], Change]) -> Callable[[cst.CSTNode], Change | None]:
    """A change of each call whose function is spelled so, or ends with it."""
    return lambda node: make(node) if isinstance(node, cst.Call) and code_of(node.func).endswith(name) else None


def expressions(code: str, make: Callable[[cst.BaseExpression], Change]) -> Callable[[cst.CSTNode], Change | None]:
    return lambda node: make(node) if isinstance(node, cst.BaseExpression) and code_of(node) == code else None
