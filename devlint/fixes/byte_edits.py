"""Edits made in a file's bytes."""

from __future__ import annotations

from collections.abc import Iterable

from devlint.finding import Edit


class Refused(Exception):
    """The edits are not made: the message says why, as the end of a sentence about the file."""


def apply_edits(data: bytes, edits: Iterable[Edit], encoding: str = "utf-8") -> bytes:
    """The bytes with each edit's part replaced; every other byte stays. The edits must not overlap.

    Raises :class:`Refused` where an edit lies outside of the data or across another, or its text cannot be encoded.
    """
    parts: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not at <= edit.start <= edit.end <= len(data):
            raise Refused("two of the edits overlap, or one lies outside of the file")
        try:
            text = edit.text.encode(encoding)
        except UnicodeEncodeError:
            raise Refused(f"a fix cannot be written in its encoding, {encoding}") from None
        parts += (data[at : edit.start], text)
        at = edit.end
    return b"".join((*parts, data[at:]))
