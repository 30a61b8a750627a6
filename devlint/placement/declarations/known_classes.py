"""What a class is by its bases. What deriving from a library's class means stands in that library's table."""

from __future__ import annotations

from enum import Enum

from devlint.semantics import library_models


class ClassKind(Enum):
    """What a class is, by its bases."""

    MODULE = "module"
    LIGHTNING = "lightning"
    """A Module whose batches arrive moved and whose ``device`` follows it."""
    HOST = "host"
    """Dataset, Sampler, Transform: works on the CPU."""
    AUTOGRAD = "autograd"
    """``torch.autograd.Function``: tensors in, tensors out, no self."""
    OPTIMIZER = "optimizer"
    PLAIN = "plain"
    UNKNOWN = "unknown"


_PLAIN = frozenset(
    """
    object ABC abc.ABC Protocol typing.Protocol typing.Generic Generic dict list tuple Exception Enum enum.Enum
    typing.NamedTuple NamedTuple str int
    """.split()
)
"""Python's own bases."""


def kind_of_base(name: str) -> str | None:
    """The kind of a base class by its qualified name; None when nothing is known of it."""
    if name in _PLAIN:
        return "plain"
    if name == "autograd.Function":
        return "autograd"
    return library_models.kind(name)
