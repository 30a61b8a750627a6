"""The judge's input and output, generic in the caller's device type.

The static half relates abstract devices, the runtime half real ones; neither is known here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

from devlint.semantics.operation import Dim, DType, Elements

D = TypeVar("D")


class Relation(Enum):
    """Whether two devices are the same."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Operand(Generic[D]):
    """One tensor argument of a call; `role` is the name of the parameter it is passed as ("out", "indices" ...)."""

    role: str
    device: D
    dim: Dim = Dim.UNKNOWN
    elements: Elements = Elements.UNKNOWN
    dtype: DType = DType.UNKNOWN


@dataclass(frozen=True, slots=True)
class Meets(Generic[D]):
    """The operands may meet; `device` is their common device, None if the operation takes no tensor."""

    device: D | None


@dataclass(frozen=True, slots=True)
class Clash(Generic[D]):
    """The call raises.

    `kind` is that of tables/errors.json. `operand` is the index (in the operands as given) of the offending one,
    `other` the one it disagrees with, None if the rule requires a fixed device such as the CPU.
    """

    kind: str
    operand: int
    other: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Unclear:
    """Not enough is known for a verdict; never reported."""

    why: str


Verdict: TypeAlias = Meets[D] | Clash[D] | Unclear
Relate: TypeAlias = Callable[[D, D], Relation]
