"""What the package around a file bears out of its drafts: does it work on the host, ask for accelerators, set one?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.drafts.draft import Premise
from devlint.finding import Confidence
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.source.package_signs import (
    ASKS,
    BUILT_IN_PLACE,
    FOLLOWS_DEFAULT,
    HIDES_OTHERS,
    MADE_FOR_ONE,
    NAMES_A_DEVICE,
    PLACES_ITEMS,
    RUNS_ENGINES,
    SEES_ONE,
    SETS_CURRENT,
    SETS_DEFAULT,
    SPAWNS,
    STARTS_HERE,
    TRAINS,
    WORKS_WITHOUT,
    has_sign,
)
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.drafts.draft import Draft
    from devlint.placement.project.workspace import WorkspaceView
    from devlint.rules.rule import Rule


def works_on_the_host(text: str, project: WorkspaceView | None, file: Path | None) -> bool:
    """Whether a file is in a package that trains its models itself and names no device anywhere.

    Such models stay where they are made. A package of layers does not train: those who use it move its modules.
    """
    data = text.encode(errors="replace")
    return _trains_on_the_host(data, project, file) and not (
        has_sign(data, RUNS_ENGINES) or _elsewhere(RUNS_ENGINES, project, file)
    )


def _trains_on_the_host(data: bytes, project: WorkspaceView | None, file: Path | None) -> bool:
    if project is None or file is None:
        return False
    if has_sign(data, NAMES_A_DEVICE) or project.mentioned_elsewhere(file, NAMES_A_DEVICE):
        return False
    return has_sign(data, TRAINS) or project.mentioned_elsewhere(file, TRAINS)


def is_a_test_of_the_host(role: Role, text: str) -> bool:
    """Whether a file is a test that names no device: what it defines it runs itself, where it is made."""
    return role is Role.TEST and not has_sign(text.encode(errors="replace"), NAMES_A_DEVICE)


def works_on_the_default_device(text: str, project: WorkspaceView | None, file: Path | None) -> bool:
    """Whether a file is in a package that brings what it keeps to the default device, which its users set."""
    return has_sign(text.encode(errors="replace"), FOLLOWS_DEFAULT) or _elsewhere(FOLLOWS_DEFAULT, project, file)


def builds_in_place(role: Role, text: str, project: WorkspaceView | None, file: Path | None) -> bool:
    """Whether the modules of a file are built where they work, so that no move leaves anything of them behind.

    A loader of the package builds them under a device; a test sets the default device before it builds its own.
    """
    data = text.encode(errors="replace")
    if role is Role.TEST:
        return has_sign(data, SETS_DEFAULT)
    return has_sign(data, BUILT_IN_PLACE) or _elsewhere(BUILT_IN_PLACE, project, file)


def as_the_package_bears_out(
    drafts: list[tuple[Rule, Draft]], text: str, project: WorkspaceView | None, file: Path | None
) -> list[tuple[Rule, Draft]]:
    """The drafts of a file as far as the package bears out what they take for granted."""
    if all(draft.premise is None for _, draft in drafts):
        return drafts
    data = text.encode(errors="replace")
    borne_out = ((rule, _borne_out(draft, data, project, file)) for rule, draft in drafts)
    return [(rule, draft) for rule, draft in borne_out if draft is not None]


def _borne_out(draft: Draft, data: bytes, project: WorkspaceView | None, file: Path | None) -> Draft | None:
    match draft.premise:
        case Premise.ASKS:
            return _where_asked(draft, data, project, file)
        case Premise.GOES_ON_WITHOUT:
            goes_on = has_sign(data, ASKS) or _elsewhere(WORKS_WITHOUT, project, file)
            return draft if goes_on and not _is_made_for_one(draft, data) else None
        case Premise.SEVERAL_MACHINES:
            return _over_machines(draft, project, file)
        case Premise.FORKS:
            spawns = has_sign(data, SPAWNS) or _elsewhere(SPAWNS, project, file)
            return replace(draft, confidence=Confidence.LOW) if spawns else draft
        case Premise.CALLERS_CHOOSE:
            return _where_callers_choose(draft, data, project, file)
        case Premise.CURRENT_LEFT_ALONE:
            # `torch.cuda.set_device(args.gpu)`: from then on `cuda` is the accelerator of that number.
            sets = has_sign(data, SETS_CURRENT) or _elsewhere(SETS_CURRENT, project, file)
            return replace(draft, confidence=Confidence.LOW) if sets else draft
        case Premise.SAVED_ELSEWHERE:
            # What such a package loads it has saved itself, or its users have: from the CPU.
            return replace(draft, confidence=Confidence.LOW) if _trains_on_the_host(data, project, file) else draft
        case Premise.LOADED_ON_THE_CPU:
            places = has_sign(data, PLACES_ITEMS) or _elsewhere(PLACES_ITEMS, project, file)
            return replace(draft, confidence=Confidence.LOW) if places else draft
        case Premise.FIRST_OF_SEVERAL:
            chosen = has_sign(data, SEES_ONE) or has_sign(data, HIDES_OTHERS) or _elsewhere(HIDES_OTHERS, project, file)
            return replace(draft, confidence=Confidence.LOW) if chosen else draft
        case Premise.PLACES:
            # Code that never places anything works with what the rest of its package hands it.
            return draft if _elsewhere(NAMES_A_DEVICE, project, file) else replace(draft, confidence=Confidence.LOW)
        case Premise.OPEN:
            # Where the package calls the function itself, those calls are judged, by what they hand it.
            used = draft.scope.class_name is None and _elsewhere(draft.scope.qualname, project, file)
            is_open = _elsewhere(NAMES_A_DEVICE, project, file) and not used
            return draft if is_open else replace(draft, confidence=Confidence.LOW)
    return draft


def _over_machines(draft: Draft, project: WorkspaceView | None, file: Path | None) -> Draft:
    """A draft about several machines: low in a package of which another file starts the processes on its own one."""
    if _elsewhere(STARTS_HERE, project, file):
        return replace(draft, confidence=Confidence.LOW)
    return draft


def _where_callers_choose(draft: Draft, data: bytes, project: WorkspaceView | None, file: Path | None) -> Draft:
    """A draft about a caller on another accelerator than the current one, or on none.

    Low where the package sets the current one for each of its processes, and nobody can be on none: the file needs an
    accelerator itself, or no file of the package asks whether there is one, and what to do without.
    """
    if not has_sign(data, SETS_CURRENT) and not _elsewhere(SETS_CURRENT, project, file):
        return draft
    without = has_sign(data, WORKS_WITHOUT) or _elsewhere(WORKS_WITHOUT, project, file)
    return replace(draft, confidence=Confidence.LOW) if has_sign(data, MADE_FOR_ONE) or not without else draft


def _where_asked(draft: Draft, data: bytes, project: WorkspaceView | None, file: Path | None) -> Draft | None:
    """A draft that holds in a package which asks somewhere whether there is an accelerator; None in any other.

    Where only other files ask, who calls a function of this one may well have done so: low. A script runs by itself,
    and a file that is made for machines with an accelerator need not ask: by what it imports, or by its name.
    """
    if _is_made_for_one(draft, data):
        return None
    if has_sign(data, ASKS):
        return draft
    # A file in no package may be used with any other, and none of them is known to ask.
    if not _elsewhere(ASKS, project, file) or draft.scope.role is not Role.LIBRARY:
        return None
    # What a file does while it is imported it does before anybody can ask.
    return replace(draft, confidence=Confidence.LOW) if draft.scope.qualname else draft


def _is_made_for_one(draft: Draft, data: bytes) -> bool:
    return has_sign(data, MADE_FOR_ONE) or is_named_for_accelerator(draft.scope.path)


def _elsewhere(sign: str, project: WorkspaceView | None, file: Path | None) -> bool:
    """Whether another file of the package has the sign; False for a file in no package."""
    if project is None or file is None or not project.is_in_package(file):
        return False
    return project.mentioned_elsewhere(file, sign)
