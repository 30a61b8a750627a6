"""What calling a Module of the project gives, by what its ``forward`` returns: a tensor, several, or none.

All of it is taken to be where the Module and its inputs are: a tuple is a tuple of what is there. What ``forward`` is
seen to leave on the CPU is there.
"""

from __future__ import annotations

from collections.abc import Callable

from devlint.placement.domain.abstract_values import Container, Host, Opaque, Tensor, Value
from devlint.placement.domain.lattice import CPU
from devlint.records import replace
from devlint.semantics import Dim


def as_returned(result: Opaque, returned: Value | None, left: Callable[[Tensor], Value]) -> Value:
    """``result`` says where it is, and ``returned`` what ``forward`` gives: None while that is not known.

    ``left`` gives what the caller gets of a tensor in a tuple that ``forward`` made on the CPU.
    """
    match returned:
        case Container(items=items, rest=rest) if items or rest is not None:
            parts = tuple(_part(result, item, left) for item in items)
            return replace(returned, items=parts, rest=None if rest is None else _part(result, rest, left))
        case Host():
            return replace(result, tensorlike=False)
        case _:
            return result


def _part(result: Opaque, value: Value, left: Callable[[Tensor], Value]) -> Value:
    if isinstance(value, Container):
        return as_returned(result, value, left)
    if isinstance(value, Tensor) and value.device == CPU and value.dim is Dim.NONZERO:
        # A number may stand for what another decoder gives (fixture `parts_left_by_forward`).
        return left(value)
    if isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike):
        return result
    return value if isinstance(value, Host) and not value.numpy else replace(result, tensorlike=False)
