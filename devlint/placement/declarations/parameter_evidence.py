"""Evidence for what a parameter holds: its annotation, its default value, and its uses in the body.

Source of the attribute sets: the public attributes of ``torch.Tensor`` that neither ``numpy.ndarray`` nor the common
Python containers, loggers and configuration objects have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import libcst as cst

from devlint import semantics
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.syntax.nodes import FunctionNode, code_of, descend, dotted, parameters_of
from devlint.semantics import Operation, library_models

TENSOR_ATTRIBUTES = frozenset({"device", "is_cuda", "is_cpu", "requires_grad", "is_sparse"})

TENSOR_METHODS = frozenset(
    """
    unsqueeze unsqueeze_ permute new_zeros new_ones new_full new_empty new_tensor type_as detach masked_fill
    masked_fill_ expand expand_as contiguous gather scatter_ scatter_add_ index_select numel dim softmax
    log_softmax sigmoid tanh exp sqrt rsqrt pow bmm mm matmul clamp clamp_ long is_floating_point is_complex
    unbind chunk topk logsumexp narrow index_add_ index_copy_ mul_ add_ sub_ div_ zero_ fill_ copy_
    is_contiguous movedim unfold repeat_interleave lerp_ view_as reshape_as masked_select scatter triu tril
    argmax_ isnan_ bool int data_ptr cumprod relu erf mul div
    """.split()
)
"""Methods that only a tensor has.

Excluded: ``view``, ``size``, ``shape``, ``T``, which arrays have; ``cuda``, ``cpu``, ``float``, ``half``,
``requires_grad_``, which a Module has. An attribute without a call is no evidence: ``config.dim``.
"""

TENSOR_ONLY = TENSOR_ATTRIBUTES | TENSOR_METHODS

MODULE_ONLY = frozenset(
    [
        "parameters",
        "named_parameters",
        "zero_grad",
        "state_dict",
        "load_state_dict",
        "named_modules",
        "modules",
        "children",
        "train",
        "eval",
        "register_forward_hook",
    ]
)


_SIGNS = {
    **dict.fromkeys(TENSOR_ATTRIBUTES, "tensor"),
    **dict.fromkeys(MODULE_ONLY, "module"),
    **dict.fromkeys(("astype", "tobytes"), "numpy"),
    "device": "placed",
}
"""What reading an attribute of a name shows about the name."""


class Role(Enum):
    """What a parameter holds."""

    TENSOR = "tensor"
    TENSORS = "tensors"
    TENSORS_BY_NAME = "tensors by name"
    MODULE = "module"
    DEVICE = "device"
    NUMPY = "numpy"
    HOST = "host"
    PLACED = "placed"
    """Only its ``.device`` is read: usually a tensor, sometimes a configuration object."""
    ANYTHING = "anything"


@dataclass(frozen=True, slots=True)
class NameUses:
    """What the names of one definition are used as. Items are named by their source text: ``batch[key]``."""

    tensors: frozenset[str] = frozenset()
    """Names and items that are used as tensors and not converted to tensors."""
    tensor_items: frozenset[str] = frozenset()
    """The members of ``tensors`` that are items."""
    placed_items: frozenset[str] = frozenset()
    """Items whose ``.device`` is read."""


def name_uses(uses: dict[str, frozenset[str]]) -> NameUses:
    """The result of :func:`uses_of`, grouped by kind of use."""
    tensors = frozenset(name for name, signs in uses.items() if "tensor" in signs and not signs & {"numpy", "data"})
    items = {name: signs for name, signs in uses.items() if "[" in name}
    placed = frozenset(name for name, signs in items.items() if "placed" in signs)
    return NameUses(tensors, tensors & items.keys(), placed)


def roles_of(info: FunctionInfo, imports: ImportTable, uses: dict[str, frozenset[str]]) -> dict[str, Role]:
    """The role of each parameter of a function, by name; ``uses`` is the result of :func:`uses_of`."""
    node = info.node
    return {
        param.name.value: _role(param, uses.get(param.name.value, frozenset()), imports)
        for param in parameters_of(node)
    }


def _role(param: cst.Param, uses: frozenset[str], imports: ImportTable) -> Role:
    name = param.name.value
    if (name == "device" or name.endswith("_device")) and not uses & {"tensor", "module"}:
        return Role.DEVICE
    if param.annotation is not None:
        by_annotation = annotated(code_of(param.annotation.annotation), imports)
        if by_annotation is not None:
            return by_annotation
    if _is_number(param.default):
        return Role.HOST
    if "tensor" in uses and not uses & {"numpy", "data"}:
        return Role.TENSOR
    if "module" in uses:
        return Role.MODULE
    if "placed" in uses and "numpy" not in uses and param.annotation is None:
        return Role.PLACED
    default = param.default
    if default is not None and not (isinstance(default, cst.Name) and default.value == "None"):
        return Role.HOST
    if name in ("device_ids", "n", "num", "size", "dim", "eps", "shape", "dtype", "path", "filename", "seed"):
        return Role.HOST
    return Role.ANYTHING


def _is_number(default: cst.BaseExpression | None) -> bool:
    """Whether a default value is a number or string; then so is the argument: ``torch.pow(theta, t)`` takes both."""
    if default is None:
        return False
    if isinstance(default, cst.UnaryOperation):
        default = default.expression
    return isinstance(default, (cst.Integer, cst.Float, cst.SimpleString)) or (
        isinstance(default, cst.Name) and default.value in ("True", "False")
    )


_HOST_TYPES = frozenset(
    """
    int float bool str bytes Path Callable Number dtype Size Any_ Literal PathLike Logger Namespace Config
    slice
    """.split()
)


_BY_NAME = re.compile(
    r"(?:\w+\.)*(?:Dict|dict|Mapping|MutableMapping|OrderedDict)\[\s*str\s*,\s*(?:\w+\.)*\w*Tensor\s*\]"
)


def annotated(text: str, imports: ImportTable) -> Role | None:
    """The role that an annotation states; None if the annotation is not known here."""
    text = text.strip("'\"")
    if _BY_NAME.fullmatch(text):
        return Role.TENSORS_BY_NAME
    if module_class(text, imports):
        return Role.MODULE
    words = _words(text)
    if "device" in words or "Device" in words or "DeviceLikeType" in words:
        return Role.DEVICE
    if "Tensor" in words or words & {"FloatTensor", "LongTensor", "BoolTensor", "IntTensor", "Parameter"}:
        if words & {
            "ndarray",
            "NDArray",
            "ArrayLike",
            "float",
            "int",
            "NdarrayOrTensor",
            "list",
            "List",
            "str",
            "Image",
        }:
            containers = words & {"list", "List", "tuple", "Tuple", "Sequence", "Iterable", "Dict", "dict", "Mapping"}
            mixed = words & {"ndarray", "NDArray", "ArrayLike", "NdarrayOrTensor", "float", "int", "str", "Image"}
            return Role.TENSORS if containers and not mixed else Role.ANYTHING
        if words & {"tuple", "Tuple", "Sequence", "Iterable", "Dict", "dict", "Mapping", "Callable", "set", "Set"}:
            return Role.TENSORS if "Callable" not in words else Role.HOST
        return Role.TENSOR
    if words & {"ndarray", "NDArray"}:
        return Role.NUMPY
    if words & {"Module", "ModuleList", "Sequential"}:
        return Role.MODULE
    if words and words <= (_HOST_TYPES | {"Optional", "Union", "None", "List", "list", "Tuple", "tuple", "Sequence"}):
        return Role.HOST
    return None


def module_class(text: str, imports: ImportTable) -> str:
    """The ``torch.nn`` class that an annotation names; empty if it names no such class."""
    qualified = imports.qualified(text)
    return qualified if qualified.startswith("torch.nn.") and semantics.module(qualified) is not None else ""


@lru_cache(4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def uses_of(node: FunctionNode, imports: ImportTable) -> dict[str, frozenset[str]]:
    """For each name in a function's body, what its uses show: "tensor", "placed", "module", "numpy", "data"."""
    found: dict[str, set[str]] = {}
    for child in descend(node.body):
        if type(child) is cst.Attribute:
            _attribute_uses(child, found)
        elif type(child) is cst.Call:
            method = child.func
            if type(method) is cst.Attribute and method.attr.value in TENSOR_METHODS:
                found.setdefault(_called_by(method.value), set()).add("tensor")
            _call_uses(child, imports, found)
    return {name: frozenset(signs) for name, signs in found.items()}


