"""Packages that work on the host throughout, and those that work there as well."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.finding import Confidence
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.source.package_signs import ASKS, MADE_FOR_ONE, NAMES_A_DEVICE, STARTS_HERE, TRAINS, has_sign
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.project.workspace import WorkspaceView


def works_on_the_host(text: str, project: WorkspaceView | None, file: Path | None) -> bool:
    """Whether a file is in a package that trains its models itself and names no device anywhere.

    Such models stay where they are made. A package of layers does not train: those who use it move its modules.
    """
    if project is None or file is None:
        return False
    data = text.encode(errors="replace")
    if has_sign(data, NAMES_A_DEVICE) or project.mentioned_elsewhere(file, NAMES_A_DEVICE):
        return False
    return has_sign(data, TRAINS) or project.mentioned_elsewhere(file, TRAINS)


def over_machines(draft: Draft, project: WorkspaceView | None, file: Path | None) -> Draft:
    """A draft about several machines: low in a package of which another file starts the processes on its own one."""
    known = project is not None and file is not None and project.is_in_package(file)
    if not known or project is None or file is None or not project.mentioned_elsewhere(file, STARTS_HERE):
        return draft
    return replace(draft, confidence=Confidence.LOW)


def asks_for_accelerators(draft: Draft, text: str, project: WorkspaceView | None, file: Path | None) -> Draft | None:
    """A draft that holds in a package which asks somewhere whether there is an accelerator; None in any other.

    Where only other files ask, who calls a function of this one may well have done so: low. A script runs by itself,
    and a file that is made for machines with an accelerator need not ask: by what it imports, or, of what it does
    while it is imported itself, by its name.
    """
    data = text.encode(errors="replace")
    if has_sign(data, MADE_FOR_ONE) or (not draft.scope.qualname and is_named_for_accelerator(draft.scope.path)):
        return None
    if has_sign(data, ASKS):
        return draft
    if project is None or file is None or not project.is_in_package(file):
        # A file in no package may be used with any other, and none of them is known to ask.
        return None
    if not project.mentioned_elsewhere(file, ASKS) or draft.scope.role is not Role.LIBRARY:
        return None
    # What a file does while it is imported it does before anybody can ask.
    return replace(draft, confidence=Confidence.LOW) if draft.scope.qualname else draft
