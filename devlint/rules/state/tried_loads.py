"""Loads that are tried first: where they fail, the handler loads the same on another device. Part of DEV503."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from devlint.placement.syntax.nodes import code_of, descend
from devlint.repairs.bound_names import path_to

if TYPE_CHECKING:
    import libcst as cst


def is_tried_first(function: cst.FunctionDef, load: cst.CSTNode) -> bool:
    """``try: torch.load(path)``, ``except RuntimeError: torch.load(path, map_location="cpu")``."""
    import libcst as cst

    steps = itertools.pairwise(path_to(function, load))
    tries = (node for node, inner in steps if isinstance(node, cst.Try) and node.body is inner)
    return any(_catches(handler) and _says_where(handler) for one in tries for handler in one.handlers)


_CAUGHT = re.compile(r"\b(?:RuntimeError|Exception|BaseException)\b")
"""What `torch.load` raises where the device does not exist is a RuntimeError."""


def _catches(handler: cst.ExceptHandler) -> bool:
    return handler.type is None or _CAUGHT.search(code_of(handler.type)) is not None


def _says_where(handler: cst.ExceptHandler) -> bool:
    import libcst as cst

    calls = (node for node in descend(handler) if isinstance(node, cst.Call) and code_of(node.func).endswith("load"))
    return any(one.keyword is not None and one.keyword.value == "map_location" for call in calls for one in call.args)
