"""Switches of a module: truth values whose names say that a program works on an accelerator, or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.placement.domain.abstract_values import Constant, Truth
from devlint.placement.syntax.device_words import speaks_of_devices

if TYPE_CHECKING:
    from devlint.placement.domain.abstract_values import Value


def as_set(name: str, value: Value) -> Value:
    """The value of a name that a module binds: open where it is a switch, ``USE_CUDA = False``.

    Whoever runs the program sets it, in the file or from another one, ``settings.USE_CUDA = True``.
    """
    is_switch = isinstance(value, Constant) and isinstance(value.value, bool) and speaks_of_devices(name)
    return Truth(about_device=True) if is_switch else value
