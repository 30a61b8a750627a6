"""What a class does with what its constructor was handed: `self.model = model`, and elsewhere `self.model.eval()`.

As long as no method stores something else under the name, what the methods do with the attribute they do with the
argument, so that it shows what a use in the constructor itself would show.
"""

from __future__ import annotations

from collections.abc import Mapping

from devlint.placement.declarations import evidence_rows as rows
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.evidence_grades import Shows, Signs
from devlint.placement.declarations.evidence_uses import uses_in
from devlint.placement.declarations.imports import ImportTable
from devlint.records import dataclass


@dataclass(frozen=True, slots=True)
class Kept:
    """How the methods of a class use the attribute that keeps a parameter of its constructor."""

    signs: Signs = frozenset()
    """All that they show, where the attribute keeps the argument for good; else what shows that it is a module."""
    members: frozenset[str] = frozenset()
    """What is read of it that no tensor has, where the attribute keeps the argument for good."""
    called: bool = False
    """The class is a Module, and calls it with arguments."""


NOT_KEPT = Kept()


def kept_in(constructor: FunctionInfo, imports: ImportTable) -> Mapping[str, Kept]:
    """By the name of each parameter that an attribute keeps, how the whole class uses that attribute."""
    owner = constructor.owner
    assert owner is not None
    attributes = uses_in(constructor, imports).kept
    if not attributes:
        return {}
    found: dict[str, Kept] = {}
    names = {attribute for _, attribute in attributes}
    used = [
        (_self_of(method), uses_in(method, imports)) for method in owner.methods.values() if method.mentions(*names)
    ]
    for name, attribute in attributes:
        shown = [sign for me, uses in used for sign in uses.signs.get(f"{me}.{attribute}", ())]
        for_good = attribute not in owner.assigned_outside_init
        signs = frozenset(sign for sign in shown if for_good or sign.shows is Shows.MODULE)
        read = (uses.members.get(f"{me}.{attribute}", frozenset()) for me, uses in used if for_good)
        called = any(attribute in uses.called for _, uses in used)
        if called and for_good and not owner.is_module:
            signs |= {rows.NO_TENSOR}
        before = found.get(name, NOT_KEPT)
        found[name] = Kept(
            before.signs | signs, before.members.union(*read), before.called or (called and owner.is_module)
        )
    return found


def _self_of(method: FunctionInfo) -> str:
    first = method.header.params.params[:1]
    return first[0].name.value if first else ""
