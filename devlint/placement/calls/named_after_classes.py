"""Parameters that are called what a class of Modules in sight is called: ``prior`` in a file that imports ``Prior``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from devlint.placement.declarations import evidence_names as names
from devlint.source.dependency_parts import CLASS_NAMES, name_part

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo
    from devlint.placement.interpreter.program import Program

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")
_SHORTEST = 5
"""Letters of a name that says enough by itself: ``net`` and ``loss`` are called like many a class."""


def named_after(program: Program, parameter: str, no_tensor: bool, owner: ClassInfo | None) -> tuple[str, ...]:
    """The classes that a file defines or imports and that a parameter is called after.

    It has the whole name of the class (``prior``, ``cur_prior`` for ``Prior``); what is used as no tensor can be may
    have its end alone: ``estimator`` for ``DensityEstimator``, where ``tokens`` beside ``FromTokens`` says nothing.
    Of the class itself that has the method, ``Cutoff.forward(distances, cutoff)``, it is a part or a number.
    """
    if len(parameter) < _SHORTEST or names.names_no_module(parameter) or names.names_a_class(parameter):
        return ()
    last = parameter.rpartition("_")[2].lower()
    own = {one.name for one in owner.order} if owner is not None else ()
    end_alone = no_tensor and not names.names_a_function(parameter)
    program.rests_on(CLASS_NAMES)
    fitting = (name for name in _in_sight(program, last) if _fits(parameter, _words(name), end_alone))
    found = tuple(name for name in fitting if name not in own)
    for name in found:
        program.rests_on(name_part(name))
    return found


def _in_sight(program: Program, last: str) -> Iterator[str]:
    """Names of classes, by how they are written, that end with a word."""
    return (name for name in program.index.class_names if name.lower().endswith(last))


def _fits(parameter: str, words: str, no_tensor: bool) -> bool:
    whole = parameter == words or parameter.endswith(f"_{words}")
    return whole or (no_tensor and words.endswith(f"_{parameter}"))


def _words(class_name: str) -> str:
    """``DensityEstimator`` as names are written: ``density_estimator``."""
    return "_".join(_PARTS.findall(class_name)).lower()
