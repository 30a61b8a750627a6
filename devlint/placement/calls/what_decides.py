"""Which arguments of a call may say where its result is, where the body of the callee does not show it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from devlint.placement.domain.call_site import CallSite
from devlint.placement.syntax.nodes import code_of, parameters_of

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import FunctionInfo


def what_decides(info: FunctionInfo, site: CallSite, bound: bool) -> CallSite:
    """A call with those of its arguments that a function needs, and that its annotations do not call numbers.

    ``def graph_of(smiles, label=None)`` makes its graph without a label just the same, and ``def eye(size: int)`` asks
    for a size, whatever the caller computed it of. ``bound``: the first parameter is an object that is at hand.
    """
    parameters = parameters_of(info.header)[bound:]
    given = [site.argument(one.name.value, place) for place, one in enumerate(parameters) if _says_nothing(one)]
    spared = {id(argument) for argument in given if argument is not None}
    kept = tuple(argument for argument in site.arguments if id(argument) not in spared)
    return CallSite(site.node, kept) if len(kept) < len(site.arguments) else site


def _says_nothing(parameter: cst.Param) -> bool:
    if parameter.default is not None and code_of(parameter.default) == "None":
        return True
    return parameter.annotation is not None and _is_of_numbers(code_of(parameter.annotation.annotation))


def _is_of_numbers(annotation: str) -> bool:
    return set(re.findall(r"\w+", annotation)) <= _NUMBERS


_NUMBERS = frozenset({"int", "float", "bool", "None", "Optional", "typing"})
