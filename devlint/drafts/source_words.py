"""The words of drafts that were made of bare trees, quoted as the source has them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from devlint.drafts.wording import MAX_QUOTED_LENGTH
from devlint.source.bare.nodes import NeedsLayout


class SourceWords:
    """Puts what stands in the source in the place of what a bare tree renders: other quotes, blanks or parentheses."""

    def __init__(self, rendered: Iterable[tuple[str, str]]) -> None:
        """``rendered``: texts that the analysis went by, each with what the source has for it.

        Raises NeedsLayout where the first is too long to be quoted and the second is not.
        """
        self._written: dict[str, set[str]] = defaultdict(set)
        for text, source in rendered:
            self._written[text].add(source)
        self._differ = sorted((text for text, found in self._written.items() if found != {text}), key=len, reverse=True)
        for text in self._differ:
            if len(text) > MAX_QUOTED_LENGTH >= min(map(len, self._written[text])):
                raise NeedsLayout(f"the source has a shorter text for `{text}`")

    def said(self, words: str) -> str:
        """What a sentence says, with each quotation as the source has it.

        Raises NeedsLayout where it holds a text that is written in several ways, or one that it does not quote.
        """
        if not self._differ:
            return words
        prose = words.split("`")
        for text in prose[::2]:
            if (found := self._any.search(text)) is not None:
                raise NeedsLayout(f"a sentence that says `{found[0]}`")
        prose[1::2] = [self.code(text) for text in prose[1::2]]
        return "`".join(prose)

    def code(self, text: str) -> str:
        """The same for code: such a text, or one that is made of some."""
        if text in self._written:
            return self._as_written(text)
        return self._any.sub(self._inside, text) if self._differ else text

    @cached_property
    def _any(self) -> re.Pattern[str]:
        """Any text of which the source has another, the longest first."""
        return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, self._differ))})(?!\w)")

    def _inside(self, found: re.Match[str]) -> str:
        source = self._as_written(found[0])
        before, after = found.string[: found.start()], found.string[found.end() :]
        is_enclosed = before.endswith("(") and after.startswith(")")
        return found[0] if is_enclosed and source == f"({found[0]})" else source

    def _as_written(self, text: str) -> str:
        written = self._written[text]
        source = next(iter(written))
        if len(written) > 1 or len(text) <= MAX_QUOTED_LENGTH < len(source):
            raise NeedsLayout(f"the source has `{text}` in several ways, or at too great a length")
        return source
