"""Types that a docstring states: of Google's, NumPy's and Sphinx's way to write them."""

from __future__ import annotations

import re

import libcst as cst

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.syntax.nodes import FunctionNode, body_of, string_value

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


def documented_parameters(info: FunctionInfo) -> dict[str, str]:
    """The type of each parameter whose type is documented; those of a constructor by the class's docstring as well."""
    of_class = documented_types(info.owner.node) if info.name == "__init__" and info.owner is not None else {}
    return of_class | documented_types(info.node)


def documented_types(node: FunctionNode | cst.ClassDef) -> dict[str, str]:
    """The type of each parameter whose type the docstring states, in its words."""
    text = docstring_of(node)
    if ":" not in text:
        return {}
    in_prose = _PROSE.finditer(text) if "ensor" in text.lower() else ()
    return {match["name"]: match["type"] for match in in_prose} | {
        match["name"]: match["type"].strip("` ")
        for needed, pattern in _PATTERNS
        if needed in text
        for match in pattern.finditer(text)
    }


def docstring_of(node: cst.CSTNode | None) -> str:
    """The text of a definition's docstring; empty without one, and for other nodes."""
    if not isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return ""
    first = next(iter(body_of(node.body)), None)
    if isinstance(first, cst.SimpleStatementLine):
        first = first.body[0]
    if not isinstance(first, cst.Expr) or not isinstance(first.value, cst.SimpleString):
        return ""
    text = string_value(first.value.value)
    return text if isinstance(text, str) else ""
