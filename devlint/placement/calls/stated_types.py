"""Values whose type nothing but an annotation states: results of the project's functions, and annotated names.

``def embed(ids) -> Tensor``; ``weights: Tensor = registry[name]``; ``net: Net = build(options)``. What the analysis
knows of a value is not replaced. An annotation says nothing of the place, which stays what it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.evidence_conventions import names_a_configuration
from devlint.placement.declarations.parameter_evidence import Role, annotated
from devlint.placement.domain.abstract_values import (
    ClassValue,
    Container,
    Evidence,
    Host,
    Module,
    Opaque,
    Tensor,
    UnknownValue,
    Value,
)
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, Choice, Device, SameAs, choose, leaves
from devlint.placement.domain.provenance import was_moved
from devlint.placement.state.field_types import tensor_fields
from devlint.placement.syntax.nodes import code_of, string_value
from devlint.records import replace
from devlint.source.dependency_parts import IMPORTS

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.domain.call_site import CallSite
    from devlint.placement.interpreter.interpreter import Interpreter
    from devlint.placement.interpreter.program import Program


def of_result(interp: Interpreter, info: FunctionInfo, site: CallSite, value: Value) -> Value:
    """The result of a call of a function of the project, by the annotation of what it returns.

    Where a function of unknown effect puts what it makes of its arguments is known of tensors alone.
    """
    header = info.header
    returns = header.returns if isinstance(header, cst.FunctionDef) else None
    if returns is None or info.is_generator or not _is_open(value):
        return value
    program = interp.program.holder(info)
    if program is None:
        return value
    if info.linkage is not None:
        info.linkage.depends_on(IMPORTS)
    handed = [argument.value for argument in site.arguments]
    tensors = {leaf for one in handed if _is_tensor(one) for leaf in _places(one)}
    others = {leaf for one in handed if not _is_tensor(one) for leaf in _places(one)}
    return _Stated(interp, program, frozenset(others - tensors)).as_stated(value, returns.annotation)


def is_placed_nowhere(info: FunctionInfo, value: Value) -> bool:
    """Whether a function is said to return a tensor, or several, of which its body does not show where they are."""
    if not isinstance(info.header, cst.FunctionDef) or info.header.returns is None or info.is_generator:
        return False
    parts = value.items if isinstance(value, Container) and value.keys is None else (value,)
    return any(isinstance(part, Tensor) and UNKNOWN in leaves(part.device) for part in parts)


def placed_beside(value: Value, site: CallSite, beside: Value) -> Value:
    """The tensors of a result that are placed nowhere, where the tensors that it is computed of are."""
    handed = [a.value for a in site.arguments if isinstance(a.value, (Tensor, Opaque)) and _is_tensor(a.value)]
    tensors = {leaf for one in handed for leaf in _places(one)}
    if not isinstance(beside, Opaque) or not tensors.issuperset(leaves(beside.device)):
        if not _came_together(handed):
            return value
        beside = Opaque(handed[0].device, handed[0].provenance)
    if isinstance(value, Container):
        return replace(value, items=tuple(placed_beside(item, site, beside) for item in value.items))
    if not isinstance(value, Tensor) or UNKNOWN not in leaves(value.device):
        return value
    # What some arm makes on the CPU is told of by how it was made there.
    provenance = value.provenance if CPU in leaves(value.device) else beside.provenance
    device = _filled(value.device, beside.device)
    return replace(value, device=device, provenance=provenance, evidence=Evidence.LIKELY)


def _came_together(handed: list[Tensor | Opaque]) -> bool:
    """Whether each tensor is where the caller has it: together, by its choice, so that the first stands for all."""
    anchors = {leaf.symbol.anchor for one in handed for leaf in _places(one) if isinstance(leaf, SameAs)}
    known = [leaf for one in handed[1:] for leaf in _places(one) if not isinstance(leaf, SameAs)]
    return bool(handed) and not known and len(anchors) == 1 and anchors <= {Anchor.PARAMETER, Anchor.MODULE}


def _filled(device: Device, unknown: Device) -> Device:
    """A device with another one in the arms of which nothing is known."""
    if isinstance(device, Choice):
        return choose(device.guard, _filled(device.then, unknown), _filled(device.otherwise, unknown))
    return unknown if device == UNKNOWN else device


def of_name(interp: Interpreter, annotation: cst.Annotation, value: Value) -> Value:
    """What is assigned to an annotated name or attribute."""
    return as_type(interp, annotation.annotation, value)


def as_type(interp: Interpreter, type_: cst.BaseExpression, value: Value) -> Value:
    """A value that the code at hand says to be of a type."""
    if not _is_open(value):
        return value
    return _Stated(interp, interp.program, frozenset()).as_stated(value, type_)


def _is_open(value: Value) -> bool:
    """Whether the type of a value, or of a part of it, is not known."""
    if isinstance(value, Container):
        return value.type == "tuple" and value.keys is None and any(map(_is_open, value.items))
    return isinstance(value, UnknownValue) or (isinstance(value, Opaque) and value.info is None)


def _places(value: Value) -> tuple[Device, ...]:
    return leaves(value.device) if isinstance(value, (Tensor, Opaque)) else ()


def _is_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and (value.tensorlike or value.moved))


def as_moved(value: Value) -> Opaque:
    """What is known of the place of a value whose type is not known: where it was moved, and nothing else."""
    return value if isinstance(value, Opaque) and was_moved(value.provenance) else Opaque(UNKNOWN)


class _Stated:
    """The annotations of one module, for values whose place is not that of any of ``others``."""

    def __init__(self, interp: Interpreter, program: Program, others: frozenset[Device]) -> None:
        self._interp = interp
        self._program = program
        self._others = others

    def as_stated(self, value: Value, annotation: cst.BaseExpression) -> Value:
        if not _is_open(value):
            return value
        node = _present(annotation)
        parts = _parts_of_tuple(node)
        if parts is not None:
            return self._several(value, parts)
        if isinstance(value, Container):
            return value
        match annotated(code_of(node), self._program.index.imports):
            case Role.TENSOR:
                return self._tensor(value)
            case Role.NUMPY:
                return Host(numpy=True)
            case Role.HOST:
                return Host()
            case Role.MODULE if isinstance(node, (cst.Name, cst.Attribute)):
                return self._module(value, None)
            case None:
                return self._object(value, node)
            case _:
                return value

    def _tensor(self, value: Value) -> Tensor:
        if not isinstance(value, Opaque):
            return Tensor(UNKNOWN, evidence=Evidence.LIKELY)
        doubted = any(leaf in self._others or _is_of_configuration(leaf) for leaf in leaves(value.device))
        return Tensor(
            UNKNOWN if doubted else value.device,
            evidence=Evidence.LIKELY,
            provenance=value.provenance,
            stream=value.stream,
            computed_at=value.computed_at,
        )

    def _several(self, value: Value, parts: tuple[cst.BaseExpression, ...]) -> Value:
        """``tuple[Tensor, dict[str, Any]]``: the parts of what is not known, or is a tuple of as many."""
        if isinstance(value, Container):
            if len(value.items) != len(parts) or value.rest is not None:
                return value
            items = (self.as_stated(item, part) for item, part in zip(value.items, parts, strict=True))
            return replace(value, items=tuple(items))
        return Container(tuple(self.as_stated(value, part) for part in parts), None, None, "tuple")

    def _object(self, value: Value, node: cst.BaseExpression) -> Value:
        """``-> Net``: an object of a class of the project. Its place is known where it was moved there."""
        found = self._named(node)
        if not isinstance(found, ClassValue):
            return value
        if found.info.is_module:
            return self._module(value, found.info)
        fields, info = tensor_fields(self._interp, found)
        return replace(value if isinstance(value, Opaque) else Opaque(UNKNOWN), fields=fields, info=info)

    def _module(self, value: Value, info: ClassInfo | None) -> Module:
        moved = as_moved(value)
        return Module(moved.device, "", info, moved.provenance, assumed=info is None)

    def _named(self, node: cst.BaseExpression) -> Value | None:
        """What the annotation names in the module that states it."""
        if isinstance(node, cst.Name):
            return self._program.global_value(node.value)
        return None


def _present(node: cst.BaseExpression) -> cst.BaseExpression:
    """``Net`` of ``Optional[Net]``, ``Net | None`` and ``"Net"``: where it is used, it is not None."""
    if isinstance(node, cst.SimpleString):
        text = str(string_value(node.value))
        return cst.Name(text) if text.isidentifier() else node
    if isinstance(node, cst.BinaryOperation) and code_of(node.right) == "None":
        return _present(node.left)
    if isinstance(node, cst.Subscript) and _head(node) in ("Optional", "Annotated", "Final"):
        first = node.slice[0].slice
        return _present(first.value) if isinstance(first, cst.Index) else node
    return node


def _parts_of_tuple(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...] | None:
    """The annotations of the items of ``tuple[A, B]``; None for a tuple of any length, and for anything else."""
    if not isinstance(node, cst.Subscript) or _head(node) not in ("tuple", "Tuple"):
        return None
    parts = [element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)]
    return tuple(parts) if not any(isinstance(part, cst.Ellipsis) for part in parts) else None


def _head(node: cst.Subscript) -> str:
    return code_of(node.value).rsplit(".", 1)[-1]


def _is_of_configuration(device: Device) -> bool:
    if not isinstance(device, SameAs) or device.symbol.anchor is not Anchor.PARAMETER:
        return False
    return names_a_configuration(device.symbol.name)
