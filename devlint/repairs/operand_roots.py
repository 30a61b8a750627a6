"""What an operand is read from, where its device can be asked: a name, or an item of it."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devlint import semantics
from devlint.placement.syntax.nodes import code_of, dotted, path_of
from devlint.records import dataclass
from devlint.semantics import Operation
from devlint.semantics.operation import Result


@dataclass(frozen=True, slots=True)
class Root:
    """The name behind items and methods that keep its device.

    ``item`` is the part of it that is read, where it may be a container: `pairs[0]`. It is empty where that cannot be
    read elsewhere, `pairs[i]`, and None where the name itself is a tensor if the operand is one.
    """

    name: str
    item: str | None


def root_of(node: cst.CSTNode, is_tensor: Callable[[str], bool]) -> Root | None:
    """`x` of `x.float()[:, -1].sum(-1)`; None for a bare name, and for what is computed otherwise.

    ``is_tensor`` says whether a name holds a tensor for certain: none but a tensor is indexed with that.
    """
    current = node
    item: str | None = None
    while isinstance(current, (cst.Call, cst.Subscript)):
        if isinstance(current, cst.Subscript):
            if _is_of_tensors(current, is_tensor):
                item = None
            elif not _is_slice(current):
                item = code_of(current) if path_of(current) is not None else item or ""
            current = current.value
            continue
        inner = _receiver_on_the_same_device(current)
        if inner is None:
            return None
        current, item = inner, None
    name = dotted(current) if isinstance(current, cst.BaseExpression) else None
    return Root(name, item) if name is not None and name != "self" and current is not node else None


def item_device(node: cst.CSTNode) -> str:
    """`batch["x"].device`: of an item that is read at a key written out."""
    return f"{code_of(node)}.device" if isinstance(node, cst.Subscript) and path_of(node) is not None else ""


def _is_of_tensors(node: cst.Subscript, is_tensor: Callable[[str], bool]) -> bool:
    """`x[:, -1]`, `x[..., 0]`, `x[None]`, `x[mask]`: no container takes such an index."""
    if len(node.slice) > 1:
        return True
    index = node.slice[0].slice
    value = index.value if isinstance(index, cst.Index) else None
    if isinstance(value, cst.Name):
        return value.value == "None" or is_tensor(value.value)
    return isinstance(value, (cst.Ellipsis, cst.Tuple))


def _is_slice(node: cst.Subscript) -> bool:
    """`x[1:]` is of the type that `x` is of."""
    return isinstance(node.slice[0].slice, cst.Slice)


def _receiver_on_the_same_device(call: cst.Call) -> cst.BaseExpression | None:
    """`x` of `x.float()`: what a method is called on whose result is where that is."""
    if not isinstance(call.func, cst.Attribute):
        return None
    method = semantics.method(call.func.attr.value)
    if not isinstance(method, Operation) or method.result not in (Result.OPERANDS, Result.SELF):
        return None
    return call.func.value
