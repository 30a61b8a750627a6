"""Calls of other libraries, looked up in their tables (:mod:`devlint.semantics.library_models`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.calls.library_call import LibraryCall
from devlint.placement.calls.library_effects import EFFECTS
from devlint.placement.domain.abstract_values import (
    Constant,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.syntax.nodes import code_of
from devlint.semantics import library_models

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


def call(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> Value | None:
    """The result of calling this name; None if no row has exactly this name."""
    found = library_models.effect(name)
    return None if found is None else EFFECTS[found.name](LibraryCall(interp, node, site, found, name))


def call_in_package(interp: Interpreter, node: cst.Call, name: str, site: CallSite) -> Value | None:
    """The result by a row for the whole package; None if there is none."""
    found = library_models.package(name)
    if found is None or found.effect is None:
        return None
    return EFFECTS[found.effect.name](LibraryCall(interp, node, site, found.effect, name))


def call_by_keyword(interp: Interpreter, node: cst.Call, site: CallSite) -> Value | None:
    """The result of any call with a known keyword: ``tokenizer(text, return_tensors="pt")``; None without one.

    Where it is handed on, ``return_tensors=framework``, what is no tensor of PyTorch meets none.
    """
    for argument in site.arguments:
        if argument.keyword is None or argument.keyword not in library_models.anywhere().keywords:
            continue
        known = library_models.anywhere().keywords[argument.keyword]
        if not isinstance(argument.value, Constant) or argument.value.value == known.value:
            method = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
            effect = known.methods.get(method, known.call)
            made = LibraryCall(interp, node, site, effect, code_of(node.func))
            return None if made.is_unknown() else EFFECTS[effect.name](made)
    return None


def call_method(
    interp: Interpreter, node: cst.Call, receiver: Value, type_name: str, name: str, site: CallSite
) -> Value | None:
    """The result of a method of a library's object; None if no row lists the method."""
    row = library_models.row(type_name) if type_name else None
    effect = row.methods.get(name) if row is not None else None
    return None if effect is None else EFFECTS[effect.name](LibraryCall(interp, node, site, effect, name, receiver))
