"""What GitHub code scanning takes of a SARIF file, and how a run is brought within it.

Source: docs.github.com "SARIF support for code scanning" and "SARIF results exceed one or more limits". Beyond the
larger of two numbers the whole upload is rejected, beyond the smaller one GitHub itself leaves out what it likes.
"""

from __future__ import annotations

import gzip

RESULTS = 25_000
RESULTS_SHOWN = 5_000
THREAD_FLOW_LOCATIONS_SHOWN = 1_000
LOCATIONS_SHOWN = 100
TAGS_SHOWN = 10
NAME_CHARACTERS = 255
DESCRIPTION_CHARACTERS = 1_024
COMPRESSED_BYTES = 10_000_000
"""Of the file in gzip, as which it is uploaded."""


def compressed_size(text: str) -> int:
    """Bytes of the text in gzip; an upper bound where it is small anyway."""
    return len(text) if len(text) <= COMPRESSED_BYTES else len(gzip.compress(text.encode("ascii"), 6))
