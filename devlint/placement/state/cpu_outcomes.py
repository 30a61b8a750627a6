"""Which outcome of a condition means that the program works on the CPU, by how the condition is written."""

from __future__ import annotations

import libcst as cst

from devlint.placement.syntax.device_words import names_a_device_count, names_a_device_index
from devlint.placement.syntax.nodes import code_of, dotted

_MEANS_NONE: dict[type[cst.BaseCompOp], tuple[int, bool]] = {
    cst.Equal: (0, True),
    cst.NotEqual: (0, False),
    cst.LessThan: (1, True),
    cst.GreaterThanEqual: (1, False),
    cst.GreaterThan: (0, False),
}
"""By operator: how far beyond the number that stands for no device a comparison's number is, and the outcome that
means the CPU."""


def of_number(node: cst.BaseExpression) -> bool | None:
    """The outcome that means the CPU: True for ``self.device_id == -1``, False for ``n_gpu > 0``; None for others."""
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return None
    name = (dotted(node.left) or "").rpartition(".")[2]
    none = -1 if names_a_device_index(name) else 0 if names_a_device_count(name) else None
    (compared,) = node.comparisons
    beyond, outcome = _MEANS_NONE.get(type(compared.operator), (0, None))
    return outcome if none is not None and code_of(compared.comparator) == str(none + beyond) else None


def number_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """``self.device_id`` of ``self.device_id == -1``: the number of a device that a condition asks about."""
    return node.left if isinstance(node, cst.Comparison) and of_number(node) is not None else None


def of_comparison(node: cst.Comparison, operator: cst.BaseCompOp) -> bool | None:
    """The outcome that means the CPU: True for ``x.device.type == "cpu"``, False for ``== "cuda"``; None for others."""
    named = _names_the_cpu(code_of(node))
    equal = isinstance(operator, (cst.Equal, cst.Is, cst.In))
    return None if named is None else equal is named


def of_beginning(node: cst.BaseExpression) -> bool | None:
    """The same of ``x.device.type.startswith("cuda")``."""
    if not isinstance(node, cst.Call) or not (dotted(node.func) or "").endswith("device.type.startswith"):
        return None
    return _names_the_cpu(code_of(node))


def _names_the_cpu(text: str) -> bool | None:
    """Whether it names the CPU, False for an accelerator; None for neither."""
    if '"cpu"' in text or "'cpu'" in text:
        return True
    if any(name in text for name in ('"cuda', "'cuda", '"mps', "'mps", '"xpu', "'xpu")):
        return False
    return None


def names_accelerator_flag(node: cst.BaseExpression) -> bool:
    """``use_cuda``, ``args.cuda``, ``self.use_gpu``: if false, the run stays on the CPU."""
    name = node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""
    lowered = name.lower()
    return "no" not in lowered.split("_") and (
        lowered in ("cuda", "gpu", "is_cuda") or lowered.endswith(("_cuda", "_gpu"))
    )
