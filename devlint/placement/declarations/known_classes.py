"""The kind of a class by its bases. The kinds of library classes are in the library tables."""

from __future__ import annotations

from enum import Enum

from devlint.semantics import library_models


class ClassKind(Enum):
    """The kind of a class by its bases."""

    MODULE = "module"
    LIGHTNING = "lightning"
    """A Module that receives batches already moved and whose ``device`` attribute is its own device."""
    HOST = "host"
    """Dataset, Sampler, Transform: works on the CPU."""
    AUTOGRAD = "autograd"
    """``torch.autograd.Function``: takes and returns tensors; no ``self``."""
    OPTIMIZER = "optimizer"
    PLAIN = "plain"
    UNKNOWN = "unknown"


_PLAIN = frozenset(
    """
    object ABC abc.ABC Protocol typing.Protocol typing.Generic Generic dict list tuple Exception Enum enum.Enum
    typing.NamedTuple NamedTuple str int
    """.split()
)
"""Base classes of Python's standard library."""


def kind_of_base(name: str) -> str | None:
    """The kind of a base class by its qualified name; None if it is not known."""
    if name in _PLAIN:
        return "plain"
    if name == "autograd.Function":
        return "autograd"
    return library_models.kind(name)
