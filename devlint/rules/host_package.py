"""Packages that work on the host throughout, and those that work there as well."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from devlint.source.package_signs import ASKS, MADE_FOR_ONE, NAMES_A_DEVICE, TRAINS, has_sign

if TYPE_CHECKING:
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


def asks_for_accelerators(text: str, project: WorkspaceView | None, file: Path | None, alone: bool) -> bool:
    """Whether a package asks somewhere whether there is an accelerator, and this file is not made for those with one.

    ``alone``: the file itself has to ask, as one that runs by itself.
    """
    data = text.encode(errors="replace")
    if has_sign(data, MADE_FOR_ONE):
        return False
    if has_sign(data, ASKS):
        return True
    return not alone and project is not None and file is not None and project.mentioned_elsewhere(file, ASKS)
