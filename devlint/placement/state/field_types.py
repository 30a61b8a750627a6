"""Which fields of an argument are tensors, by its annotated class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.known_classes import ClassKind, kind_of_base
from devlint.placement.declarations.parameter_evidence import Role, annotated
from devlint.placement.domain.abstract_values import ClassValue, Reference, Value
from devlint.placement.syntax.nodes import code_of, descend, string_value
from devlint.semantics import library_models

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.interpreter.interpreter import Interpreter

ITEMS = "[]"
"""Stands for all items under string keys."""
ALL_ITEMS = "[*]"
"""Stands for all items, whatever key they are under: tensors, and nothing else."""


_GENERICS = frozenset({"typing", "typing_extensions", "collections.abc"})


def is_generic(name: str) -> bool:
    """Whether a library's name is that of a generic type: what it is subscripted with is a type as well."""
    return name in ("dict", "list", "tuple") or name.rpartition(".")[0] in _GENERICS


def role_of_alias(interp: Interpreter, parameter: cst.Param) -> Role | None:
    """What a parameter holds whose annotation is the name of a type that is spelled out elsewhere.

    ``Weights = dict[str, Tensor]`` and ``def load(weights: Weights)``.
    """
    named = annotated_class(interp, parameter)
    if not isinstance(named, Reference) or "[" not in named.name:
        return None
    return annotated(named.name, ImportTable())


def tensor_fields(interp: Interpreter, value: Value | None) -> tuple[frozenset[str], ClassInfo | None]:
    """Names of the fields that an annotated class declares as tensors, and the class if the project defines it."""
    if isinstance(value, Reference):
        row = library_models.row(value.name)
        return row.fields if row is not None else frozenset(), None
    if isinstance(value, ClassValue) and not value.info.is_module:
        return declared(interp, value.info), value.info
    return frozenset(), None


def module_of(value: Value | None) -> ClassInfo | None:
    """An annotated class, if it is one of the project and its objects are Modules."""
    return value.info if isinstance(value, ClassValue) and value.info.is_module else None


def annotated_class(interp: Interpreter, parameter: cst.Param) -> Value | None:
    """What the annotation of a parameter names, through ``Optional``; None without one."""
    if parameter.annotation is None:
        return None
    node = _class_of(parameter.annotation.annotation)
    if isinstance(node, cst.SimpleString):
        text = str(string_value(node.value))
        return interp.lookup(text) if text.isidentifier() else None
    return interp.evaluate_quietly(node) if isinstance(node, (cst.Name, cst.Attribute)) else None


_CONTAINERS = {"list": "list", "List": "list", "tuple": "tuple", "Tuple": "tuple", "dict": "dict", "Dict": "dict"}
"""What holds modules without registering them, or other objects, by its name in annotations. A ``Sequence`` may be a
``ModuleList``."""


def container_of_modules(interp: Interpreter, parameter: cst.Param) -> tuple[str, ClassInfo | str] | None:
    """The type of a container and the class of the modules in it: ``list[Encoder]``, ``Dict[str, nn.Linear]``."""
    kind, named = _container_of(interp, parameter)
    if isinstance(named, Reference):
        known = named.name.startswith("torch.nn.") and semantics.module(named.name) is not None
        return (kind, named.name) if known or named.name == "torch.nn.Module" else None
    info = module_of(named)
    return (kind, info) if info is not None else None


def container_of_records(interp: Interpreter, parameter: cst.Param) -> tuple[str, frozenset[str], ClassInfo] | None:
    """The same of objects of a class that declares tensors as its fields: ``list[Graph]``."""
    kind, named = _container_of(interp, parameter)
    fields, info = tensor_fields(interp, named)
    return (kind, fields, info) if fields and info is not None else None


def _container_of(interp: Interpreter, parameter: cst.Param) -> tuple[str, Value | None]:
    """The type of a container, and what the annotation names as that of each item; empty and None for anything else."""
    node = _class_of(parameter.annotation.annotation) if parameter.annotation is not None else None
    if not isinstance(node, cst.Subscript):
        return "", None
    kind = _CONTAINERS.get(code_of(node.value).rsplit(".", 1)[-1])
    parts = [element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)]
    if kind is None or (kind == "dict" and len(parts) != 2) or (kind == "tuple" and not _of_any_length(parts)):
        return "", None
    held = _class_of(parts[-1] if kind == "dict" else parts[0])
    return kind, interp.evaluate_quietly(held) if isinstance(held, (cst.Name, cst.Attribute)) else None


def _of_any_length(parts: list[cst.BaseExpression]) -> bool:
    return len(parts) == 2 and isinstance(parts[1], cst.Ellipsis)


def is_data_set(interp: Interpreter, parameter: cst.Param) -> bool:
    """Whether the annotation names a data set: what that hands out lies on the host, whoever calls the function."""
    if parameter.annotation is None:
        return False
    parts = descend(parameter.annotation.annotation)
    named = (interp.evaluate_quietly(part) for part in parts if isinstance(part, (cst.Name, cst.Attribute)))
    return any(_is_data_set(value) for value in named)


def _is_data_set(value: Value) -> bool:
    if isinstance(value, Reference):
        return "Dataset" in value.name and kind_of_base(value.name) == ClassKind.HOST.value
    if not isinstance(value, ClassValue) or value.info.kind is not ClassKind.HOST:
        return False
    bases = (base for one in value.info.order for base in (one.name, *one.bases))
    return any(isinstance(base, str) and "Dataset" in base for base in bases)


def _class_of(node: cst.BaseExpression) -> cst.BaseExpression:
    """The class in ``Optional[Class]`` and ``Class | None``."""
    if isinstance(node, cst.BinaryOperation) and code_of(node.right) == "None":
        return node.left
    if isinstance(node, cst.Subscript) and code_of(node.value).rsplit(".", 1)[-1] == "Optional":
        first = node.slice[0].slice
        return first.value if isinstance(first, cst.Index) else node
    return node


def declared(interp: Interpreter, info: ClassInfo) -> frozenset[str]:
    """The fields of a dataclass, a NamedTuple or a similar class that are annotated as a single tensor."""
    return frozenset(
        name
        for one in info.order
        for name, text in one.annotated_fields
        if annotated(text, one.linkage.imports if one.linkage is not None else interp.index.imports) is Role.TENSOR
    )
