"""The tensors of a call: what moves with a module, what is reachable from arguments, and what stays behind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree
from torch.utils.data import DataLoader, Dataset, Sampler

DEPTH = 12
"""How many objects and containers deep tensors are looked for: an operator made of operators keeps them in tuples."""

_MOST = 20_000
"""Objects that are looked into for one call."""

FIXED = (str, bytes, int, float, complex, bool, type(None), type, ModuleType, torch.device, torch.dtype)
"""What nobody hands over with tensors in it: a module of Python that an object remembers is everybody's."""
_MOVERS = ("_apply", "to", "cuda")
_DEVICE_NAMES = frozenset(("device", "_device"))
_OF_TORCH = frozenset(vars(nn.Module()))
_ON_THE_HOST = (Dataset, DataLoader, Sampler)
"""What they hold stays on the host, whoever uses them: batches are moved, not the data."""


def tensors_in(
    *values: Any,
    holders: list[dict[str, Any]] | None = None,
    data: bool = False,
    is_unmoved: Callable[[Any], bool] = lambda value: False,
) -> Iterator[torch.Tensor]:
    """Every tensor reachable from the values: through pytrees, dataclasses, ``__dict__``, and what functions hold.

    ``holders`` is given the attributes of the objects on the way, but for Modules, that remember a device. ``data``:
    what data sets hold as well. Objects that stay where they were built keep what they remember.
    """
    on_the_host = () if data else _ON_THE_HOST
    seen: set[int] = set()
    level = list(values)
    for _ in range(DEPTH + 1):
        following: list[Any] = []
        for value in level:
            if id(value) in seen or isinstance(value, FIXED):
                continue
            seen.add(id(value))
            if isinstance(value, torch.Tensor):
                yield value
            elif is_unmoved(value):
                yield from all_in(value, data=data)
            elif isinstance(value, nn.Module):
                yield from of_module(value)
                following += _given_to(value)
            elif not isinstance(value, on_the_host) and not is_own(value):
                if holders is not None and not _DEVICE_NAMES.isdisjoint(held := _attributes(value)):
                    holders.append(held)
                following += _parts(value)
        level = following[: max(0, _MOST - len(seen))]


def all_in(value: Any, data: bool = False) -> Iterator[torch.Tensor]:
    """Every tensor that an object holds, plain ones of Modules included."""
    if isinstance(value, nn.Module):
        if "_modules" not in vars(value):
            return  # it is being built, and holds nothing yet
        yield from tensors_in(value, data=data)
        yield from (tensor for part in value.modules() for _, tensor in kept_plainly(part))
    else:
        yield from tensors_in(*_parts(value), data=data)


def objects_in(value: Any) -> Iterator[Any]:
    """The value and the objects and containers below it."""
    seen: set[int] = set()
    level = [value]
    for _ in range(DEPTH + 1):
        following: list[Any] = []
        for each in level:
            if id(each) not in seen and not isinstance(each, (*FIXED, torch.Tensor)) and not is_own(each):
                seen.add(id(each))
                yield each
                following += list(each.children()) if isinstance(each, nn.Module) else _parts(each)
        level = following[: max(0, _MOST - len(seen))]


def of_module(module: nn.Module) -> Iterator[torch.Tensor]:
    """What ``Module.to`` moves: parameters, buffers, gradients - and what overridden ``_apply`` and ``to`` may move.

    The gradient of a buffer does not move, but whoever put it there did so where the buffer was.
    """
    own = [*module.parameters(), *module.buffers()]
    yield from own
    yield from (each.grad for each in own if each.is_leaf and each.grad is not None)
    for part in module.modules():
        if moves_by_itself(part):
            yield from (tensor for _, tensor in kept_plainly(part))


def _given_to(module: nn.Module) -> list[Any]:
    """The objects that its parts keep, and that are no tensors: whoever made them made them where the module is to be.

    A tensor that a part itself keeps, or in lists and tuples however deep, stays behind: see `kept_plainly`.
    """
    found: list[Any] = []
    for part in module.modules():
        for name, value in vars(part).items():
            if name in _OF_TORCH or isinstance(value, FIXED):
                continue
            if isinstance(value, Mapping):
                value = list(value.values())
            if isinstance(value, (set, frozenset)):
                value = list(value)
            values = pytree.tree_leaves(value) if isinstance(value, (list, tuple)) else [value]
            found += [each for each in values if not isinstance(each, (torch.Tensor, nn.Module, *FIXED))]
    return found


def is_given_tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call is handed tensors, or is one of an object that keeps some: it can tell where they are.

    What a method of a Module makes without being handed any is for its caller to move.
    """
    own = _attributes(args[0]) if args and not isinstance(args[0], nn.Module | type) else {}
    return any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves((args, kwargs, list(own.values()))))


def devices_kept(attributes: dict[str, Any], device: torch.device) -> list[str]:
    """The attributes by which an object remembers this device for all that it makes."""
    same = (device, str(device))
    return [
        name
        for name in _DEVICE_NAMES
        if isinstance(attributes.get(name), (torch.device, str)) and attributes[name] in same
    ]


def moves_by_itself(module: nn.Module) -> bool:
    """Whether the class has its own way of moving, which may know about plain attributes."""
    for name in _MOVERS:
        defined = getattr(type(module), name, None)
        if getattr(defined, "__module__", "torch").partition(".")[0] != "torch":
            return True
    return False


def kept_plainly(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Plain tensors that a module itself holds, with the attribute's name, also in lists and dicts."""
    for name, value in vars(module).items():
        if name in _OF_TORCH or isinstance(value, (*FIXED, nn.Module)):
            continue
        if isinstance(value, torch.Tensor):
            yield name, value
        elif isinstance(value, (list, tuple, dict, set)):
            for leaf in pytree.tree_leaves(list(value) if isinstance(value, set) else value):
                if isinstance(leaf, torch.Tensor):
                    yield name, leaf


def is_own(value: Any) -> bool:
    """Whether it is devlint's: what a lifted function holds besides itself is no object of the program."""
    return str(type(value).__module__).startswith("devlint.")


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object; none of one that has no dictionary of them, or shows it to nobody."""
    try:
        held = value.__dict__
    except Exception:
        return {}
    return held if isinstance(held, dict) else {}


def _parts(value: Any) -> list[Any]:
    """What an object holds; nothing where it does not let itself be looked into."""
    if isinstance(value, nn.utils.rnn.PackedSequence):
        # Its batch sizes stay on the CPU wherever its data goes: torch/nn/utils/rnn.py.
        return [value.data, value.sorted_indices, value.unsorted_indices]
    for kind in (dict, list, tuple, set, frozenset):
        if isinstance(value, kind):
            # What a class of the program makes of its iteration or its length is another matter.
            held: Any = dict.values if kind is dict else kind.__iter__
            return [*held(value)]
    try:
        return _parts_of_object(value)
    except Exception:
        return []


def _parts_of_object(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    leaves, spec = pytree.tree_flatten(value)
    if not spec.is_leaf():
        return list(leaves)
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__self__]
    if isinstance(value, FunctionType):
        return [*_held_by(value), *(value.__defaults__ or ())]
    if callable(value) and isinstance(value, type | BuiltinFunctionType):
        return []
    return list(_attributes(value).values())


def _held_by(function: FunctionType) -> list[Any]:
    """What a function that is handed over has taken from around it; its globals are nobody's argument."""
    found = []
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a cell that nothing was put into yet
            found.append(cell.cell_contents)
    return found
