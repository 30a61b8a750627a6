"""Whether a device is one arm of a choice of which the other is the CPU: `"cuda:0" if count > 0 else "cpu"`.

And what the choice asks: `"cuda:0" if device != "cpu" else "cpu"` has lost the number that `device` had.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from devlint.drafts.wording import code_of
from devlint.placement.syntax.nodes import inner_nodes
from devlint.repairs.bound_names import path_to

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Begun


def is_or_the_cpu(node: cst.CSTNode, begun: Begun | None) -> bool:
    """Whether a conditional expression of the definition takes the node, or the CPU."""
    import libcst as cst

    return begun is not None and isinstance(begun.node, cst.FunctionDef) and _choice(begun.node, node) is not None


def asked_device(node: cst.CSTNode, begun: Begun | None) -> str | None:
    """The device of which a choice that takes the node, or the CPU, asks no more than whether it is the CPU.

    That is one that the definition was handed, or keeps: an option of two words has no number to lose.
    """
    import libcst as cst

    if begun is None or not isinstance(begun.node, cst.FunctionDef):
        return None
    choice = _choice(begun.node, node)
    if choice is None or not any(part is node for part in inner_nodes(choice.body)):
        return None
    question = choice.test
    if isinstance(question, cst.Name):
        bound = [one.value for one in inner_nodes(begun.node) if isinstance(one, cst.Assign) and _binds(one, question)]
        question = bound[0] if len(bound) == 1 else question
    found = _IS_ELSEWHERE.search(code_of(question))
    if found is None:
        return None
    device, handed = found["device"], {name for name, _ in begun.arguments}
    return device if device in handed or device.startswith("self.") else None


_IS_ELSEWHERE = re.compile(r"(?<![\w.])(?P<device>(?:self\.)?(?:\w+_)?device)(?:\.lower\(\))? != ['\"]cpu['\"]")


def _binds(assign: cst.Assign, name: cst.Name) -> bool:
    return any(code_of(target.target) == name.value for target in assign.targets)


def _choice(definition: cst.FunctionDef, node: cst.CSTNode) -> cst.IfExp | None:
    import libcst as cst

    for outer, inner in pairwise(path_to(definition, node)):
        if isinstance(outer, cst.IfExp) and inner is not outer.test:
            other = outer.orelse if inner is outer.body else outer.body
            if "cpu" in code_of(other).lower():
                return outer
    return None
