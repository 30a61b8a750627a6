"""Arguments for functions nobody said anything about: several for each parameter, by name, type and default.

More than ``devlint confirm --auto`` dares: here a wrong guess costs a trial, and what raises is thrown away.
"""

from __future__ import annotations

import inspect
import itertools
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from devlint.runtime.inputs import Input

SIZE = 8
_SHAPES = ((2, 8), (8, 8), (2, 4, 8), (8,), (2, 8, 16, 16), (2, 3, 32, 32), (2, 8, 16), (2,), (2, 1, 28, 28), (1, 8))
_NUMBERS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    (r"kernel|window|patch", (3,)),
    (r"stride|dilation|groups|padding|order|degree", (1, 2)),
    (r"layer|depth|block|head|stage|repeat|expert|steps?$|iter|epoch|scales?$", (2, 1)),
    (r"lr$|eps|alpha|beta|gamma|sigma|drop|rate|ratio|prob|temp|momentum|decay|std|scale|tol|weight$|lambda", (0.5,)),
    (r"dim|size|feature|channel|hidden|width|height|vocab|class|units|embed|^num|^n_|_n$|^n$|^d_|^d$|^k$|_in$|_out$"
     r"|length|len$|state|^in_|^out_|max|count|rank|degree|samples|batch|nodes|points", (SIZE, 2, 4)),
)  # fmt: skip
_INTEGERS = re.compile(r"ids?$|tokens|ind(ex|ices)|idx|labels?$|targets?$|lengths|timesteps?$|edge|^t$")
_MASKS = re.compile(r"mask")
_TENSORS = re.compile(
    r"^(x|y|z|u|v|q|k|h|s|a|b|inputs?|data|tensor|features?|images?|points?|values?|pred\w*|target\w*|logits)$"
)
_FUNCTIONS = re.compile(r"activation|^act$|^f$|^fn$|func|callable|callback|criterion|loss|norm_layer|^g$")
_MODULES = re.compile(r"model|module|^net|network|encoder|decoder|backbone|layer|teacher|student|head$")
_LOADERS = re.compile(r"loader$|^dl$|dataset|batches")


@dataclass(frozen=True)
class Here:
    """Where the program is to work: the CPU while calls are tried, the accelerator after that."""

    as_text: bool = False


@dataclass(frozen=True)
class Made:
    """Something that has to be new for each call."""

    make: Callable[[], Any]


def made(value: Any, device: torch.device) -> Any:
    """An argument for one call, what consists of tensors on ``device``."""
    match value:
        case Input():
            return value.make(torch.Generator().manual_seed(0)).to(device)
        case Here(as_text):
            return str(device) if as_text else device
        case Made(make):
            new = make()
            return new.to(device) if isinstance(new, nn.Module) else new
        case list() | tuple():
            return type(value)(made(part, device) for part in value)
    return value


