"""Device parameters that only say where a file is read, of functions that give back a module which is elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.ignored_parameters import keeps_contract, mentions, names_device
from devlint.placement.declarations.known_classes import ClassKind, kind_of_base
from devlint.placement.syntax.nodes import descend, dotted, parameters_of
from devlint.records import dataclass

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.declarations.imports import ImportTable
    from devlint.placement.declarations.index import FileIndex

_MOVES = frozenset({"to", "cuda", "to_empty"})


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """``loaded`` is the call of ``load_state_dict`` on the module ``module``, which is given back."""

    parameter: cst.Param
    loaded: cst.Call
    module: str


def devices_that_only_map(info: FunctionInfo, index: FileIndex) -> Iterator[Mapping]:
    """``net = Net(); net.load_state_dict(torch.load(path, map_location=device)); return net``.

    An optimizer is left out: what it loads goes where its parameters are.
    """
    node, imports = info.node, index.imports
    if "load_state_dict" not in index.read_names or not isinstance(node, cst.FunctionDef) or not keeps_contract(info):
        return
    asked = [parameter for parameter in parameters_of(node) if names_device(parameter)]
    if not asked:
        return
    parts = list(descend(node.body))
    loads = list(_loads(parts, imports))
    for parameter in asked if loads else ():
        if _only_maps(parts, parameter.name.value):
            yield from (Mapping(parameter, call, module) for call, module in loads)


def _only_maps(parts: list[cst.CSTNode], name: str) -> bool:
    """Whether each mention of a parameter is inside of a ``map_location``, and there is one."""
    mapped = {
        id(child)
        for part in parts
        if isinstance(part, cst.Arg) and part.keyword is not None and part.keyword.value == "map_location"
        for child in descend(part.value)
        if isinstance(child, cst.Name) and child.value == name
    }
    labels = {id(part.keyword) for part in parts if isinstance(part, cst.Arg)}
    labels |= {id(part.attr) for part in parts if isinstance(part, cst.Attribute)}
    named = (part for part in parts if isinstance(part, cst.Name) and part.value == name and id(part) not in labels)
    return bool(mapped) and all(id(part) in mapped for part in named)


def _loads(parts: list[cst.CSTNode], imports: ImportTable) -> Iterator[tuple[cst.Call, str]]:
    """The calls of ``load_state_dict`` on what is made and given back here, and goes nowhere in between."""
    made = {name for part in parts for name in _made_by_call(part, imports)}
    returned = (part.value for part in parts if isinstance(part, cst.Return))
    given_back = {value.value for value in returned if isinstance(value, cst.Name)}
    calls = [(part, part.func) for part in parts if isinstance(part, cst.Call) and isinstance(part.func, cst.Attribute)]
    moved = [function.value for _, function in calls if function.attr.value in _MOVES]
    for call, function in calls:
        if function.attr.value == "load_state_dict" and isinstance(function.value, cst.Name):
            name = function.value.value
            if name in made & given_back and not any(mentions(receiver, name) for receiver in moved):
                yield call, name


def _made_by_call(part: cst.CSTNode, imports: ImportTable) -> Iterator[str]:
    if isinstance(part, cst.Assign) and isinstance(part.value, cst.Call):
        if kind_of_base(imports.qualified(dotted(part.value.func))) == ClassKind.OPTIMIZER.value:
            return
        targets = (target.target for target in part.targets)
        yield from (target.value for target in targets if isinstance(target, cst.Name))
