"""Classification of device errors by the text of the exception."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from devlint.semantics import tables

Category = Literal[
    "device_mismatch", "needs_cpu", "needs_gpu", "device_unavailable", "bad_device", "meta", "diagnostic"
]


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One kind of device error: its name, what it is about, the exception classes that carry it.

    `fields` are the parts extracted from the text (arg, dev, other, wrapper ...).
    """

    kind: str
    category: Category
    exceptions: tuple[str, ...]
    fields: dict[str, str]


def classify(message: str) -> ErrorKind | None:
    """The kind of device error of a message, None if it is not a device error; the first pattern in table order wins.

    A convolution's type error is one only when the two type names differ by their device part: the same text reports
    dtypes.
    """
    for name, row, pattern in _patterns():
        match = pattern.search(message)
        if match is None:
            continue
        fields = {k: v for k, v in match.groupdict().items() if v is not None}
        if name == "conv_type" and ("cuda." in fields["input"]) == ("cuda." in fields["param"]):
            return None
        return ErrorKind(name, row["category"], tuple(row["exception"]), fields)
    return None


@cache
def _patterns() -> list[tuple[str, tables.Row, re.Pattern[str]]]:
    return [(name, row, re.compile(row["regex"])) for name, row in tables.rows("errors").items()]
