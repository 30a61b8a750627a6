"""What calling a Module of the project gives, by what its ``forward`` returns: a tensor, several, or none.

All of it is taken to be where the Module and its inputs are: a tuple is a tuple of what is there.
"""

from __future__ import annotations

from devlint.placement.domain.abstract_values import Container, Host, Opaque, Tensor, Value
from devlint.records import replace


def as_returned(result: Opaque, returned: Value | None) -> Value:
    """``result`` says where it is, and ``returned`` what ``forward`` gives: None while that is not known."""
    match returned:
        case Container(items=items, rest=rest) if items or rest is not None:
            parts = tuple(_part(result, item) for item in items)
            return replace(returned, items=parts, rest=None if rest is None else _part(result, rest))
        case Host():
            return replace(result, tensorlike=False)
        case _:
            return result


def _part(result: Opaque, value: Value) -> Value:
    if isinstance(value, Container):
        return as_returned(result, value)
    if isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike):
        return result
    return value if isinstance(value, Host) and not value.numpy else replace(result, tensorlike=False)
