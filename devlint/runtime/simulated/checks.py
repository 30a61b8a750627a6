"""Checks PyTorch makes in C++ before anything is dispatched: recurrent layers, meshgrid, `.grad =`, assignments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import torch

from devlint.runtime.judging import judge_named
from devlint.runtime.labels import of_this_machine
from devlint.runtime.simulated.errors import clash_error, generator_text
from devlint.runtime.simulated.machine import Machine
from devlint.runtime.simulated.transfers import copied_to
from devlint.semantics import Operation, Rule, function, method, tables

Tensor = torch.Tensor


@cache
def checked_functions() -> dict[Any, Operation]:
    """Functions whose own check, or whose argument read on the host, the dispatcher no longer sees."""
    return _functions(_may_be_checked)


@cache
def writing_functions() -> dict[Any, Operation]:
    """Functions that take `out=`. A composite compares it in C++ and then copies into it, which the dispatcher sees."""
    return _functions(lambda row: "out" in row.get("parameters", "").split())


def _functions(wanted: Callable[[tables.Row], bool]) -> dict[Any, Operation]:
    found: dict[Any, Operation] = {}
    for table in ("operations", "operations_by_hand"):
        for name, row in tables.rows(table).items():
            if not (isinstance(row, dict) and wanted(row)):
                continue
            said = method(name.removeprefix("Tensor.")) if name.startswith("Tensor.") else function(name)
            if isinstance(said, Operation):
                owner: Any = Tensor if name.startswith("Tensor.") else torch
                for part in name.split(".")[1:]:
                    owner = getattr(owner, part, None)
                if callable(owner):
                    found[owner] = said
    return found


def _may_be_checked(row: tables.Row) -> bool:
    return row.get("rule") == Rule.OWN_CHECK.value or "cpu_arguments" in row or row.get("clash") == "own_check"


def check(machine: Machine, operation: Operation, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise what CUDA raises when the operands of such a function may not meet."""
    named = list(named_operands(operation, args, kwargs))
    if len(named) < 2 and not operation.cpu_arguments:
        return
    meeting = judge_named(operation, named, machine.device_of)
    if meeting.clash is not None:
        raise clash_error(func, meeting, meeting.clash)


def check_out(machine: Machine, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise what CUDA raises when `out=` is not where the result is."""
    operation = writing_functions().get(func)
    if operation is None or not isinstance(kwargs["out"], Tensor):
        return
    meeting = judge_named(operation, list(named_operands(operation, args, kwargs)), machine.device_of)
    clash = meeting.clash
    if clash is not None and "out" in [meeting.roles[i] for i in (clash.operand, clash.other) if i is not None]:
        raise clash_error(func, meeting, clash)


def check_generator(machine: Machine, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """A generator has the device type of the tensor it fills; its index is not compared."""
    generator = kwargs["generator"]
    first = next((value for value in args if isinstance(value, Tensor)), None)
    if generator is None or first is None:
        return
    place = machine.device_of(first)
    if generator.device.type != place.type:
        raise RuntimeError(generator_text(place, generator.device))


def named_operands(operation: Operation, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tensors of a call of a function with the names of their parameters."""
    positional = [p.name for p in operation.parameters if not p.keyword_only] or ["input"]
    pairs = [(positional[min(i, len(positional) - 1)], value) for i, value in enumerate(args)]
    for role, value in (*pairs, *kwargs.items()):
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, Tensor):
                yield role, item


def recurrent(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`torch.lstm` and its kin. Source: check_attributes in ATen's RNN.cpp."""
    hidden_at = 2 if _is_packed(args) else 1
    place = machine.device_of(args[0])
    for which, value in (("hidden", args[hidden_at]), ("parameter", args[hidden_at + 1])):
        for tensor in value if isinstance(value, list | tuple) else (value,):
            there = machine.device_of(tensor)
            if there != place:
                raise RuntimeError(
                    f"Input and {which} tensors are not at the same device, found input tensor at {place} and "
                    f"{which} tensor at {there}"
                )
    return func(*args, **kwargs)


def _is_packed(args: Sequence[Any]) -> bool:
    """The packed form has batch sizes between data and hidden state, and so lists its weights one later."""
    return len(args) > 3 and isinstance(args[3], list | tuple)


def set_grad(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensor, grad = args[0], args[1]
    if isinstance(grad, Tensor):
        here, there = machine.device_of(tensor), machine.device_of(grad)
        if here.type != there.type:
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{there.type}' to a tensor with device type "
                f"'{here.type}'. Please ensure that the gradient and the tensor are on the same device"
            )
        if here != there:
            raise RuntimeError(
                f"attempting to assign a gradient located on device with index {there.index} to a tensor located on "
                f"device with index {here.index}. Please ensure that the gradient and the tensor are on the same "
                "device"
            )
    return func(*args, **kwargs)


def copy_(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A copy between devices sends its gradient back to where the source is."""
    source = args[1] if len(args) > 1 else kwargs.get("src")
    if isinstance(source, Tensor) and source.requires_grad and len(args) > 1:
        args = (args[0], _beside(machine, args[0], source), *args[2:])
    return func(*args, **kwargs)


def setitem(machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`x[...] = v` with ints and slices is a copy; a tensor index leaves it to the dispatcher's rule."""
    subject, index, value = args
    parts = index if isinstance(index, tuple) else (index,)
    by_tensor = any(isinstance(p, Tensor | list) and not (isinstance(p, Tensor) and p.dim() == 0) for p in parts)
    if isinstance(value, Tensor) and value.requires_grad and (not by_tensor or value.dim() == 0):
        value = _beside(machine, subject, value)
    return func(subject, index, value)


def _beside(machine: Machine, target: Tensor, source: Tensor) -> Tensor:
    place = machine.device_of(target)
    return source if machine.device_of(source) == place else copied_to(source, place)


def watched_apply(machine: Machine, true_apply: Any) -> Callable[..., Any]:
    """`Function.apply` with the engine's check that each gradient comes back on its input's device.

    Source: validate_outputs in torch/csrc/autograd/engine.cpp, which moves 0-dim gradients itself.
    """

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        out = true_apply.__func__(cls, *args, **kwargs)
        first = out if isinstance(out, Tensor) else next((o for o in _items(out) if isinstance(o, Tensor)), None)
        node = None if first is None else first.grad_fn
        if node is not None and type(node).__name__ == f"{cls.__name__}Backward":
            places = [machine.device_of(a) for a in args if isinstance(a, Tensor)]
            is_there = of_this_machine()
            node.register_hook(
                lambda grads, _: _validated(machine, grads, places, cls.__name__) if is_there() else None
            )
        return out

    return apply


def _items(out: Any) -> Sequence[Any]:
    return out if isinstance(out, list | tuple) else ()


def _validated(machine: Machine, grads: Sequence[Any], places: Sequence[torch.device], name: str) -> tuple[Any, ...]:
    valid = []
    for index, grad in enumerate(grads):
        if isinstance(grad, Tensor) and index < len(places) and machine.device_of(grad) != places[index]:
            said = (
                f"Function {name}Backward returned an invalid gradient at index {index} - expected device "
                f"{places[index]} but got {machine.device_of(grad)}"
            )
            if grad.dim() and not (machine.mends and machine.mends(grad, places[index], said)):
                raise RuntimeError(said)
            grad = copied_to(grad, places[index])
        valid.append(grad)
    return tuple(valid)
