"""The bodies of torch's own Python functions, entered with a function mode still on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import CodeType, FunctionType
from typing import Any

import torch
from torch._jit_internal import boolean_dispatched

_bodies: dict[CodeType, FunctionType | None] = {}


def body_of(func: FunctionType) -> FunctionType | None:
    """A Python function of torch whose first question, whether somebody overrides it, is about its arguments only.

    Called with the mode on, its body runs as the program's own code would: `x.device` answers the claim and
    factories take claimed devices. None for functions that ask in another way, which run with the mode off.
    """
    if (branches := boolean_dispatched.get(func)) is not None:
        return _choice(branches)
    code = func.__code__
    if code not in _bodies:
        _bodies[code] = None  # Until it is known: functions may call each other.
        _bodies[code] = _without_question(func)
    body = _bodies[code]
    if body is None or func.__closure__ == body.__closure__:
        return body
    return _rebuilt(func, body.__globals__)


def forget_bodies() -> None:
    """Their names are those of torch's modules as they were: what has been replaced there since is not in them."""
    _bodies.clear()


def _choice(branches: Mapping[str, Any]) -> FunctionType:
    """One of two functions by an argument (`F.max_pool2d` with `return_indices`)."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        at, name = branches["index"], branches["arg_name"]
        flag = args[at] if len(args) > at else kwargs.get(name, branches["default"])
        branch = branches["if_true" if flag else "if_false"]
        return (body_of(branch) or branch)(*args, **kwargs)

    assert isinstance(chosen, FunctionType)
    return chosen


def _without_question(func: FunctionType) -> FunctionType | None:
    asks = [name for name in func.__code__.co_names if name.startswith("has_torch_function")]
    if not asks or not all(name in func.__globals__ and name in _QUESTIONS for name in asks):
        return None
    names = {**func.__globals__, **{name: _QUESTIONS[name] for name in asks}}
    return _rebuilt(func, names | _helpers(func))


def _helpers(func: FunctionType) -> dict[str, FunctionType]:
    """The private functions that it calls, those that ask the same again: with a mode on they would call the public
    function, from which they were called, once more (`torch.functional._unique_impl` before torch 2.13)."""
    private = {name: func.__globals__.get(name) for name in func.__code__.co_names if name.startswith("_")}
    found = {name: body_of(helper) for name, helper in private.items() if type(helper) is FunctionType}
    return {name: body for name, body in found.items() if body is not None}


def overrides(arguments: Iterable[Any]) -> bool:
    """`torch.overrides.has_torch_function` without the modes: an argument of a class that answers by itself."""
    found = (getattr(type(argument), "__torch_function__", None) for argument in arguments)
    return any(override is not None and override not in _PLAIN for override in found)


_PLAIN = (torch.Tensor.__torch_function__, torch._C._disabled_torch_function_impl)
_QUESTIONS: dict[str, Callable[..., bool]] = {
    "has_torch_function": overrides,
    "has_torch_function_unary": lambda argument: overrides((argument,)),
    "has_torch_function_variadic": lambda *arguments: overrides(arguments),
}


def _rebuilt(func: FunctionType, names: dict[str, Any]) -> FunctionType:
    body = FunctionType(func.__code__, names, func.__name__, func.__defaults__, func.__closure__)
    body.__kwdefaults__ = func.__kwdefaults__
    return body
