"""From a file's bytes to its text, the way Python itself reads it, and from places in the text back to the bytes."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from functools import cached_property

from devlint.finding import Edit, Place
from devlint.records import dataclass
from devlint.source.line_ends import LINE_END, split_lines
from devlint.source.reading import MAX_BYTES

_NO_TEXT = frozenset({"idna", "punycode", "undefined"})
"""Codecs of single names, and of nothing, that Python lists among those of text."""


class Unreadable(Exception):
    """A file whose text cannot be had: the message says why, ``line`` where."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True)
class Source:
    """One file. ``text`` is without byte order mark and otherwise unchanged: line ends and form feeds are kept."""

    data: bytes
    text: str
    encoding: str
    bom: bool

    @property
    def segments(self) -> tuple[int, ...]:
        """Character offsets at which parts of the text begin that no statement and no comment spans."""
        return (0,)

    @property
    def digest(self) -> bytes:
        """Tells this content from any other."""
        return content_digest(self.data)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends, split only where Python splits: never at form feeds or Unicode separators."""
        return split_lines(self.text)

    def placed(self, place: Place) -> Place:
        """A place in ``text``, as reports tell it."""
        return place

    def text_line(self, place: Place) -> int:
        """The line of ``text`` at which a place begins: the way back from :meth:`placed`."""
        return place.line

    def original(self, edit: Edit) -> Edit:
        """An edit by UTF-8 offsets into ``text``, made one by byte offsets into ``data``."""
        shift = len(codecs.BOM_UTF8) if self.bom else 0
        if self.encoding == "utf-8":
            return Edit(edit.start + shift, edit.end + shift, edit.text, edit.path) if shift else edit
        encoded = self.text.encode("utf-8")
        start = len(encoded[: edit.start].decode("utf-8").encode(self.encoding))
        end = start + len(encoded[edit.start : edit.end].decode("utf-8").encode(self.encoding))
        return Edit(start, end, edit.text, edit.path)

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the column, 1-based and in code points, of a byte offset into ``data``."""
        shift = len(codecs.BOM_UTF8) if self.bom else 0
        before = self.data[shift : max(offset, shift)].decode(self.encoding, "replace")
        ends = list(LINE_END.finditer(before))
        return len(ends) + 1, len(before) - (ends[-1].end() if ends else 0) + 1


def content_digest(data: bytes) -> bytes:
    import hashlib

    return hashlib.blake2b(data, digest_size=16).digest()


def decode(data: bytes) -> Source:
    """The text of a Python file, by its byte order mark or its coding cookie (PEP 263), UTF-8 without either.

    Raises :class:`Unreadable` if the bytes are not in the encoding they declare, the encoding is unknown or the file is
    larger than :data:`MAX_BYTES`.
    """
    if len(data) > MAX_BYTES:
        size = len(data) / 1024 / 1024
        raise Unreadable(f"the file has {size:.1f} MiB; devlint reads files of up to {MAX_BYTES // 1024 // 1024} MiB")
    head = re.split(rb"\r\n|\r|\n", data, maxsplit=2)[:2]  # where a declaration may stand; a lone CR ends a line too
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(b"\n".join(head) + b"\n").readline)
    except SyntaxError as error:
        raise Unreadable(*_undeclared(head, str(error))) from None
    if not is_of_text(declared):
        raise Unreadable(*_undeclared(head, f"{declared} is no encoding of text"))
    bom = declared == "utf-8-sig"
    encoding = "utf-8" if bom else codecs.lookup(declared).name
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = len(LINE_END.findall(body[: error.start].decode("latin-1"))) + 1
        byte = body[error.start]
        raise Unreadable(f"byte 0x{byte:02x} is not valid {encoding}; {_cookie_advice(encoding)}", line) from None
    except (LookupError, UnicodeError, ValueError) as error:
        raise Unreadable(f"cannot be decoded as {encoding}: {error}") from None
    return Source(data, text, encoding, bom)


def encoded(text: str) -> bytes:
    """The bytes of a text that is in no file, in the encoding that it declares, so that :func:`decode` gives it back.

    UTF-8 without a declaration, and with one that is not to be kept: reading then tells of it.
    """
    return text.encode(_declared_encoding(text), "surrogatepass")


def _declared_encoding(text: str) -> str:
    head = io.BytesIO("".join(text.splitlines(keepends=True)[:2]).encode("utf-8", "replace"))
    try:
        declared = tokenize.detect_encoding(head.readline)[0]
        if declared == "utf-8-sig" or not is_of_text(declared):
            return "utf-8"
        text.encode(declared)
    except (SyntaxError, LookupError, ValueError):
        return "utf-8"
    return declared


def is_of_text(encoding: str) -> bool:
    """Whether a codec that Python has (LookupError where it has not) turns bytes into text, and text into bytes."""
    codec = codecs.lookup(encoding)
    return codec.name not in _NO_TEXT and bool(getattr(codec, "_is_text_encoding", True))


def _undeclared(head: list[bytes], problem: str) -> tuple[str, int]:
    """What is wrong with the encoding declared in the first two lines, or with those lines, and on which line."""
    for number, line in enumerate(head, 1):
        if b"coding" in line:
            return f"{problem}; {_cookie_advice('')}", number
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            return f"byte 0x{line[error.start]:02x} is not valid utf-8; {_cookie_advice('utf-8')}", number
    return f"{problem}; {_cookie_advice('')}", 1


def _cookie_advice(encoding: str) -> str:
    if encoding == "utf-8":
        return "save the file as UTF-8 or declare its encoding in the first line: # -*- coding: latin-1 -*-"
    return "correct the coding declaration in the first two lines, or save the file as UTF-8"
