"""What the files of a package say of devices, whatever else they do: looked for in their bytes, as words are."""

from __future__ import annotations

import re

NAMES_A_DEVICE = "a device that is named"
"""A word for an accelerator, a device that is chosen or handed on, or a library that places what it is given.

`x.device`, and what is made there, names none.
"""

TRAINS = "a gradient that is zeroed"
"""A loop of its own trains a model."""

_PATTERNS = {
    NAMES_A_DEVICE: re.compile(
        rb"cuda|gpu|GPU|accelerat|lightning|ignite|skorch|(?<![.\w])device(?!\s*=\s*[\w.]+\.device\b)|_device\b"
        rb"|\b(?:xpu|mps|npu|hpu|xla)\b"
    ),
    TRAINS: re.compile(rb"\.zero_grad\("),
}


def has_sign(data: bytes, sign: str) -> bool:
    """Whether a text has one of these signs."""
    return _PATTERNS[sign].search(data) is not None


def is_sign(name: str) -> bool:
    """Whether it is a sign and no word: every sign has spaces."""
    return name in _PATTERNS
