"""Devices that are written out: ``"cpu"``, ``torch.device("cpu")``."""

from __future__ import annotations

import libcst as cst

from devlint.placement.syntax.nodes import dotted, string_value


def is_the_cpu(value: cst.BaseExpression | None) -> bool:
    match value:
        case cst.Call(func=function, args=[cst.Arg(value=cst.SimpleString(value=text), keyword=None), *_]):
            return dotted(function) in ("torch.device", "device") and string_value(text) == "cpu"
        case cst.SimpleString(value=text):
            return string_value(text) == "cpu"
        case _:
            return False
