"""Strings that are put together: ``f"cuda:{rank}"``, ``"cuda:{}".format(rank)``, ``"cuda:%d" % rank``, ``"cuda:" + n``.

What matters of them is their beginning: it names a device whose index is not known here.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import NOTHING, Constant, Container, DeviceName, Host, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.device_names import NO_DEVICE
from devlint.placement.domain.lattice import SOME_INDEX, UNKNOWN, Known
from devlint.placement.syntax.nodes import code_of
from devlint.semantics import NamedDevice

Part = str | Value
"""A piece of a string: its text, or the value that is written there."""

_CONVERSION = re.compile(r"%(?:\([^)]*\))?[-#0 +]*[0-9*]*(?:\.[0-9*]+)?[diouxXeEfFgGcrsa%]")
"""A conversion specifier. Source: printf-style string formatting in the library reference of Python."""


def _text_of(part: Part) -> str | None:
    """How a value is written into a string; None where that is not known."""
    if isinstance(part, str):
        return part
    return str(part.value) if isinstance(part, Constant) and isinstance(part.value, (str, int)) else None


def put_together(node: cst.CSTNode, parts: Sequence[Part]) -> Value:
    """The string that pieces make: itself where all are known, else the device that its beginning names."""
    texts = [_text_of(part) for part in parts]
    known = [text for text in texts if text is not None]
    if len(known) == len(texts):
        return Constant("".join(known), node)
    first = texts.index(None)
    beginning = "".join(known[:first])
    word, colon, _ = beginning.partition(":")
    if colon and word == NO_DEVICE:
        return DeviceName(UNKNOWN, node, word)
    kind = semantics.parse_device(word)
    if isinstance(kind, NamedDevice) and kind.type not in ("cpu", "meta"):
        index = parts[first] if beginning.endswith(":") and not any(texts[first + 1 :]) else None
        rank = index.rank if isinstance(index, Host) else None
        return DeviceName(Known(kind.type, SOME_INDEX), node, code_of(node), rank=rank)
    return Host()


def of_operation(node: cst.CSTNode, symbol: str, left: str, right: Value) -> Value:
    """``"cuda:" + name``, ``"cuda:%d" % rank``."""
    if symbol in ("+", "+="):
        return put_together(node, (left, right))
    if symbol not in ("%", "%="):
        return Host()
    given = iter(right.items if isinstance(right, Container) and right.keys is None else (right,))
    parts: list[Part] = []
    end = 0
    for found in _CONVERSION.finditer(left):
        parts += (left[end : found.start()], "%" if found[0] == "%%" else next(given, NOTHING))
        end = found.end()
    return put_together(node, (*parts, left[end:]))


def _formatted(node: cst.Call, template: str, site: CallSite) -> Value:
    """``"cuda:{}".format(rank)``."""
    parts: list[Part] = []
    given = iter([argument.value for argument in site.positional])
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:
        return Host()
    for literal, field, _, _ in fields:
        parts.append(literal)
        if field == "":
            parts.append(next(given, NOTHING))
        elif field is not None:
            argument = site.argument(field, int(field) if field.isdecimal() else None)
            parts.append(NOTHING if argument is None else argument.value)
    return put_together(node, parts)


def _joined(node: cst.Call, separator: str, site: CallSite) -> Value:
    """``":".join(["cuda", rank])``."""
    listed = site.positional[0].value if site.positional else None
    if not isinstance(listed, Container) or listed.rest is not None or listed.keys is not None:
        return Host()
    parts: list[Part] = []
    for item in listed.items:
        parts += (separator, item)
    return put_together(node, parts[1:])


_METHODS: dict[str, Callable[[cst.Call, str, CallSite], Value]] = {"format": _formatted, "join": _joined}


def of_method(node: cst.Call, name: str, receiver: Constant, site: CallSite) -> Value:
    """What a method of a literal gives."""
    method = _METHODS.get(name)
    return Host() if method is None or not isinstance(receiver.value, str) else method(node, receiver.value, site)
