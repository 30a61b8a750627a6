"""Which outcome of a condition means that the program works on the CPU, by how the condition is written."""

from __future__ import annotations

import libcst as cst

from devlint.placement.syntax.device_words import names_a_device_count, names_a_device_index
from devlint.placement.syntax.nodes import code_of, dotted

_NO_DEVICE: dict[type[cst.BaseCompOp], dict[str, bool]] = {
    cst.Equal: {"-1": True},
    cst.NotEqual: {"-1": False},
    cst.LessThan: {"0": True},
    cst.GreaterThanEqual: {"0": False},
    cst.GreaterThan: {"-1": False},
}
_NO_DEVICES: dict[type[cst.BaseCompOp], dict[str, bool]] = {
    cst.Equal: {"0": True},
    cst.NotEqual: {"0": False},
    cst.LessThan: {"1": True},
    cst.GreaterThanEqual: {"1": False},
    cst.GreaterThan: {"0": False},
}
"""By operator and number: the outcome that means the CPU, of the number of a device, and of how many there are."""


def of_number(node: cst.BaseExpression) -> bool | None:
    """The outcome that means the CPU: True for ``self.device_id == -1``, False for ``n_gpu > 0``; None for others."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return None
    name = (dotted(node.left) or "").rpartition(".")[2]
    table = _NO_DEVICE if names_a_device_index(name) else _NO_DEVICES if names_a_device_count(name) else {}
    (compared,) = node.comparisons
    return table.get(type(compared.operator), {}).get(code_of(compared.comparator))


def of_comparison(node: cst.Comparison, operator: cst.BaseCompOp) -> bool | None:
    """The outcome that means the CPU: True for ``x.device.type == "cpu"``, False for ``== "cuda"``; None for others."""
    text = code_of(node)
    equal = isinstance(operator, (cst.Equal, cst.Is, cst.In))
    if '"cpu"' in text or "'cpu'" in text:
        return equal
    if any(name in text for name in ('"cuda', "'cuda", '"mps', "'mps", '"xpu', "'xpu")):
        return not equal
    return None


def names_accelerator_flag(node: cst.BaseExpression) -> bool:
    """``use_cuda``, ``args.cuda``, ``self.use_gpu``: if false, the run stays on the CPU."""
    name = node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""
    lowered = name.lower()
    return "no" not in lowered.split("_") and (
        lowered in ("cuda", "gpu", "is_cuda") or lowered.endswith(("_cuda", "_gpu"))
    )
