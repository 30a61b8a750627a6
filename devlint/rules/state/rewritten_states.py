"""What a function makes of a file before it is a model's state: part of DEV503.

`{k.removeprefix("module."): v for k, v in torch.load(path).items()}` is still the state that was saved, and so is what
a helper gives back that was handed it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.rules.state.origins_of_files import holds_host_state

if TYPE_CHECKING:
    import libcst as cst

_STATE = re.compile("state|checkpoint|ckpt|weight|model|snapshot")
_OF_STATES = re.compile("(from|with|init|load|restore|build)_.*(state_dict|checkpoint|ckpt|weights)")
"""Methods that build a model of the state which they are handed, `cls.from_state_dict(state)`."""

_OF_MODULES = frozenset(
    {"eval", "parameters", "named_parameters", "modules", "named_modules", "state_dict", "children"}
)
"""Methods of a module that nothing else has which a file holds."""
_FILLS = frozenset({"update", "append", "extend", "setdefault"})
_ROUNDS = 2
"""A loop hands on in its second round what it has filled in the first."""


def is_a_state(function: cst.CSTNode, load: cst.CSTNode) -> bool:
    """Whether what the load gives is used as the state of a model, or as a model, in the function."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    same, rewritten = _handed_on(function, load)
    for node in descend(function):
        if isinstance(node, cst.Subscript) and _is_one_of(node.value, same, load) and _STATE.search(_key_of(node)):
            return True
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            continue
        method, receiver = node.func.attr.value, node.func.value
        if method in _OF_MODULES and not node.args and _is_one_of(receiver, same, load):
            return True
        named = _OF_STATES.search(method) is not None and not holds_host_state(_code(node.func))
        if named and any(_is_one_of(argument.value, same, load) for argument in node.args):
            return True
        fed = method == "load_state_dict" and not holds_host_state(_code(receiver))
        if fed and any(_holds(argument.value, rewritten, load) for argument in node.args[:1]):
            return True
    return False


def _handed_on(function: cst.CSTNode, load: cst.CSTNode) -> tuple[set[str], set[str]]:
    """The names of what is loaded or a part of it, and those of what is made of it as well."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    same: set[str] = set()
    rewritten: set[str] = set()
    for _ in range(_ROUNDS):
        for node in descend(function):
            targets: list[cst.CSTNode]
            match node:
                case cst.Assign(value=value):
                    targets = [one.target for one in node.targets]
                case cst.AnnAssign(target=target, value=value) | cst.NamedExpr(target=target, value=value):
                    targets = [target]
                case cst.For(target=target, iter=value):
                    targets = [target]
                case cst.Call(func=cst.Attribute(value=target, attr=cst.Name(name)), args=[cst.Arg(value=value), *_]):
                    targets = [target] if name in _FILLS else []
                case _:
                    continue
            if value is None or not targets:
                continue
            if _is_one_of(value, same, load):
                same.update(name for target in targets for name in _names(target))
            if _holds(value, rewritten, load):
                rewritten.update(name for target in targets for name in _names(target))
    return same, rewritten


def _is_one_of(node: cst.CSTNode, names: set[str], load: cst.CSTNode) -> bool:
    """Whether it is the load, a name for it, or a part of either: ``checkpoint["model"]``."""
    import libcst as cst

    while isinstance(node, cst.Subscript):
        node = node.value
    return node is load or (isinstance(node, (cst.Name, cst.Attribute)) and _code(node) in names)


def _holds(node: cst.CSTNode, names: set[str], load: cst.CSTNode) -> bool:
    """Whether it is made of what is loaded; an object that is built with it is another thing: ``Net(config)``."""
    import libcst as cst

    from devlint.placement.syntax.nodes import dotted, semantic_children

    if node is load:
        return True
    if isinstance(node, (cst.Name, cst.Attribute)) and _code(node) in names:
        return True
    if isinstance(node, cst.Call):
        name = (dotted(node.func) or "").rpartition(".")[2]
        if name[:1].isupper() and "Dict" not in name:
            return False
    return any(_holds(child, names, load) for child in semantic_children(node))


def _names(target: cst.CSTNode) -> Iterator[str]:
    import libcst as cst

    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _names(element.value)
    elif isinstance(target, cst.Subscript):
        yield from _names(target.value)
    elif isinstance(target, (cst.Name, cst.Attribute)):
        yield _code(target)


def _key_of(node: cst.Subscript) -> str:
    import libcst as cst

    index = node.slice[0].slice if len(node.slice) == 1 else None
    key = index.value if isinstance(index, cst.Index) else None
    text = key.evaluated_value if isinstance(key, cst.SimpleString) else ""
    return text.lower() if isinstance(text, str) else ""


def _code(node: cst.CSTNode) -> str:
    from devlint.placement.syntax.nodes import code_of

    return code_of(node)
