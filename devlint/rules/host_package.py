"""Packages that work on the host throughout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from devlint.source.package_signs import NAMES_A_DEVICE, TRAINS, has_sign

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
