"""What a method does with the items of a plain list that an object keeps: part of DEV502."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.syntax.nodes import code_of, descend

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import FunctionInfo

_TRANSFERS = frozenset({"to", "cuda", "xpu", "mps"})


def only_counts(method: FunctionInfo | None, attribute: str) -> bool:
    """Whether the method uses the list, and only to count its items: ``len(self.columns)``, and nothing else of it."""
    if method is None or "len" not in method.names:
        return False
    parts = list(descend(method.node.body))
    counted = {id(one) for part in parts for one in _counted(part)}
    reads = [part for part in parts if _is_list(part, attribute)]
    return bool(reads) and all(id(read) in counted for read in reads)


def _counted(node: cst.CSTNode) -> list[cst.CSTNode]:
    """``self.columns`` of ``len(self.columns)``."""
    import libcst as cst

    match node:
        case cst.Call(func=cst.Name("len"), args=[argument]):
            return [argument.value]
    return []


def _is_list(node: cst.CSTNode, attribute: str) -> bool:
    import libcst as cst

    return isinstance(node, cst.Attribute) and node.attr.value == attribute and code_of(node.value) == "self"


def brings_items(method: FunctionInfo | None, attribute: str) -> bool:
    """``net = self.nets[i].to(self.device)``, ``for net in self.nets: net.to(self.device)``: modules move in place."""
    return method is not None and any(_brings(part, attribute) for part in descend(method.node.body))


def _brings(node: cst.CSTNode, attribute: str) -> bool:
    import libcst as cst

    match node:
        case cst.Call(func=cst.Attribute(value=cst.Subscript(value=held), attr=cst.Name(method))):
            return method in _TRANSFERS and _is_list(held, attribute)
        case cst.For(target=cst.Name(item), iter=held, body=body) if _is_list(held, attribute):
            return any(_moves(part, item) for part in descend(body))
    return False


def _moves(node: cst.CSTNode, item: str) -> bool:
    import libcst as cst

    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name(name), attr=cst.Name(method))):
            return name == item and method in _TRANSFERS
    return False
