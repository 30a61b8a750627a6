"""Objects that are told the CPU by the code of their own constructor, and nothing else later: they work there.

So do those whose constructor takes no other device.
"""

from __future__ import annotations

import libcst as cst

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.syntax.literal_devices import is_the_cpu
from devlint.placement.syntax.nodes import FunctionNode, descend, dotted


def keeps_to_the_cpu(info: ClassInfo) -> bool:
    """Whether ``self.device = torch.device("cpu")`` is all that a class says of its device, or it insists on the CPU.

    A Module is moved from outside all the same, unless its constructor puts its parts there by that name (fixture
    `objects_of_the_cpu`).
    """
    return info.memoised("keeps to the CPU", _keeps, False)


def _keeps(info: ClassInfo) -> bool:
    return any(map(_insists, info.constructors)) or _is_told(info)


def _insists(constructor: FunctionInfo) -> bool:
    """``assert device == torch.device("cpu"), "only the CPU"``."""
    return constructor.find(_asserts_the_cpu)


def _asserts_the_cpu(constructor: FunctionNode) -> bool:
    return any(_is_the_cpu(node.test) for node in descend(constructor.body) if type(node) is cst.Assert)


def _is_the_cpu(test: cst.BaseExpression) -> bool:
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=value)]):
            return (dotted(left) or "").removesuffix(".type").endswith("device") and is_the_cpu(value)
        case _:
            return False


def _is_told(info: ClassInfo) -> bool:
    building = [method for method in info.constructors if "device" in method.stores]
    told = [value for method in building for value in method.stored_expressions.get("device", ())]
    if not told or not all(map(is_the_cpu, told)):
        return False
    if any("device" in one.assigned_outside_init for one in info.order):
        return False
    if info.defines("to", "cuda"):
        return False
    return not info.is_module or any(map(_moves_there, building))


def _moves_there(constructor: FunctionInfo) -> bool:
    """``net.to(self.device)``."""
    for node in descend(constructor.node.body):
        match node:
            case cst.Call(
                func=cst.Attribute(attr=cst.Name(value="to")),
                args=[cst.Arg(value=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value="device")))],
            ):
                return True
    return False
