"""Modules that can be built without being told how: arguments for the constructor, inputs found by trying."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from devlint.runtime.constructing import CannotBuild, calls_of, more_arguments
from devlint.runtime.inputs import Input
from devlint.runtime.likely_inputs import Inputs, likely_arguments, likely_inputs
from devlint.runtime.written_calls import Call

if TYPE_CHECKING:
    import torch
    from torch import nn

    from devlint.runtime.session import Session

T = TypeVar("T")
TRIALS = 400
"""Combinations of inputs that are tried before arguments of a constructor are given up."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a module is built and called."""

    arguments: Call
    inputs: Inputs = field(default=((), {}))

    def build(self, cls: type[nn.Module]) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
        """A fresh module and its inputs by position and by name, all on the CPU."""
        return self.model(cls), *_made_all(self.inputs)

    def model(self, cls: type[nn.Module]) -> nn.Module:
        """A fresh module. Raises CannotBuild."""
        positional, named = self.arguments
        try:
            return cls(*positional, **named)
        except Exception as error:
            given = ", ".join([*map(repr, positional), *(f"{name}={value}" for name, value in named.items())])
            raise CannotBuild(f"{cls.__name__}({given}) raises {_words(error)}") from error


class _Trial:
    """Tries calls out: on the CPU, or with a session on its device, where what clashes is brought together."""

    def __init__(self, session: Session | None = None) -> None:
        self.lacks_device = False
        """Whether a call asked for an accelerator that is not there."""
        self._session = session

    def run(self, model: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        import torch

        if self._session is not None:
            model, args, kwargs = self._session.lift((model, args, kwargs))
        with torch.no_grad():
            model(*args, **kwargs)

    def failed(self, error: BaseException | None) -> None:
        from devlint.semantics import classify

        known = None if error is None else classify(str(error))
        self.lacks_device = self.lacks_device or (known is not None and known.category == "device_unavailable")


def recipe_for(cls: type[nn.Module]) -> Recipe:
    """A way to build and call ``cls`` that works on the CPU; on a simulated accelerator if it asks for one and there is
    none. Raises CannotBuild with why the likeliest does not."""
    return _tried(lambda trial: _recipe_for(cls, trial))


def inputs_for(function: Callable[..., Any]) -> Callable[[], Inputs]:
    """Gives fresh arguments with which a function that computes with tensors works. Raises CannotBuild likewise."""
    return _tried(lambda trial: _inputs_for(function, trial))


def _tried(find: Callable[[_Trial], T]) -> T:
    trial = _Trial()
    try:
        return find(trial)
    except CannotBuild:
        if not trial.lacks_device:
            raise
    from devlint.runtime.session import observe
    from devlint.runtime.simulated import SimulatedMachine

    with observe(SimulatedMachine(2), lambda observation: None, device="cuda:0") as session:
        return find(_Trial(session))


def _inputs_for(function: Callable[..., Any], trial: _Trial) -> Callable[[], Inputs]:
    failures: list[str] = []
    for inputs in itertools.islice(likely_arguments(function), TRIALS):
        try:
            trial.run(function, *_made_all(inputs))
        except Exception as error:
            trial.failed(error)
            failures.append(_words(error))
            continue
        return lambda: _made_all(inputs)
    raise CannotBuild(f"no arguments were found that it takes; the first try raised {failures[0]}")


def _recipe_for(cls: type[nn.Module], trial: _Trial) -> Recipe:
    reasons: list[CannotBuild] = []
    try:
        for arguments in calls_of(cls):
            try:
                return _callable_with(cls, arguments, trial)
            except CannotBuild as error:
                trial.failed(error.__cause__)
                reasons.append(error)
    except CannotBuild as error:
        # Where nothing could be guessed, what the program itself does tells more.
        reasons.append(error)
    raise reasons[0]


def _callable_with(cls: type[nn.Module], arguments: Call, trial: _Trial) -> Recipe:
    try:
        model = Recipe(arguments).model(cls)
    except CannotBuild as error:
        more = more_arguments(cls, error.__cause__)
        if not more or not more.keys().isdisjoint(arguments[1]):
            raise
        return _callable_with(cls, (arguments[0], {**arguments[1], **more}), trial)
    failures: list[str] = []
    for inputs in itertools.islice(likely_inputs(cls, model), TRIALS):
        recipe = Recipe(arguments, inputs)
        try:
            trial.run(*recipe.build(cls))
        except CannotBuild:
            raise
        except Exception as error:
            trial.failed(error)
            failures.append(_words(error))
            continue
        return recipe
    why = f"; the first try raised {failures[0]}" if failures else ""
    raise CannotBuild(f"no inputs were found that its forward takes{why}")


def _made_all(inputs: Inputs) -> Inputs:
    import torch

    generator = torch.Generator().manual_seed(0)
    positional, named = inputs
    made = tuple(_made(item, generator) for item in positional)
    return made, {name: _made(item, generator) for name, item in named.items()}


def _made(item: Any, generator: torch.Generator) -> Any:
    if isinstance(item, list):
        return [_made(part, generator) for part in item]
    return item.make(generator) if isinstance(item, Input) else item


def _words(error: Exception) -> str:
    first = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
