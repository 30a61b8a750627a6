"""What devlint says: plain frozen data, picklable, with no syntax tree inside.

Every stage after the rules (suppression, configuration, gate, reports) reads only these classes.
Lines and columns are 1-based; columns count code points; edits are byte offsets into the original file.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum, IntEnum

from devlint.records import dataclass


class Severity(IntEnum):
    """How bad a true finding is; the order is the order of the gate."""

    NOTE = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        return self.name.lower()


class Confidence(IntEnum):
    """How much of the finding was seen rather than assumed."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2

    @property
    def label(self) -> str:
        return self.name.lower()


class Applicability(Enum):
    """Whether a fix may be applied unasked."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    SUGGESTION = "suggestion"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A region of one file. ``end_column`` is the column just after the last character."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int = 0
    """The cell of a notebook in which the lines count, from 1 over all its cells; 0 in a file without cells."""
    file_line: int = 0
    """In a notebook, the line of the file (JSON) on which ``line`` of the cell stands; 0 elsewhere."""

    @property
    def position(self) -> str:
        """``12:5``, or ``cell 3:12:5`` in a notebook: what follows the path in reports for people."""
        return f"{f'cell {self.cell}:' if self.cell else ''}{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One place on the way of a value: what happened there, and on which device it was afterwards."""

    place: Place
    message: str
    device: str | None = None
    begins: bool = False
    """Here the way of a value begins; the steps up to the next such one are of the same value."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes ``start:end`` of a file by ``text``."""

    start: int
    end: int
    text: str
    path: str | None = None
    cell: int = 0
    """The cell of a notebook whose UTF-8 source the offsets count in, as in :class:`Place`; 0: the file's bytes."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair. A suggestion may come without edits: then ``message`` says what to write."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...] = ()


class VerdictState(Enum):
    """What a run came to about one finding."""

    CONFIRMED = "confirmed"
    """Its effect was seen."""
    REFUTED = "refuted"
    """It ran wherever its rule wants it to, and nothing happened."""
    INCONCLUSIVE = "inconclusive"
    """It ran, and what was seen does not tell."""
    NOT_REACHED = "not-reached"


@dataclass(frozen=True, slots=True)
class Operand:
    """One value of an operation as a run saw it.

    ``born``: where the value was made that put it on its device; ``moved``: where it was last moved; ``computed``: the
    call that made this very value out of others; ``kept``: where it became the attribute that ``name`` says.
    """

    name: str
    device: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    born: Place | None = None
    moved: Place | None = None
    computed: Place | None = None
    kept: Place | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What ``devlint confirm`` says of a finding."""

    state: VerdictState
    device: str | None = None
    """The device that the deciding run was placed on: ``cuda:0``; None where nothing ran."""
    simulated: bool = False
    entry: str | None = None
    error: str | None = None
    """What the device said, or would have said."""
    reason: str = ""
    """Why nothing better can be said of it, in words."""
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect, at the place where its repair goes."""

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    place: Place
    scope: str = ""
    """Qualified name of the enclosing definition; empty at module level."""
    snippet: str = ""
    """Normalised source text of the flagged expression: the part of the identity that survives line shifts."""
    trace: tuple[TraceStep, ...] = ()
    help: str = ""
    """The repair in words."""
    fix: Fix | None = None
    origin: str = "static"
    related_lines: tuple[int, ...] = field(default=(), compare=False)
    """Other lines of the flagged statement on which a suppression comment counts."""
    fingerprint: str = ""
    verdict: Verdict | None = None
    """Of ``devlint confirm`` alone."""

    @property
    def is_confirmed(self) -> bool:
        """Whether a run has seen it happen."""
        return self.verdict is not None and self.verdict.state is VerdictState.CONFIRMED

    @property
    def sort_key(self) -> tuple[str, int, int, int, str, str]:
        return (self.place.path, self.place.cell, self.place.line, self.place.column, self.code, self.message)
