"""Tensors that a module may take: of the sizes that its layers name or its file makes, then of usual ones."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from devlint.runtime.constructing import CannotBuild, annotation_of, required
from devlint.runtime.inputs import Input
from devlint.runtime.written_calls import written_shapes

if TYPE_CHECKING:
    from torch import nn

MOST_LAYERS = 6
"""Layers of a module whose sizes are tried."""

_USUAL: dict[str, tuple[Sizes, ...]] = {
    "float": ((2, 8), (2, 4, 8), (2, 8, 16, 16), (2, 8, 16), (2, 3, 32, 32), (2, 1, 28, 28), (2,), (8,), (2, 4, 4)),
    "integer": ((2, 4), (2,), (4,)),
    "bool": ((2, 4), (2, 4, 4), (2, 8)),
}
_DTYPES = {"float": "float32", "integer": "int64", "bool": "bool"}
_KIND_BY_NAME = (
    (re.compile(r"mask"), ("bool", "float", "integer")),
    (re.compile(r"ids|tokens|index|indices|labels?$|targets?$|lengths|timesteps?$"), ("integer", "float", "bool")),
)
_PLAIN = {"int": 2, "float": 0.5, "bool": False}

Sizes = tuple[int, ...]
Inputs = tuple[tuple[Any, ...], dict[str, Any]]
"""By position and by name: an `Input`, a list of them, or a plain value."""


def likely_inputs(cls: type[Any], model: nn.Module) -> Iterator[Inputs]:
    """Arguments of one call, the likeliest first."""
    return _combined(required(cls.forward), _shapes(cls, model))


def likely_arguments(function: Callable[..., Any]) -> Iterator[Inputs]:
    """Arguments of one call of a function that computes with tensors. Raises CannotBuild for any other one, since
    nobody knows what it does when it is called."""
    parameters = required(function, first=0)
    kinds = {name: annotation_of(parameter) for name, parameter in parameters}
    if not any("Tensor" in kind for kind in kinds.values()):
        raise CannotBuild("no argument of it is annotated as a tensor")
    for name, kind in kinds.items():
        if "Tensor" not in kind and kind not in _PLAIN:
            raise CannotBuild(f"it needs `{name}`")
    shapes: dict[str, list[Sizes]] = {kind: [] for kind in (*_USUAL, "first")}
    for kind, sizes in written_shapes(function):
        shapes[kind].append(sizes)
    return _combined(parameters, {kind: [*sizes, *_USUAL.get(kind, ())] for kind, sizes in shapes.items()})


def _combined(parameters: list[tuple[str, inspect.Parameter]], shapes: dict[str, list[Sizes]]) -> Iterator[Inputs]:
    choices = [_choices(name, parameter, shapes) for name, parameter in parameters]
    # Inputs of one shape are likelier than others, so they are tried first.
    together: Iterator[tuple[Any, ...]] = zip(*choices, strict=False) if choices else iter([()])
    for combined in itertools.chain(together, itertools.product(*choices)):
        given = list(zip(parameters, combined, strict=True))
        yield (
            tuple(value for (_, p), value in given if p.kind is not p.KEYWORD_ONLY),
            {name: value for (name, p), value in given if p.kind is p.KEYWORD_ONLY},
        )


def _choices(name: str, parameter: inspect.Parameter, shapes: dict[str, list[Sizes]]) -> list[Any]:
    kind = annotation_of(parameter)
    if kind in _PLAIN:
        return [_PLAIN[kind]]
    usual = ("integer", "float", "bool") if shapes["first"] else ("float", "integer", "bool")
    order = next((kinds for pattern, kinds in _KIND_BY_NAME if pattern.search(name)), usual)
    tensors = [Input(_DTYPES[each], sizes) for each in order for sizes in shapes[each]]
    if re.search(r"\b(list|sequence|tuple|iterable)\[", kind, re.IGNORECASE):
        return [[tensor, tensor] for tensor in tensors]
    absent = [None] if re.search(r"\bNone\b|\bOptional\b", kind) else []
    return [*absent, *tensors]


def _shapes(cls: type[Any], model: nn.Module) -> dict[str, list[Sizes]]:
    """Sizes by kind; under ``first``, something if the module begins with a table that is looked up."""
    from torch import nn

    found: dict[str, list[Sizes]] = {kind: [] for kind in (*_USUAL, "first")}
    for kind, sizes in written_shapes(cls):
        found[kind].append(sizes)
    layers = [
        layer
        for layer in model.modules()
        if not isinstance(layer, nn.ModuleList) and next(layer.parameters(False), None) is not None
    ]
    if layers and isinstance(layers[0], nn.Embedding | nn.EmbeddingBag):
        found["first"].append(())
    for layer in layers[:MOST_LAYERS]:
        found["float"] += _of_layer(layer)
    return {kind: list(dict.fromkeys((*sizes, *_USUAL.get(kind, ())))) for kind, sizes in found.items()}


def _of_layer(layer: nn.Module) -> list[Sizes]:
    """Sizes that a layer can take, by what it says of itself."""
    from torch import nn

    widths = (getattr(layer, name, None) for name in ("in_features", "input_size", "embed_dim"))
    width = next((width for width in widths if isinstance(width, int)), None)
    if width is not None:
        return [(2, width), (2, 4, width)]
    channels = getattr(layer, "in_channels", getattr(layer, "num_features", None))
    if isinstance(channels, int):
        flat: list[Sizes] = [(2, channels)] if isinstance(layer, nn.BatchNorm1d) else []
        return flat + _of_channels(channels, type(layer).__name__[-2:])
    shape = getattr(layer, "normalized_shape", None)
    if isinstance(shape, tuple):
        return [(2, *shape), (2, 4, *shape)]
    if type(layer).__module__.partition(".")[0] == "torch":
        return []
    own = [parameter.shape[-1] for parameter in layer.parameters(False) if parameter.dim()]
    return [*((2, size) for size in own), *((2, 4, size) for size in own)]


def _of_channels(channels: int, dimension: str) -> list[Sizes]:
    if dimension == "1d":
        return [(2, channels, 16)]
    if dimension == "3d":
        return [(2, channels, 8, 16, 16)]
    return [(2, channels, side, side) for side in (16, 32, 28, 64)]
