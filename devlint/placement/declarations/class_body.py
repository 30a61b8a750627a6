"""What the statements of a class body declare."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from devlint.placement.syntax.nodes import body_of, code_of


def names_blocks(node: cst.ClassDef) -> bool | None:
    """Whether the body sets ``_no_split_modules`` to a non-empty list, as models of transformers and diffusers do.

    None where the body does not set it, so that a base class decides. ``_no_split_modules = None`` gives False.
    """
    for statement in body_of(node.body):
        if isinstance(statement, cst.Assign):
            targets: list[cst.BaseExpression] = [target.target for target in statement.targets]
        elif isinstance(statement, cst.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if any(isinstance(target, cst.Name) and target.value == "_no_split_modules" for target in targets):
            return isinstance(statement.value, (cst.List, cst.Tuple)) and bool(statement.value.elements)
    return None


def set_values(node: cst.ClassDef) -> Mapping[str, cst.BaseExpression]:
    """What the body sets its attributes to, at first."""
    found: dict[str, cst.BaseExpression] = {}
    for statement in body_of(node.body):
        if type(statement) is cst.Assign:
            targets: list[cst.BaseExpression] = [target.target for target in statement.targets]
        elif type(statement) is cst.AnnAssign:
            targets = [statement.target]
        else:
            continue
        if statement.value is not None:
            for target in targets:
                if type(target) is cst.Name:
                    found.setdefault(target.value, statement.value)
    return found


def annotated_fields(node: cst.ClassDef) -> list[tuple[str, str]]:
    """Names annotated in a class body, with their annotations' source, in order."""
    return [
        (statement.target.value, code_of(statement.annotation.annotation))
        for statement in body_of(node.body)
        if type(statement) is cst.AnnAssign and type(statement.target) is cst.Name
    ]
