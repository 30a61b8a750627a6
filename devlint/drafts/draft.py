"""The draft of a finding: what a rule yields. Its places are still nodes of the tree."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from devlint.finding import Applicability, Confidence, Severity
from devlint.records import dataclass

if TYPE_CHECKING:
    import libcst as cst

    from devlint.drafts.changes import Change
    from devlint.placement.domain.scope import Scope


@dataclass(frozen=True, slots=True, eq=False)
class DraftStep:
    """A step of the trace. Its place is still a node."""

    node: cst.CSTNode
    scope: Scope
    message: str
    device: str | None = None
    passes_on: bool = True
    """Whether the value passes through here; False where it begins: at a parameter, a factory or an attribute."""
    crosses: bool = False
    """Whether the value may come from another file here, or go there: a call, or the attribute that keeps it."""


@dataclass(frozen=True, slots=True)
class Repair:
    """How the code is mended: a message, how safe the repair is, and the changes, if they can be made.

    Without changes it is shown as a suggestion, whatever its applicability.
    """

    applicability: Applicability
    message: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Excuse:
    """Layout of a node for which nothing is said of it."""

    node: cst.CSTNode
    excuses: Callable[[cst.CSTNode], bool]
    """Asked of the node once it has its layout."""


class Premise(Enum):
    """What a draft takes for granted of the package around its file (:mod:`devlint.rules.host_package` looks)."""

    ASKS = "the package asks whether there is an accelerator"
    GOES_ON_WITHOUT = "a file of the package asks whether there is an accelerator, and works without"
    SEVERAL_MACHINES = "the package does not start its processes on one machine"
    CURRENT_LEFT_ALONE = "the package sets no accelerator as the current one"
    CALLERS_CHOOSE = "the package is not made for the accelerator that its processes set as the current one"
    FORKS = "the package does not start its processes anew"
    SAVED_ELSEWHERE = "the package does not train on the CPU what it saves"
    PLACES = "another file of the package names a device"
    LOADED_ON_THE_CPU = "no data set of the package brings its items to a device"
    FIRST_OF_SEVERAL = "the first accelerator of a process is the first of the machine"
    OPEN = "another file of the package names a device, and none mentions the function of the draft"


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A finding before it has a place in the text. ``node`` is where the repair goes."""

    node: cst.CSTNode
    scope: Scope
    message: str
    confidence: Confidence = Confidence.HIGH
    severity: Severity | None = None
    """The finding's severity; None for that of its rule."""
    trace: tuple[DraftStep, ...] = ()
    repair: Repair | None = None
    premise: Premise | None = None
    """What it takes for granted of the package around the file."""
    excuse: Excuse | None = None
    """What may excuse it, of a bare tree: that shows no comment and no parentheses."""
