"""Which calls move a module that goes by some name: what the rules about the order of moves share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.drafts.wording import code_of
from devlint.placement.domain.abstract_values import Constant, Container, Reference, Tensor
from devlint.placement.domain.lattice import CPU

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.domain.events import Called, Moved

METHODS = frozenset({".to", ".cuda", ".xpu", ".npu", ".mps", ".hpu", ".cpu", ".to_empty"})


def moved_names(event: Called, moved: Moved | None) -> tuple[str, ...]:
    """What the call moves, in the source's words, that of a wrapper (`DataParallel(net).cuda()`) included; else ().

    ``moved`` is the transfer of the same node, which a transfer of ``self`` does not have.
    """
    import libcst as cst

    function = event.call.node.func
    if event.name not in METHODS or not isinstance(function, cst.Attribute):
        return ()
    if isinstance(event.receiver, (Tensor, Container)) or not _goes_somewhere(event, moved):
        return ()
    receiver = function.value
    if isinstance(receiver, cst.Call) and receiver.args:
        inner = receiver.args[0].value
        if isinstance(inner, (cst.Name, cst.Attribute)):
            return (code_of(receiver), code_of(inner))
    return (code_of(receiver),)


def _goes_somewhere(event: Called, moved: Moved | None) -> bool:
    if moved is not None:
        return moved.moves
    if event.name != ".to":
        return True
    given = event.call.keyword("device") or (event.call.positional[0] if event.call.positional else None)
    if given is None or isinstance(given.value, Reference):
        return False
    return "dtype" not in code_of(given.node)


def goes_to_cpu(event: Called, moved: Moved | None) -> bool:
    if event.name == ".cpu":
        return True
    if moved is not None:
        return moved.target == CPU
    given = event.call.positional[:1]
    return bool(given) and isinstance(given[0].value, Constant) and given[0].value.value == "cpu"


def is_part(text: str, whole: str) -> bool:
    """Whether `net.encoder` is a part of `net`, or the same."""
    return text == whole or text.startswith((f"{whole}.", f"{whole}["))


def mentions(node: cst.CSTNode | None, name: str) -> bool:
    """Whether an expression is about what a name held before."""
    import libcst as cst

    from devlint.placement.syntax.nodes import descend

    if node is None:
        return False
    kind = cst.Attribute if "." in name else cst.Name
    return any(type(child) is kind and code_of(child) == name for child in descend(node))
