"""Device strings as `torch.device(text)` reads them, without torch.

Source: the parser and the list of types in c10/core/Device.cpp; tests compare every result with the installed torch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from devlint.semantics import tables

_NAME = re.compile(r"(?P<type>[A-Za-z_]+)(?::(?P<index>0|[1-9][0-9]*))?", re.ASCII)
_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class NamedDevice:
    """A name torch accepts unchanged. `plugin`: only where the backend of that name is installed (npu, mlu ...)."""

    type: str
    index: int | None
    plugin: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A name `torch.device` raises for; `kind` is that of tables/errors.json."""

    reason: str
    kind: str = "device_string"


@dataclass(frozen=True, slots=True)
class Mangled:
    """A name torch accepts and changes: indices are kept in 8 bits, so 128 becomes -128 and 255 is lost."""

    type: str
    index: int | None
    prints_as: str


DeviceNameCheck: TypeAlias = NamedDevice | Refused | Mangled


def parse_device(text: str) -> DeviceNameCheck:
    """The result of `torch.device(text)` for a string."""
    if not text:
        return Refused("the name is empty")
    match = _NAME.fullmatch(text)
    if match is None:
        return Refused("a device is written as type or type:index, with no sign, space or leading zero")
    kind = match["type"]
    known = tables.rows("devices").get(kind)
    if known is None:
        return Refused(_suggestion(kind))
    plugin = bool(known.get("plugin"))
    if match["index"] is None:
        return NamedDevice(kind, None, plugin)
    index = int(match["index"])
    if index > _LARGEST:
        return Refused("the index is too large to parse")
    kept = (index + 128) % 256 - 128
    if kept == index:
        return NamedDevice(kind, index, plugin)
    if kept == -1:
        return Mangled(kind, None, kind)
    return Mangled(kind, kept, f"{kind}:{kept}")


def _suggestion(kind: str) -> str:
    lower = kind.lower()
    if lower in tables.rows("devices"):
        return f"device types are written in lower case: {lower}"
    return f"{kind} is no device type of torch"
