"""Models of users that are split over devices: what they hand back is not where they were given it.

The tested code calls such a model and joins its output with the input. Where the last part of a split model is does not
matter for that; here it is the CPU, which every machine has.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from devlint.runtime.lifting.targets import Target


class _Local(threading.local):
    in_model = False


class SplitModels:
    """Calls of modules that lifted code was handed: of none of the packages of ``lifted``, nor of torch."""

    def __init__(self, lifted: Iterable[Target]) -> None:
        # The owner of a target may be a test that imported it.
        self._own = {"torch", *(_package(vars(owner)[name]) for owner, name in lifted)}
        self._local = _Local()

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A module's call; the outermost one of a user's model hands back what lies on the CPU."""
        with self.inside(args[0]) as is_outermost:
            result = function(*args, **kwargs)
        return pytree.tree_map_only(torch.Tensor, torch.Tensor.cpu, result) if is_outermost else result

    @contextlib.contextmanager
    def inside(self, module: Any) -> Iterator[bool]:
        """While a module runs, no part of it is a model of its own; whether it is a user's, and the outermost one."""
        if self._local.in_model or _package(type(module)) in self._own:
            yield False
            return
        self._local.in_model = True
        try:
            yield True
        finally:
            self._local.in_model = False


def _package(defined: Any) -> str:
    """The name of the package that defines a class or a function; empty where it does not say."""
    name: str = getattr(defined, "__module__", None) or ""
    return name.partition(".")[0]