def _attribute_uses(node: cst.Attribute, found: dict[str, set[str]]) -> None:
    holder, attribute = node.value, node.attr.value
    if type(holder) is cst.Name:
        sign = _SIGNS.get(attribute)
        if sign is not None:
            found.setdefault(holder.value, set()).add(sign)
    elif type(holder) is cst.Subscript and attribute in TENSOR_ATTRIBUTES:
        # A Module in a dict has a device as well.
        found.setdefault(code_of(holder), set()).add("placed" if attribute == "device" else "tensor")


def _called_by(node: cst.BaseExpression) -> str:
    """The receiver of a method call: a name, or an item as in ``batch[key]``."""
    return code_of(node) if isinstance(node, cst.Subscript) else dotted(node) or ""


_CONVERSIONS = {"torch.from_numpy": "numpy", "torch.tensor": "data", "torch.as_tensor": "data"}


def _call_uses(call: cst.Call, imports: ImportTable, found: dict[str, set[str]]) -> None:
    name = imports.qualified(dotted(call.func))
    if name in _CONVERSIONS:
        for argument in call.args[:1]:
            if isinstance(argument.value, cst.Name):
                # The argument of a conversion is not a tensor; later uses of the name are uses of the result.
                found.setdefault(argument.value.value, set()).add(_CONVERSIONS[name])
        return
    operation = semantics.function(name)
    if not isinstance(operation, Operation) or library_models.takes_images(name):
        return
    by_name = {parameter.name: parameter for parameter in operation.parameters}
    for position, argument in enumerate(call.args):
        if argument.star:
            break
        parameter = None
        if argument.keyword is not None:
            parameter = by_name.get(argument.keyword.value)
        elif position < len(operation.parameters):
            parameter = operation.parameters[position]
        if parameter is None or parameter.kind == "other" or parameter.name in operation.zero_dim:
            # A number may be passed for a 0-dim tensor.
            continue
        first = parameter is operation.parameters[0]
        for one in _names_of(argument.value):
            # Tensor parameters after the first often accept numbers as well.
            if first or parameter.kind == "tensors":
                found.setdefault(one, set()).add("tensor")


def _names_of(node: cst.BaseExpression) -> list[str]:
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, (cst.List, cst.Tuple)):
        return [element.value.value for element in node.elements if isinstance(element.value, cst.Name)]
    return []
