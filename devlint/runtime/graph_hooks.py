"""Hooks that pack and unpack what a graph saves: C++ calls them in the middle of an operation, where no mode is on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch

from devlint.runtime.patching import Patches

_PUSH = "_push_saved_tensors_default_hooks"


def follow(patches: Patches, mode: type, entered: Callable[[], AbstractContextManager[Any]]) -> None:
    """Run the hooks pushed from now on inside `entered()`, unless a mode of that class is on anyway."""
    true_push: Any = getattr(torch._C._autograd, _PUSH)

    def inside(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(value: Any) -> Any:
            if _is_on(mode):
                return hook(value)
            with entered():
                return hook(value)

        return call

    def push(pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        true_push(inside(pack), inside(unpack))

    patches.set(torch._C._autograd, _PUSH, push)


def _is_on(mode: type) -> bool:
    stack = (torch._C._get_function_stack_at(i) for i in range(torch._C._len_torch_function_stack()))
    return any(isinstance(each, mode) for each in stack)
