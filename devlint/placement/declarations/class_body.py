"""What the statements of a class body declare."""

from __future__ import annotations

import libcst as cst

from devlint.placement.syntax.nodes import body_of, code_of


def names_blocks(node: cst.ClassDef) -> bool | None:
    """``_no_split_modules = ["Block"]`` in the body, the contract of transformers and diffusers; None withdraws it.

    None is given where the body says nothing, so that a base decides.
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


def annotated_fields(node: cst.ClassDef) -> list[tuple[str, str]]:
    """Names annotated in a class body, with their annotations' source, in order."""
    return [
        (statement.target.value, code_of(statement.annotation.annotation))
        for statement in body_of(node.body)
        if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name)
    ]
