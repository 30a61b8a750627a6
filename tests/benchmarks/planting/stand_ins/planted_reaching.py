"""Inside of a run: an object is built and methods of it are called so that a mutated function runs on the device.

The file that is named by ``PLANTED`` says which. Calls are tried on the CPU first, each with other arguments, until one
enters the function (which leaves a mark) and returns; the same call is then made with what moves on the device.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from planted_arguments import choices, keyword_wanted, made
from torch import nn
from torch.utils._pytree import tree_leaves

from devlint.runtime.auto import recipe_for
from devlint.runtime.constructing import CannotBuild, calls_of

_SECONDS = 15.0
_OBJECTS = 24
"""Ways to build an object that are tried."""
_KEYWORDS = 12
"""Times that a constructor may ask for one more of its ``**kwargs``."""
_BUILT = 4
"""Of those that can be built, how many are called."""
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Way:
    """A call that enters the function. ``built`` of None: a function of the module."""

    cls: type[Any] | None
    built: Arguments
    method: str
    given: Arguments

    def call(self, function: Any, device: torch.device) -> Any:
        """Made anew, brought to the device and called."""
        torch.manual_seed(0)
        random.seed(0)
        target = function
        if self.cls is not None:
            owner = self.cls(*_made(self.built, device)[0], **_made(self.built, device)[1])
            if isinstance(owner, nn.Module):
                owner = owner.to(device)
            target = owner if self.method == "forward" else getattr(owner, self.method)
        positional, named = _made(self.given, device)
        return target(*positional, **named) if callable(target) else target


def entry(device: torch.device) -> Callable[[], Any]:
    """The step that ``devlint confirm --entry`` runs. Raises CannotBuild where no call is found."""
    order = json.loads(Path(os.environ["PLANTED"]).read_text(encoding="utf-8"))
    mark = Path(order["mark"])
    module = importlib.import_module(order["module"])
    owner, _, _ = order["functions"][0].rpartition(".")
    cls: Any = module
    for name in owner.split(".") if owner else ():
        cls = getattr(cls, name)
    methods = [name.rpartition(".")[2] for name in order["functions"]]
    function = None if owner else getattr(module, methods[0])
    found = _way(cls if owner else None, function, methods, mark)
    mark.unlink(missing_ok=True)

    def step() -> None:
        result = found.call(function, device)
        places = sorted(
            {leaf.device.type for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.dim()}
        )
        Path(order["places"]).write_text(" ".join(places), encoding="utf-8")

    return step


def _way(cls: type[Any] | None, function: Any, methods: list[str], mark: Path) -> Way:
    """The first call that enters and returns; else the first that enters."""
    ends = time.monotonic() + _SECONDS
    entering: Way | None = None
    cpu = torch.device("cpu")
    why = "nothing can be built"
    for way in _ways(cls, function, methods):
        if time.monotonic() > ends:
            break
        mark.unlink(missing_ok=True)
        try:
            way.call(function, cpu)
        except Exception as error:  # whatever a program says to a guess
            why = f"{type(error).__name__}: {error}"[:200]
            entering = entering or (way if mark.exists() else None)
            continue
        if mark.exists():
            return way
    if entering is None:
        raise CannotBuild(f"no call was found that enters it; the last one raised {why}")
    return entering


def _ways(cls: type[Any] | None, function: Any, methods: list[str]) -> Iterator[Way]:
    if cls is None:
        for named in choices(function, 0):
            yield Way(None, ((), {}), "", ((), named))
        return
    built = list(itertools.islice(_objects(cls), _BUILT))
    if not built:
        raise CannotBuild(_why_not(cls))
    for how, owner in built:
        for method in methods if methods != ["__init__"] else ["forward"]:
            # What the constructor itself calls is entered by it, and on the CPU; the object has to work elsewhere.
            for given in _calls(cls, owner, method):
                yield Way(cls, how, method, given)
        for method in ("forward", "__call__"):
            if method not in methods and any(method in vars(one) for one in cls.__mro__):
                for named in itertools.islice(choices(getattr(cls, method), 1, owner), 60):
                    yield Way(cls, how, method, ((), named))


def _calls(cls: type[Any], owner: Any, method: str) -> Iterator[Arguments]:
    found = inspect.getattr_static(cls, method, None)
    if found is None or isinstance(found, property):
        yield (), {}
        return
    for named in choices(getattr(cls, method), 0 if isinstance(found, staticmethod | classmethod) else 1, owner):
        yield (), named


def _objects(cls: type[Any]) -> Iterator[tuple[Arguments, Any]]:
    """Objects that can be built, first as ``devlint confirm`` would."""
    for count, how in enumerate(_constructions(cls)):
        if count == _OBJECTS:
            return
        for _ in range(_KEYWORDS):
            positional, named = _made(how, torch.device("cpu"))
            try:
                yield how, cls(*positional, **named)
            except KeyError as error:
                more = keyword_wanted(cls.__init__, error, how[1])
                if more is None:
                    break
                how = (how[0], {**how[1], **more})
            except Exception:  # whatever a constructor says to a guess
                break
            else:
                break


def _why_not(cls: type[Any]) -> str:
    """What its constructor says to the likeliest arguments."""
    positional, named = _made(next(_constructions(cls), ((), {})), torch.device("cpu"))
    try:
        cls(*positional, **named)
    except Exception as error:  # that is what is asked
        return f"{cls.__name__}({', '.join(named)}) raises {type(error).__name__}: {error}"[:200]
    return "it can be built"


def _constructions(cls: type[Any]) -> Iterator[Arguments]:
    if issubclass(cls, nn.Module):
        with suppress(Exception):  # devlint knows no way
            yield recipe_for(cls).arguments
    with suppress(Exception):  # nor any call of it
        yield from calls_of(cls)
    for named in choices(cls.__init__, 1):
        yield (), named


def _made(arguments: Arguments, device: torch.device) -> Arguments:
    positional, named = arguments
    return tuple(made(value, device) for value in positional), {k: made(value, device) for k, value in named.items()}
