"""GitHub's own fingerprint of a line, so that an alert stays the same one whoever computes it.

Source: github/codeql-action, ``src/fingerprints.ts``: what the ``upload-sarif`` action writes where it is missing, and
compares, with a warning for each difference, where it is not.
"""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import accumulate

_WINDOW = 100
_FACTOR = 37
_MASK = (1 << 64) - 1
_LEAVING = pow(_FACTOR, _WINDOW, 1 << 64)
_NEWLINE = ord("\n")
_END_OF_FILE = 0xFFFF


def line_hashes(data: bytes) -> list[str]:
    """``primaryLocationLineHash`` of each line of a file: ``<hash>:<how many lines so far had this hash>``.

    The hash is a polynomial over the 100 UTF-16 units from the line's beginning on, blanks and tabs left out and line
    ends made one; after the end of the file come one unit of its own and zeros.
    """
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    units = array("H", text.replace(" ", "").replace("\t", "").encode("utf-16-le"))
    units.append(_END_OF_FILE)
    starts = [0, *(index + 1 for index, unit in enumerate(units) if unit == _NEWLINE)]
    units.extend([0] * _WINDOW)
    prefixes = list(accumulate(units, lambda value, unit: (value * _FACTOR + unit) & _MASK, initial=0))
    seen = Counter[int]()
    hashes: list[str] = []
    for start in starts:
        value = (prefixes[start + _WINDOW] - prefixes[start] * _LEAVING) & _MASK
        seen[value] += 1
        hashes.append(f"{value:x}:{seen[value]}")
    return hashes
