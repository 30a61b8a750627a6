"""A finished report."""

from __future__ import annotations

from dataclasses import dataclass

MACHINE_FORMATS = frozenset({"json", "json-lines", "sarif", "github", "gitlab", "junit", "rdjson", "html"})
"""The forms that are one document whatever was found."""


@dataclass(frozen=True, slots=True)
class Document:
    """What is written, and what its reader must be told besides."""

    text: str
    remarks: tuple[str, ...] = ()
    """For standard error: what the format or its reader has no room for."""
    step_summary: str = ""
    """Markdown for the page of a GitHub Actions job."""


def well_formed(text: str) -> str:
    """The text without lone surrogates, which stand for the bytes of file names that are not UTF-8: ``\\udcff``.

    JSON could carry them; most of its readers refuse or garble the whole document.
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
