"""Creations that are the default of a parameter: they are made once, before any argument is at hand; part of DEV101."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.draft import Repair
from devlint.finding import Applicability

if TYPE_CHECKING:
    import libcst as cst


def is_default(definition: cst.CSTNode | None, creation: cst.CSTNode) -> bool:
    """Whether a definition makes this for a parameter that a call leaves out."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend, parameters_of

    if not isinstance(definition, cst.FunctionDef):
        return False
    defaults = (one.default for one in parameters_of(definition) if one.default is not None)
    return any(part is creation for default in defaults for part in (default, *descend(default)))


def made_in_the_body(where: str) -> Repair:
    """No argument is known where a default is made."""
    how = f"let it default to `None`, and create it in the body on the device of {where}"
    return Repair(Applicability.SUGGESTION, how)
