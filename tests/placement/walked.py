"""Small programs, analysed as a library file, and the questions that the tests ask of their events."""

from __future__ import annotations

from textwrap import dedent
from typing import TypeVar

import libcst as cst

from devlint.placement.domain.abstract_values import Value
from devlint.placement.domain.events import DeviceMismatch, Event, Returned, Stored
from devlint.placement.domain.lattice import describe
from devlint.placement.project.analyse import analyse
from devlint.placement.syntax.nodes import code_of
from devlint.source.role import Role

IMPORTS = """\
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""

E = TypeVar("E", bound=Event)


def events(program: str, imports: str = IMPORTS) -> list[Event]:
    """Every event of a program, in order; ``imports`` stand before it."""
    return list(analyse(cst.parse_module(imports + dedent(program)), "net.py", Role.LIBRARY))


def events_of(kind: type[E], program: str, imports: str = IMPORTS) -> list[E]:
    return [event for event in events(program, imports) if isinstance(event, kind)]


def clashes(program: str, imports: str = IMPORTS) -> list[str]:
    """The expressions whose operands cannot meet."""
    return [code_of(event.node) for event in events_of(DeviceMismatch, program, imports)]


def stored(program: str, target: str, imports: str = IMPORTS) -> Value:
    """What the last assignment to ``target`` stores."""
    return [event.value for event in events_of(Stored, program, imports) if event.target == target][-1]


def device(program: str, target: str = "y", imports: str = IMPORTS) -> str:
    """Where the last assignment to ``target`` puts it, in a report's words; the type's name of what has no device."""
    return place(stored(program, target, imports))


def returned(program: str, qualname: str = "f") -> list[Value]:
    """What each ``return`` of a definition gives back."""
    return [event.value for event in events_of(Returned, program) if event.scope.qualname == qualname]


def place(value: Value) -> str:
    found = getattr(value, "device", None)
    return type(value).__name__ if found is None else describe(found)
