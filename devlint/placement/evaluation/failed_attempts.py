"""What an exception says of a value: ``except AttributeError`` after ``x.cpu()``, which every tensor has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import libcst as cst

from devlint import semantics
from devlint.placement.domain.abstract_values import Host
from devlint.placement.syntax.nodes import descend, is_name

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


@contextmanager
def without_attributes(
    interp: Interpreter, attempt: cst.BaseSuite, handler: cst.ExceptHandler | cst.ExceptStarHandler
) -> Iterator[None]:
    """Within, what a handler of AttributeError deals with is no tensor (fixture `converted_if_it_can_be`)."""
    name = _asked(attempt) if handler.type is not None and is_name(handler.type, "AttributeError") else ""
    known = interp.state.values.get(name)
    if known is None:
        yield
        return
    none = Host()
    interp.state.values[name] = none
    yield
    if interp.env is not None and interp.env.values.get(name) is none:
        interp.env.values[name] = known


def _asked(attempt: cst.BaseSuite) -> str:
    """The one name of whose attributes an attempt reads, if all of them are a tensor's; else empty."""
    read = [node for node in descend(attempt) if isinstance(node, cst.Attribute)]
    roots = {_root(node) for node in read}
    tensors = all(node.attr.value == "numpy" or semantics.method(node.attr.value) is not None for node in read)
    return roots.pop() if len(roots) == 1 and tensors else ""


def _root(node: cst.BaseExpression) -> str:
    """``x`` of ``x.detach().cpu()``."""
    while isinstance(node, (cst.Attribute, cst.Call)):
        node = node.value if isinstance(node, cst.Attribute) else node.func
    return node.value if isinstance(node, cst.Name) else ""
