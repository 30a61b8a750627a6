"""Types that a docstring states of parameters: of Google's, NumPy's and Sphinx's way to write them.

They are all that other files read of a docstring, so that they stand for it where texts are compared.
"""

from __future__ import annotations

import re

_GOOGLE = re.compile(r"^[ \t]+\*{0,2}(?P<name>\w+)\s*\((?P<type>[^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)\s*:", re.MULTILINE)
_NUMPY = re.compile(r"^[ \t]*(?P<name>\w+)\s*:\s*(?P<type>[\w.]+(?:\[[^\n]*\])?(?:,\s*optional)?)\s*$", re.MULTILINE)
_SPHINX = re.compile(r":type\s+(?P<name>\w+)\s*:\s*(?P<type>[^\n]+)")
_SPHINX_INLINE = re.compile(r":param\s+(?P<type>[\w.\[\]]+)\s+(?P<name>\w+)\s*:")
_REFERENCE = re.compile(
    r"^[ \t]*(?::param\s+)?(?P<name>\w+)\s*:\s+(?:(?:an?|the|optional)\s+)*:class:`(?:[^`<\n]*<|~)?(?P<type>[\w.]+)>?`",
    re.MULTILINE | re.IGNORECASE,
)
"""``mask : optional :class:`~package.Mask` ``"""
_PATTERNS = (
    ("(", _GOOGLE),
    (":", _NUMPY),
    (":class:", _REFERENCE),
    (":type", _SPHINX),
    (":param", _SPHINX_INLINE),
)
"""Each way to write types, beside a text without which it matches nothing: most docstrings are written in one way."""
_OTHERWISE = (
    "list tuple dict sequence of or to that for in is if when which whether shape size number name dim dimension type "
    "dtype device function callable path class model key index how what where".replace(" ", "|")
)
"""Words before "tensor" with which it is said of something else: "whether a tensor", "shape of the tensor"."""
_PROSE = re.compile(
    rf"^[ \t]*(?::param\s+)?(?P<name>\w+)\s*:\s+(?:(?!(?:{_OTHERWISE})\b)[\w\-]+\s+){{0,4}}"
    r"(?P<type>tensor)\b(?!s|\s+or\b|,\s)",
    re.MULTILINE | re.IGNORECASE,
)
"""``mask: Boolean tensor of shape (N, D).``"""


def types_stated(docstring: str) -> dict[str, str]:
    """The type of each parameter whose type is stated, in the docstring's words."""
    if ":" not in docstring:
        return {}
    in_prose = _PROSE.finditer(docstring) if "ensor" in docstring.lower() else ()
    return {match["name"]: match["type"] for match in in_prose} | {
        match["name"]: match["type"].strip("` ")
        for needed, pattern in _PATTERNS
        if needed in docstring
        for match in pattern.finditer(docstring)
    }
