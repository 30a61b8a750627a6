"""Loading what an entry names, and the steps that are run of it."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from devlint.runtime.auto import inputs_for, recipe_for
from devlint.runtime.constructing import CannotBuild
from devlint.runtime.entries import Entry
from devlint.runtime.given import parse_given, values_of
from devlint.runtime.inputs import BadEntry, parse_arguments

if TYPE_CHECKING:
    import torch


class CannotRun(Exception):
    """Why an entry cannot be run at all: what it names is not there, or is not what is asked for."""


@dataclass(frozen=True)
class Program:
    """A model with its inputs, or a step that does everything by itself and takes none."""

    model: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    is_step: bool = False
    takes_device: bool = True
    """Whether it was told where to run."""

    def forward(self) -> Any:
        """One call of the model."""
        return self.model(*self.args, **self.kwargs)


def load(target: str) -> Any:
    """What ``pkg.mod:name`` names. Raises CannotRun if it is not there; what its import raises comes out."""
    module_name, _, path = target.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise CannotRun(f"there is no module {error.name}") from None
        raise
    for name in path.split("."):
        if not hasattr(found, name):
            raise CannotRun(f"{module_name} has no `{name}`")
        found = getattr(found, name)
    return found


def import_paths(entry: Entry) -> list[str]:
    """The directories that must come first on ``sys.path``."""
    if entry.kind == "script":
        return [str(Path(entry.target).resolve().parent)]
    return [path for path in (os.getcwd(), entry.root) if path]


def built(entry: Entry, device: str) -> Program:
    """What ``--entry`` names, called: ``(model, inputs)`` or a step. ``device`` goes to each parameter of that name."""
    function = load(entry.target)
    if not callable(function):
        raise CannotRun(f"{entry.target} cannot be called")
    made = call_with_device(function, device)
    if isinstance(made, tuple) and len(made) == 2 and callable(made[0]):
        model, inputs = made
        if isinstance(inputs, Mapping):
            return Program(model, (), inputs)
        return Program(model, tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,))
    if _is_module(made):
        raise CannotRun(f"{entry.target} returns a module without inputs; return (model, inputs)")
    told = takes_device(function)
    if callable(made):
        step = made
        return Program(lambda: call_with_device(step, device), is_step=True, takes_device=told or takes_device(step))
    # The function was the program itself, and it has run.
    return Program(lambda: made, is_step=True, takes_device=told)


def model(entry: Entry) -> Program:
    """What ``--model`` names, built and with its inputs made."""
    import torch

    cls = load(entry.target)
    if not callable(cls):
        raise CannotRun(f"{entry.target} cannot be called")
    positional, keywords = parse_arguments(entry.init)
    made = cls(*positional, **keywords)
    if not callable(made):
        raise CannotRun(f"{entry.target} makes something that cannot be called")
    generator = torch.Generator().manual_seed(0)
    try:
        given = [values_of(parse_given(text), generator) for text in entry.inputs]
    except BadEntry as error:
        raise CannotRun(str(error)) from None
    named = {name: value for _, by_name in given for name, value in by_name.items()}
    return Program(made, tuple(value for by_position, _ in given for value in by_position), named)


def unasked(entry: Entry) -> Callable[[], Program]:
    """A way to build what ``--auto`` found, tried out on the CPU. Raises CannotBuild."""
    cls = load(entry.target)
    if inspect.isfunction(cls):
        arguments = inputs_for(cls)
        return lambda: Program(cls, *arguments())
    if not (isinstance(cls, type) and _is_module_class(cls)):
        raise CannotBuild(f"{entry.target} is no nn.Module; give an --entry that uses it")
    recipe = recipe_for(cls)
    return lambda: Program(*recipe.build(cls))


def run_script(entry: Entry, compiled: Callable[[bytes, str], CodeType]) -> None:
    """The script as ``python script.py`` runs it, ``compiled`` from its bytes and path.

    Raises CannotRun if there is none; SystemExit is the script's own.
    """
    path = Path(entry.target).resolve()
    if not path.is_file():
        raise CannotRun(f"there is no file {entry.target}")
    sys.argv = [entry.target, *entry.arguments]
    # As the interpreter does it, and unlike runpy: what the script defines stays there to be unpickled by workers.
    main = ModuleType("__main__")
    main.__file__ = str(path)
    sys.modules["__main__"] = main
    exec(compiled(path.read_bytes(), str(path)), main.__dict__)


def train_step(program: Program) -> None:
    """Forward, loss = sum of the float outputs, backward, one step of Adam."""
    import torch

    model = program.model
    parameters = [p for p in model.parameters() if p.requires_grad] if isinstance(model, torch.nn.Module) else []
    optimizer = torch.optim.Adam(parameters, lr=1e-4) if parameters else None
    loss = _loss(program.forward())
    if loss is None or not loss.requires_grad:
        return
    loss.backward()  # type: ignore[no-untyped-call]
    if optimizer is not None:
        optimizer.step()


def _loss(outputs: Any) -> torch.Tensor | None:
    import torch
    from torch.utils import _pytree as pytree

    leaves = [leaf for leaf in pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]
    floats = [leaf.abs().sum() if leaf.is_complex() else leaf.sum() for leaf in leaves if _differentiable(leaf)]
    total = None
    for value in floats:
        # Outputs may be on several devices on purpose.
        total = value if total is None else total + value.to(total.device)
    return total


def _differentiable(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def takes_device(function: Callable[..., Any]) -> bool:
    """Whether there is a parameter ``device``."""
    try:
        return "device" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def call_with_device(function: Callable[..., Any], device: str) -> Any:
    """Call without arguments, but for ``device`` where there is such a parameter."""
    if not takes_device(function):
        return function()
    return function(device=_device(inspect.signature(function).parameters["device"], device))


def _device(parameter: inspect.Parameter, device: str) -> Any:
    """A ``torch.device``, unless the parameter is about strings."""
    import torch

    wants_text = isinstance(parameter.default, str) or parameter.annotation in (str, "str")
    return device if wants_text else torch.device(device)


def _is_module(value: Any) -> bool:
    import torch

    return isinstance(value, torch.nn.Module)


def _is_module_class(cls: type) -> bool:
    import torch

    return issubclass(cls, torch.nn.Module)
