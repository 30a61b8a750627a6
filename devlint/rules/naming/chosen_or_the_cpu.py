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


def stands_in_for_an_object(node: cst.CSTNode, begun: Begun | None) -> bool:
    """Whether it is what takes the place of the device that an object did not say.

    ``getattr(runner, "device", "cuda:0")``, ``device if device is not None else torch.device("cuda:0")`` of a name
    that such a call gave. An argument that is left out is another matter.
    """
    import libcst as cst

    if begun is None or not isinstance(begun.node, cst.FunctionDef):
        return False
    for outer, inner in pairwise(path_to(begun.node, node)):
        match outer:
            case cst.Call(func=cst.Name("getattr"), args=[_, _, default]):
                if inner in (default, default.value):
                    return True
            case cst.IfExp(body=said, orelse=other) if other is inner or said is inner:
                if _is_asked(said if other is inner else other, begun.node):
                    return True
            case cst.BooleanOperation(left=said, operator=cst.Or(), right=other) if other is inner:
                if _is_asked(said, begun.node):
                    return True
    return False


def _is_asked(said: cst.BaseExpression, definition: cst.FunctionDef) -> bool:
    """Whether it is what an object has under a name, or None: ``getattr(runner, "device", None)``."""
    import libcst as cst

    match said:
        case cst.Call(func=cst.Name("getattr")):
            return True
        case cst.Name():
            bound = [one.value for one in inner_nodes(definition) if isinstance(one, cst.Assign) and _binds(one, said)]
            return len(bound) == 1 and not isinstance(bound[0], cst.Name) and _is_asked(bound[0], definition)
    return False