def choices(function: Any, skip: int, owner: Any = None, most: int = 300) -> Iterator[dict[str, Any]]:
    """Arguments by name for the parameters without a default, and for devices; those of one rank are tried first."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        return
    types = _types(function)
    wanted = [
        parameter
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and (parameter.default is parameter.empty or (_is_device(parameter.name) and parameter.default is not None))
    ]
    sizes = _sizes(owner)
    columns = [_of_parameter(parameter, types.get(parameter.name, parameter.annotation), sizes) for parameter in wanted]
    names = [parameter.name for parameter in wanted]
    longest = max(map(len, columns), default=1)
    together = (tuple(column[min(row, len(column) - 1)] for column in columns) for row in range(longest))
    for row in itertools.islice(itertools.chain(together, itertools.product(*columns)), most):
        yield dict(zip(names, row, strict=True))


def keyword_wanted(function: Any, error: KeyError, given: dict[str, Any]) -> dict[str, Any] | None:
    """One more argument for a function that looked a key up in its ``**kwargs`` and did not find it."""
    name = error.args[0] if error.args else None
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    if not isinstance(name, str) or name in given or inspect.Parameter.VAR_KEYWORD not in kinds:
        return None
    return {name: Here() if _is_device(name) else _of_name(name, [])[0]}


def _types(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # names that only a type checker imports
        return {}


def _is_device(name: str) -> bool:
    return name == "device" or name.endswith("_device")


def _sizes(owner: Any) -> list[int]:
    """Widths that an object says of itself or of its parameters."""
    found = [value for value in vars(owner).values() if type(value) is int and 0 < value < 512] if owner else []
    if isinstance(owner, nn.Module):
        found += [size for parameter in list(owner.parameters())[:6] for size in parameter.shape[::-1][:2]]
    return list(dict.fromkeys(size for size in found if size not in (1, SIZE)))[:4]


def _of_parameter(parameter: inspect.Parameter, annotation: Any, sizes: list[int]) -> list[Any]:
    name = parameter.name
    text = "" if annotation is parameter.empty else str(getattr(annotation, "__name__", annotation))
    text = str(annotation) if "[" in str(annotation) else text
    options = typing.get_args(annotation)
    if _is_device(name) or "device" in text:
        return [Here(as_text=text == "str" or isinstance(parameter.default, str))]
    if typing.get_origin(annotation) is typing.Literal:
        return list(options)
    if "dtype" in name or "dtype" in text:
        return [torch.float32]
    known = _of_type(text, name, sizes)
    if type(None) in options or text.startswith("Optional") or "None" in text:
        known = [*known, None]
    if known:
        return known
    if text and isinstance(annotation, type) and annotation.__module__ not in ("builtins", "torch", "typing"):
        return [Made(lambda: _instance(annotation))]
    return _of_name(name, sizes)


def _of_type(text: str, name: str, sizes: list[int]) -> list[Any]:
    if re.search(r"(list|sequence|tuple|iterable)\[", text, re.IGNORECASE):
        if "Tensor" in text:
            return [[tensor, tensor] for tensor in _tensors(name, sizes)]
        if "Module" in text:
            return [Made(lambda: [nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)])]
        return [[0.5, 0.5]] if "float" in text else [["a", "b"]] if "str" in text else [[SIZE, SIZE], [2, 2], (2, 4, 4)]
    if "Tensor" in text:
        return _tensors(name, sizes)
    if "Callable" in text:
        return [torch.relu]
    if "Module" in text:
        return [Made(lambda: nn.Linear(SIZE, SIZE))]
    plain: dict[str, list[Any]] = {
        "int": [*_number(name, (SIZE,)), *sizes], "float": [0.5], "bool": [False, True], "str": ["a"], "dict": [{}],
        "Path": ["a"], "list": [[SIZE, SIZE], []], "tuple": [(SIZE, SIZE)], "Generator": [torch.Generator()],
    }  # fmt: skip
    return next((values for key, values in plain.items() if re.search(rf"\b{key}\b", text)), [])


def _of_name(name: str, sizes: list[int]) -> list[Any]:
    if _TENSORS.search(name):
        return _tensors(name, sizes)
    if _LOADERS.search(name):
        return [Made(lambda: [(torch.randn(2, SIZE), torch.zeros(2, dtype=torch.long))])]
    if _FUNCTIONS.search(name):
        return [torch.relu, Made(nn.ReLU), *_tensors(name, sizes)]
    if _MODULES.search(name) and not _number(name, ()):
        return [Made(lambda: nn.Linear(SIZE, SIZE))]
    return [*_number(name, ()), *_tensors(name, sizes), SIZE, False, "a"]


def _number(name: str, otherwise: tuple[Any, ...]) -> list[Any]:
    return list(next((numbers for pattern, numbers in _NUMBERS if re.search(pattern, name)), otherwise))


def _tensors(name: str, sizes: list[int]) -> list[Any]:
    shapes = [*((2, size) for size in sizes), *((2, 4, size) for size in sizes), *((size, size) for size in sizes)]
    shapes = [*_SHAPES[:3], *shapes, *_SHAPES[3:]]
    if _MASKS.search(name):
        return [Input("bool", shape) for shape in shapes]
    if _INTEGERS.search(name):
        return [*(Input("int64", shape) for shape in ((2,), (2, 4), (2, 8), (8,))), Input("float32", (2, SIZE))]
    return [Input("float32", shape) for shape in shapes]


def _instance(cls: type[Any]) -> Any:
    """The first object of a class that can be made. Raises ValueError where none can."""
    for arguments in choices(cls.__init__, 1, most=20):
        try:
            return cls(**{name: made(value, torch.device("cpu")) for name, value in arguments.items()})
        except Exception:  # whatever a constructor says to a guess
            continue
    raise ValueError(f"no {cls.__name__} can be made")
