"""What a run saw: plain frozen data, written as one JSON object a line.

Needs no torch, so whoever joins observations to findings reads them without it. A line is flushed as soon as it is
written: a process that dies keeps every observation already made, and a reader leaves out a last line that was cut.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import IO, Any, Literal

KINDS = (
    "clash",
    "index",
    "host-only",
    "generator",
    "load",
    "invalid-device",
    "elsewhere",
    "no-accelerator",
    "visible-devices",
    "default-device",
    "attribute",
    "discarded-transfer",
    "stayed",
    "left-behind",
    "lost-parameter",
    "stale-device",
    "strayed",
    "copy-per-step",
    "host-sync",
    "stream",
    "other-stream",
    "early-read",
    "unreturned",
    "pageable-copy",
    "comparison",
    "worker",
    "brought-over",
    "disagreement",
    "not-simulated",
    "error",
)
"""What can be observed.

clash               operands on different devices met; ``index``: the same, of an indexed tensor and its index or value
host-only           numpy or an argument that is read on the host was given a tensor on an accelerator
generator           a draw with another device's generator
load                a file names a device that this machine lacks
invalid-device      a device string or index torch refuses
elsewhere           a call puts a value on another accelerator than the one under test
no-accelerator      an accelerator was asked of a process that sees none
visible-devices     the variable that hides devices was set when or how nobody reads it
default-device      the program leaves another default or current device than it found
attribute           ``.to`` or ``.cuda`` asked of an object that has none
discarded-transfer  a transfer's result died unread (``detail``: "statement", or "unread" when a name held it)
stayed              a transfer's result died unread, and its receiver was there already (``detail``: the same)
left-behind         a plain tensor or a module in a plain container stayed where it was when its module moved
                    (``detail``: "tensor" or "module")
lost-parameter      ``nn.Parameter(x).cuda()``: the moved result is no parameter
stale-device        a stored device names another place than the module's parameters after a move
strayed             work inside an accelerator module's forward was done, or its result lies, on the CPU
                    (``detail``: "factory", "compute", "output", or "beside": indices handed back beside others)
copy-per-step       a transfer repeated at one place inside forward (``detail``: how often)
host-sync           the host waited for the accelerator to read a value (``detail``: how often)
stream              work of one stream used on another that has not waited for it; also the CUDA sanitizer's report
other-stream        work on one device inside of a side stream of another, or a wait for a device that has no work
early-read          the host read a copy that nothing had waited for
unreturned          the program's own ``to``, ``cuda`` or ``cpu`` came to its end and returned nothing
pageable-copy       a copy to the accelerator was asked not to wait, and its source is not pinned
comparison          a device was compared with what it never equals, though both name one kind of device
worker              a loader's worker process used the accelerator
brought-over        work on what derives from a value that had been brought over after a clash
disagreement        the judge sees a clash, and the device took the operation: the device is right, and a table is wrong
not-simulated       something the simulated machine does not do (``detail``: its name)
error               any other exception (``detail``: its type)
"""

Phase = Literal["forward", "backward", "optimizer", "other"]
Judged = Literal["judge", "device", "both", "disagree"]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in user code.

    ``path`` is absolute; ``column`` is 1-based in code points, 0 when not known; ``end_line`` is ``line`` when not
    known; ``scope`` is the qualified name of the function without its ``<locals>`` parts ("Net.forward");
    ``end_column`` is the one after the last character, 0 when not known.
    """

    path: str
    line: int
    end_line: int
    column: int
    scope: str
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """One operand as it was seen.

    ``name``: the attribute path or variable that holds it, else its argument name, "" when neither is known.
    ``born``: where it was created - or, for a computed value, where the value was created that put it on its device.
    ``births``: every such place when several values of that device went in (``born`` is the first).
    ``made``: where the operand itself was computed; None when that is its birth.
    ``moved``: the last transfer on its way.
    ``repaired``: it derives from a value that had been brought over.
    ``kept_well``: its keeper has it registered, or is no Module at all: it is no unregistered tensor.
    ``kept``: where the program made it the attribute that ``name`` says; None for what is none, or is it by more than
    one assignment.
    """

    name: str
    device: str
    shape: tuple[int, ...]
    dtype: str
    born: Spot | None = None
    moved: Spot | None = None
    made: Spot | None = None
    births: tuple[Spot, ...] = ()
    repaired: bool = False
    kept_well: bool = False
    kept: Spot | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that happened.

    ``spots``: the user's frames, innermost first; empty when only torch's own code was running.
    ``operands``: for a clash the stray one first. ``message``: the error text the device gives, or would give.
    ``repaired``: an operand derives from a value that had been brought over, so this may be an echo.
    ``judged``: who says so - devlint's judge, the device itself, both, or one of them against the other.
    """

    kind: str
    spots: tuple[Spot, ...]
    operands: tuple[Seen, ...] = ()
    operation: str = ""
    message: str = ""
    phase: Phase = "other"
    repaired: bool = False
    judged: Judged = "judge"
    detail: str = ""


def to_json(observation: Observation) -> dict[str, Any]:
    """The observation as a JSON object with ``"type": "observation"``."""
    return {"type": "observation", **asdict(observation)}


def from_json(row: dict[str, Any]) -> Observation:
    """The reverse of `to_json`; keys a newer version added are left out."""
    known = {name: row[name] for name in Observation.__slots__ if name in row}
    known["spots"] = tuple(_spot(s) for s in row.get("spots", ()))
    known["operands"] = tuple(_seen(s) for s in row.get("operands", ()))
    return Observation(**known)


def write_line(stream: IO[str], row: dict[str, Any]) -> None:
    """Append one object as a line and flush it."""
    stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    stream.flush()


def read_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines. A line that is cut off (its writer was killed) ends the reading."""
    for line in lines:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            return
        if isinstance(row, dict):
            yield row


def _spot(row: dict[str, Any]) -> Spot:
    return Spot(**{name: row[name] for name in Spot.__slots__ if name in row})


def _seen(row: dict[str, Any]) -> Seen:
    known = {name: row[name] for name in Seen.__slots__ if name in row}
    for name in ("born", "moved", "made", "kept"):
        known[name] = _spot(row[name]) if row.get(name) else None
    known["births"] = tuple(_spot(s) for s in row.get("births", ()))
    known["shape"] = tuple(row["shape"])
    return Seen(**known)
