"""From plain text to HTML: the one way by which text gets into the page."""

from __future__ import annotations

import re
from html import escape

from devlint.reports.document import well_formed
from devlint.reports.painting import visible

_CODE = re.compile(r"`([^`]+)`")


def plain(text: str) -> str:
    """Text for an element or a quoted attribute, in which nothing means anything. Control characters become visible."""
    return escape(visible(well_formed(text)), quote=True)


def prose(text: str) -> str:
    """Text in which ``backticks`` mark code."""
    parts = _CODE.split(text)
    return "".join(f"<code>{plain(part)}</code>" if index % 2 else plain(part) for index, part in enumerate(parts))


def markdown(text: str) -> str:
    """The Markdown of the rules' pages: headings, paragraphs, lists, fenced code. Nothing else is understood."""
    made: list[str] = []
    for block in re.split(r"(^```.*?^```$)", text, flags=re.M | re.S):
        if block.startswith("```"):
            lines = block.split("\n")[1:-1]
            made.append("<pre>" + escape("\n".join(lines)) + "</pre>")
        else:
            made += map(_block, re.split(r"\n\s*\n", block))
    return "\n".join(filter(None, made))


def _block(block: str) -> str:
    text = block.strip("\n")
    if not text.strip():
        return ""
    heading = re.fullmatch(r"#+ (.*)", text)
    if heading:
        return f"<h4>{_inline(heading[1])}</h4>"
    if text.startswith("- "):
        items = re.split(r"^- ", text, flags=re.M)[1:]
        return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"
    return f"<p>{_inline(text)}</p>"


def _inline(text: str) -> str:
    return prose(" ".join(text.split()))
