"""The number of dimensions of a result: none, some, and how many at least."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.placement.domain.abstract_values import Argument, Constant, Container, Host, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.operations.encoded import is_encoded
from devlint.placement.operations.operands import Bound, dim_of
from devlint.semantics import Dim, Elements, Factory, Operation, Shape


def dimensions(operation: Operation, operands: Sequence[Bound], call: CallSite | None) -> tuple[Dim, int]:
    """Whether the result of an operation has dimensions, and how many at least."""
    dim = _dim(operation, operands, call)
    least = 0 if dim is Dim.ZERO else _least_dims(operation, operands, call)
    return (Dim.NONZERO if least and dim is Dim.UNKNOWN else dim), least


def least_dims(value: Value | None) -> int:
    """How many dimensions a value has at least, as far as they are counted."""
    if not isinstance(value, Tensor):
        return 0
    return max(value.least_dims, 1) if value.dim is Dim.NONZERO else value.least_dims


def _dim(operation: Operation, operands: Sequence[Bound], call: CallSite | None) -> Dim:
    may_have_two = operation.shape is not Shape.ZERO and dim_of(operands[0].value) is not Dim.ZERO
    if may_have_two and call is not None and _needs_two_dimensions(operation, call):
        return Dim.NONZERO
    match operation.shape:
        case Shape.ZERO:
            return Dim.ZERO
        case Shape.NONZERO:
            return Dim.NONZERO
        case Shape.SAME:
            given = bare_name(operation) in ALONG_A_DIMENSION
            return Dim.NONZERO if given else dim_of(operands[0].value)
        case Shape.REDUCTION:
            given = call is not None and (
                any(a.keyword in operation.reduced_by for a in call.arguments) or _positional_dim(operation, call)
            )
            if call is not None and _keeps_dimensions(call):
                return dim_of(operands[0].value)
            # Of rows of tokens, a named dimension leaves one.
            in_rows = given and dim_of(operands[0].value) is Dim.NONZERO and is_encoded(operands[0].value)
            in_rows = in_rows or (given and _is_of_a_batch(operands[0].node))
            return Dim.NONZERO if in_rows else Dim.UNKNOWN if given else Dim.ZERO
        case Shape.SQUEEZED:
            one = isinstance(operands[0].value, Tensor) and operands[0].value.elements is Elements.ONE
            named = call is None or _positional_dim(operation, call) or call.keyword("dim") is not None
            return Dim.ZERO if one and not named else Dim.UNKNOWN
        case Shape.BROADCAST:
            dims = {dim_of(b.value) for b in operands}
            if Dim.NONZERO in dims:
                return Dim.NONZERO
            return Dim.ZERO if dims == {Dim.ZERO} else Dim.UNKNOWN
        case _:
            return _dim_by_equation(operation, call) or _dim_by_size(operation, call)


def _is_of_a_batch(node: cst.CSTNode) -> bool:
    """``batch["scores"].argmax(-1)``: what is kept under a written key has a row for each sample, by convention."""
    if not isinstance(node, cst.Subscript) or len(node.slice) > 1:
        return False
    key = node.slice[0].slice
    return isinstance(key, cst.Index) and isinstance(key.value, cst.SimpleString)


ALONG_A_DIMENSION = frozenset({"topk", "sort", "argsort", "cumsum", "cumprod", "gather", "flip", "roll"})
"""Operations along a dimension: torch takes a tensor without one as well, but nobody sorts a number."""


def bare_name(operation: Operation) -> str:
    """The name that a method and a function of torch share."""
    return operation.name.removeprefix("Tensor.").removeprefix("torch.")


def _needs_two_dimensions(operation: Operation, call: CallSite) -> bool:
    """``dim=1``, ``x.argmax(1)``: the tensor has a second dimension, so one at least is left of them."""
    given = call.argument("dim", _position_of_dim(operation, call))
    value = given.value.value if given is not None and isinstance(given.value, Constant) else None
    return isinstance(value, int) and not isinstance(value, bool) and (value >= 1 or value <= -2)


def _keeps_dimensions(call: CallSite) -> bool:
    """``keepdim=True``: as many dimensions as before."""
    given = call.keyword("keepdim")
    return given is not None and isinstance(given.value, Constant) and given.value.value is True


def _dim_by_equation(operation: Operation, call: CallSite | None) -> Dim | None:
    """``einsum("i,j->ij", a, b)``: the dimensions that the equation names behind its arrow; None where it has none."""
    if call is None or all(p.name != "equation" for p in operation.parameters):
        return None
    given = call.argument("equation", 0)
    equation = given.value.value if given is not None and isinstance(given.value, Constant) else None
    if not isinstance(equation, str) or "->" not in equation:
        return None
    named = equation.partition("->")[2].strip()
    return Dim.NONZERO if any(map(str.isalpha, named)) else None if named else Dim.ZERO


def _dim_by_size(operation: Operation, call: CallSite | None) -> Dim:
    """``view(1, -1)``, ``reshape(n)``, ``expand(...)``: one dimension per size argument."""
    if call is None or not any(p.name in ("size", "shape", "repeats", "dims") for p in operation.parameters):
        return Dim.UNKNOWN
    method = operation.name.startswith("Tensor.")
    sizes = call.positional if method else call.positional[1:]
    if any(a.star == "*" for a in call.arguments):
        # ``view(*x.shape, 2, 2)``: the last sizes are there; an unpacked shape is assumed to have dimensions.
        return Dim.NONZERO
    if not sizes or (isinstance(sizes[0].value, Container) and not sizes[0].value.items):
        return Dim.UNKNOWN
    return Dim.NONZERO if isinstance(sizes[0].value, (Constant, Host, Container)) or len(sizes) > 1 else Dim.UNKNOWN


def _positional_dim(operation: Operation, call: CallSite) -> bool:
    skip = 0 if operation.name.startswith("Tensor.") else 1
    return len(call.positional) > skip or call.unpacks


_AS_MANY = frozenset(
    {
        "cat", "concat", "concatenate", "chunk", "cummax", "cummin", "cumprod", "cumsum", "flip", "gather",
        "index_select", "masked_fill", "narrow", "roll", "sort", "split", "take_along_dim", "topk", "tril", "triu",
        "index_add", "index_copy", "index_fill", "repeat_interleave", "scatter", "scatter_add", "softmax",
        "log_softmax", "unflatten",
    }
)  # fmt: skip
"""Operations whose results have as many dimensions as the first operand, where the tables do not say so."""

_ONE_MORE = frozenset({"stack", "unsqueeze", "one_hot", "diag_embed"})
_ONE_LESS = frozenset({"select", "unbind", "diagonal"})
_OF_VALUES = frozenset({"max", "min", "median", "nanmedian", "mode", "kthvalue", "logsumexp", "cumulative_trapezoid"})
"""Reductions along the dimension that is named first."""


def _least_dims(operation: Operation, operands: Sequence[Bound], call: CallSite | None) -> int:
    name = bare_name(operation).removeprefix("nn.functional.")
    first = least_dims(operands[0].value)
    if name in _ONE_MORE:
        return first + 1
    if name in _ONE_LESS:
        return max(first - 1, 0)
    if name in _AS_MANY or operation.shape is Shape.SAME:
        return max(least_dims(b.value) for b in operands) if name.startswith("c") else first
    if name == "meshgrid":
        return len(operands)
    if name in ("mm", "bmm"):
        return 3 if name == "bmm" else 2
    if operation.shape is Shape.BROADCAST:
        return max(least_dims(b.value) for b in operands)
    if call is None:
        return 0
    if name in ("squeeze", *_OF_VALUES) or operation.shape is Shape.REDUCTION:
        kept = name != "squeeze" and _keeps_dimensions(call)
        return first if kept and first else max(first - _named_dimensions(operation, call), 0)
    if name in ("view", "reshape", "expand", "repeat", "permute"):
        return _sizes(call, call.positional if operation.name.startswith("Tensor.") else call.positional[1:])
    return 0


_ALL = 64
"""More dimensions than any tensor has: all of them are taken away."""


def _named_dimensions(operation: Operation, call: CallSite) -> int:
    """How many dimensions ``dim=...`` names: one where it is a number, all where it is not known."""
    given = call.argument("dim", _position_of_dim(operation, call))
    value = given.value if given is not None else None
    if isinstance(value, Constant) and type(value.value) is int:
        return 1
    if isinstance(value, Container) and value.rest is None and value.items:
        return len(value.items)
    return _ALL


def _position_of_dim(operation: Operation, call: CallSite) -> int:
    """Where ``dim`` stands among the arguments that are passed by position."""
    parameters = [parameter for parameter in operation.parameters if not parameter.keyword_only]
    if operation.name.startswith("Tensor."):
        parameters = parameters[1:]
    positions = (i for i, parameter in enumerate(parameters) if "dim" in (parameter.name, *parameter.also))
    return next(positions, len(call.positional))


def _sizes(call: CallSite, sizes: Sequence[Argument]) -> int:
    """How many sizes are given: ``view(n, -1)``, ``view((n, -1))``."""
    if any(argument.star for argument in call.arguments):
        return sum(not argument.star for argument in sizes)
    if len(sizes) == 1 and not isinstance(sizes[0].value, Constant):
        held = sizes[0].value
        return len(held.items) if isinstance(held, Container) else 0
    return len(sizes)


# -- factories ---------------------------------------------------------------------------------------------------

_MATRICES = (".triu_indices", ".tril_indices", ".eye")
"""Factories whose results always have two dimensions."""

_OF_NUMBERS = (".zeros", ".ones", ".empty", ".rand", ".randn")
"""``torch.zeros(2, 3)``: the size is written as so many arguments."""


def dims_by_size(factory: Factory, call: CallSite, size: Value | None) -> int:
    """How many dimensions what a factory makes has at least, by the size that it is given."""
    if factory.name.endswith(_MATRICES):
        return 2
    if isinstance(size, Container):
        return len(size.items)
    return _sizes(call, call.positional) if factory.name.endswith(_OF_NUMBERS) and size is not None else 0


def dims_of_data(data: Value | None) -> int:
    """How many dimensions a tensor has at least that is made of this: as deep as lists are nested."""
    if isinstance(data, Tensor):
        return data.least_dims
    if not isinstance(data, Container):
        return 0
    first = data.items[0] if data.items else data.rest
    return 1 + (dims_of_data(first) if isinstance(first, Container) else 0)
