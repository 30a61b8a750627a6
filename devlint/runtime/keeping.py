"""The object that keeps a tensor as an attribute: whether it has it registered, and where the program put it there."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from functools import cache
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch

from devlint.runtime.frames import RawSpot, is_user_code


def is_kept_well(path: str, frame: FrameType | None) -> bool:
    """Whether ``self.x.table`` is kept by a Module that has it registered, or by an object that is no Module: it stays
    behind because nobody moved its keeper, and not because it was not registered."""
    keeper, name = _keeper(path, frame)
    if isinstance(keeper, torch.nn.Module):
        return name in keeper._parameters or name in keeper._buffers
    return keeper is not None


def kept_at(path: str, frame: FrameType | None) -> RawSpot | None:
    """The one assignment in the methods of its keeper's class that makes ``self.x.table`` the attribute that it is;
    None where there is none, or more than one."""
    keeper, name = _keeper(path, frame)
    if keeper is None:
        return None
    places = [
        (code, offset) for code in _methods(type(keeper)) for stored, offset in _assignments(code) if stored == name
    ]
    return places[0] if len(places) == 1 else None


def _keeper(path: str, frame: FrameType | None) -> tuple[Any, str]:
    """The object behind ``self.x``, and ``table``; None for what is no path of attributes that begins with ``self``."""
    value: Any = None if frame is None else frame.f_locals.get("self")
    if not path.startswith("self.") or "[" in path:
        return None, ""
    *between, name = path.split(".")[1:]
    for attribute in between:
        is_module = isinstance(value, torch.nn.Module)
        value = (value._modules if is_module else getattr(value, "__dict__", {})).get(attribute)
    return value, name


def _methods(cls: type[Any]) -> Iterator[CodeType]:
    """What the program has written of a class and its bases."""
    for base in cls.__mro__:
        for function in map(inspect.unwrap, vars(base).values()):
            if isinstance(function, FunctionType) and is_user_code(function.__code__.co_filename):
                yield function.__code__


@cache
def _assignments(method: CodeType) -> list[tuple[str, int]]:
    """Each ``self.name = ...``, with the offset of the instruction."""
    first = method.co_varnames[:1]
    found = []
    loaded: tuple[str, ...] | None = None
    for instruction in dis.get_instructions(method):
        if instruction.opname == "STORE_ATTR" and loaded == first:
            found.append((instruction.argval, instruction.offset))
        # Newer interpreters load two variables by one instruction: the receiver is the last.
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        loaded = names[-1:] if instruction.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else None
    return found
