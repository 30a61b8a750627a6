"""The kind of a class by its bases. The kinds of library classes are in the library tables."""

from __future__ import annotations

from collections.abc import Container
from enum import Enum

from devlint.semantics import library_models


class ClassKind(Enum):
    """The kind of a class by its bases."""

    __hash__ = object.__hash__  # of a member, of which there is one: the one of enumerations is slow

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
    object ABC abc.ABC Protocol typing.Protocol typing_extensions.Protocol typing.Generic Generic dict list tuple
    Exception Enum enum.Enum typing.NamedTuple NamedTuple str int
    """.split()
)
"""Base classes of Python's standard library."""

_PLAIN_MODULES = frozenset(
    """
    abc argparse ast collections concurrent contextlib dataclasses enum functools io json logging multiprocessing
    pickle string typing typing_extensions unittest
    """.split()
)
"""Modules of Python's standard library, none of whose classes knows of tensors."""


OTHER_FRAMEWORKS = frozenset(
    "jax tensorflow flax haiku equinox mxnet paddle mindspore mindtorch jittor oneflow tinygrad keras cupy mlx".split()
)
"""Libraries whose arrays are called what tensors are called; some of them have the whole of PyTorch's names."""


def is_for_another_framework(packages: Container[str]) -> bool:
    """Whether a file that imports these packages works with arrays of another library, and not with PyTorch as well."""
    return "torch" not in packages and any(name in packages for name in OTHER_FRAMEWORKS)


def is_of_another_framework(name: str) -> bool:
    """``tensorflow.Tensor``, by its qualified name: no tensor of PyTorch's, whatever it is called."""
    return name.partition(".")[0] in OTHER_FRAMEWORKS


def kind_of_base(name: str) -> str | None:
    """The kind of a base class by its qualified name; None if it is not known."""
    return listed_kind(name) or library_models.kind_by_name(name)


def listed_kind(name: str) -> str | None:
    """The kind of a base class of Python or of a library, by its qualified name; None if no table lists it."""
    if name in _PLAIN or ("." in name and name.partition(".")[0] in _PLAIN_MODULES):
        return "plain"
    if name == "autograd.Function":
        return "autograd"
    return library_models.listed_kind(name)


def kind_of_own_base(name: str, kind: ClassKind, iterates: bool) -> ClassKind:
    """The kind of a base class that the project defines: by what it derives from, before what it is called.

    A plain class that is called after those that work on the host does so, as a rule. A sampler that nobody can iterate
    is none of data: it draws actions, or images from noise.
    """
    named = library_models.kind_by_name(name)
    if library_models.is_iterated(name) and not iterates:
        return kind
    if named is not None and (kind is ClassKind.UNKNOWN or (kind is ClassKind.PLAIN and named == ClassKind.HOST.value)):
        return ClassKind(named)
    return kind
