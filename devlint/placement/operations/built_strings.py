"""Strings that are put together: ``f"cuda:{rank}"``, ``"cuda:{}".format(rank)``, ``"cuda:%d" % rank``, ``"cuda:" + n``.

What matters of them is their beginning: it names a device whose index is not known here.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import Constant, Container, DeviceName, Host, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.device_names import NO_DEVICE
from devlint.placement.domain.lattice import SOME_INDEX, UNKNOWN, Known
from devlint.placement.syntax.nodes import code_of
from devlint.semantics import NamedDevice

Part = str | None
"""A piece of a string; None for one that is not known."""

_CONVERSION = re.compile(r"%(?:\([^)]*\))?[-#0 +]*[0-9*]*(?:\.[0-9*]+)?[diouxXeEfFgGcrsa%]")
"""A conversion specifier. Source: printf-style string formatting in the library reference of Python."""


def text_of(value: Value) -> Part:
    """How a value is written into a string."""
    return str(value.value) if isinstance(value, Constant) and isinstance(value.value, (str, int)) else None


def put_together(node: cst.CSTNode, parts: Sequence[Part]) -> Value:
    """The string that pieces make: itself where all are known, else the device that its beginning names."""
    known = [part for part in parts if part is not None]
    if len(known) == len(parts):
        return Constant("".join(known), node)
    beginning = "".join(known[: parts.index(None)])
    word, colon, _ = beginning.partition(":")
    if colon and word == NO_DEVICE:
        return DeviceName(UNKNOWN, node, word)
    kind = semantics.parse_device(word)
    if isinstance(kind, NamedDevice) and kind.type not in ("cpu", "meta"):
        return DeviceName(Known(kind.type, SOME_INDEX), node, code_of(node))
    return Host()


def of_operation(node: cst.CSTNode, symbol: str, left: str, right: Value) -> Value:
    """``"cuda:" + name``, ``"cuda:%d" % rank``."""
    if symbol in ("+", "+="):
        return put_together(node, (left, text_of(right)))
    if symbol not in ("%", "%="):
        return Host()
    given = iter(right.items if isinstance(right, Container) and right.keys is None else (right,))
    parts: list[Part] = []
    end = 0
    for found in _CONVERSION.finditer(left):
        parts += (left[end : found.start()], "%" if found[0] == "%%" else _next_text(given))
        end = found.end()
    return put_together(node, (*parts, left[end:]))


def _next_text(given: Iterator[Value]) -> Part:
    value = next(given, None)
    return None if value is None else text_of(value)


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
            parts.append(_next_text(given))
        elif field is not None:
            argument = site.argument(field, int(field) if field.isdecimal() else None)
            parts.append(None if argument is None else text_of(argument.value))
    return put_together(node, parts)


def _joined(node: cst.Call, separator: str, site: CallSite) -> Value:
    """``":".join(["cuda", rank])``."""
    listed = site.positional[0].value if site.positional else None
    if not isinstance(listed, Container) or listed.rest is not None or listed.keys is not None:
        return Host()
    parts: list[Part] = []
    for item in listed.items:
        parts += (separator, text_of(item))
    return put_together(node, parts[1:])


_METHODS: dict[str, Callable[[cst.Call, str, CallSite], Value]] = {"format": _formatted, "join": _joined}


def of_method(node: cst.Call, name: str, receiver: Constant, site: CallSite) -> Value:
    """What a method of a literal gives."""
    method = _METHODS.get(name)
    return Host() if method is None or not isinstance(receiver.value, str) else method(node, receiver.value, site)
