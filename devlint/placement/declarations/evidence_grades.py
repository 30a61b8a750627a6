"""Graded evidence: what a use of a name shows of the value, and how far that can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum, IntEnum

from devlint.records import dataclass


class Grade(IntEnum):
    """How much a use says. A use that says nothing has no row."""

    CONVENTIONAL = 1
    """Code that does this to a value has a tensor there as a rule: a convention of ``evidence_conventions``."""
    CERTAIN = 2
    """Anything else would raise there."""


class Shows(Enum):
    """What the value is."""

    __hash__ = object.__hash__  # of a member, of which there is one: the one of enumerations is slow

    TENSOR = "tensor"
    MODULE = "module"
    ARRAY = "array"
    CONVERTED = "converted"
    """It is made a tensor: what is read under the name before is none."""
    PLACED = "placed"
    """It has a device: a tensor, a module, or a configuration."""
    ITEMS = "items"
    """Each of its items is used as only tensors can be, and is not moved."""
    ARRAY_LIKE = "array-like"
    """It has a shape, a dtype, several axes: a tensor, or an array."""
    SIZE = "size"
    """It is the size of a tensor, or of a layer, that is made."""
    NO_NUMBER = "no number"
    """An attribute or an item of it is read."""
    DOUBTFUL = "doubtful"
    """Its type is asked for, or it is used as plain values are: no convention speaks of it."""
    MOVED = "moved"
    """A method moves it: a tensor, a module, or a batch."""
    DIMENSIONS = "dimensions"
    """It has a dimension: an item of it is read, or the size of one."""
    INDEX = "index"
    """It picks items of something: a number, a key, a slice, an array or a tensor."""
    BESIDE = "beside"
    """It is an operand of arithmetic whose other one is a tensor that is made there."""
    SHAPED = "shaped"
    """It has a shape: a tensor, an array or a table."""
    NO_TENSOR = "no tensor"
    """It is used as no tensor can be: called, or read under a text. It says nothing of a name that is bound anew."""
    CALLED = "called"
    """It is called: a module, a function or a class."""
    STRUCTURED = "structured"
    """It is read under a text, spread as keywords, or has an attribute that no tensor has, wherever it is bound."""
    SEVERAL = "several"
    """It is gone through item by item, or joined as a whole: several values, hardly ever one tensor."""
    TEXT = "text"
    """It has a method that only texts have."""
    UNPACKED = "unpacked"
    """It is unpacked into names or arguments: a tuple, hardly ever one tensor."""
    COMPUTED = "computed"
    """It is an operand of arithmetic, or handed to a function of torch: a tensor or a number."""
    TESTED = "tested"
    """Its truth is asked, what it is among, what is in it; it is read by keys, or by several numbers that are written
    out: hardly ever of a tensor."""
    OTHERWISE = "otherwise"
    """As it was given it is no tensor, though a tensor is bound to the same name later on."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What one kind of use shows. ``convention`` names the convention that a conventional sign rests on."""

    shows: Shows
    grade: Grade = Grade.CERTAIN
    convention: str = ""


Signs = frozenset[Sign]


BUILT = "()."
"""What stands before the class of which the definition itself makes the object that it calls: ``Layer()(x)``."""

INHERITED = "super()."
"""How the callee of a handed-on argument begins that is a method of the next class in the order."""


@dataclass(frozen=True, slots=True)
class HandedOn:
    """A name is, as it stands, an argument of a call of something that no table lists."""

    callee: str
    """As the source writes it: ``self.encode``, ``losses.focal``, ``super().__init__``."""
    position: int
    keyword: str = ""
    """For an argument that is passed by keyword."""


@dataclass(frozen=True, slots=True)
class Uses:
    """What a body does with each name in it. Items are named as the source writes them: ``batch[key]``."""

    signs: Mapping[str, Signs]
    handed_on: Mapping[str, tuple[HandedOn, ...]]
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of parameters: the classes, as the source names them, that it is asked to be of, or is replaced by an object of
    where the caller gives none."""
    called: frozenset[str] = frozenset()
    """Attributes of the first parameter that are called with arguments."""
    computed: frozenset[str] = frozenset()
    """Names that are bound to nothing but what functions of torch give, and methods of tensors."""
    kept: tuple[tuple[str, str], ...] = ()
    """Parameters, each with an attribute of the first one that keeps it as it was given."""
    made: tuple[tuple[str, str], ...] = ()
    """Attributes of the first parameter, each with the class, as the source names it, of which it is made an object."""
    members: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of parameters and of attributes of the first one: the attributes that are read of them and that no tensor has."""
    with_dimensions: frozenset[str] = frozenset()
    """Names that are bound in one place and used as what has dimensions: each value of theirs has some."""


def grade_of(signs: Iterable[Sign], shows: Shows) -> Grade | None:
    """The best grade at which the uses show this; None where none does."""
    best: Grade | None = None
    for sign in signs:
        if sign.shows is shows and (best is None or sign.grade > best):
            best = sign.grade
    return best


def grades_of(signs: Iterable[Sign]) -> dict[Shows, Grade]:
    """By what the uses show: the best grade, as :func:`grade_of` finds it."""
    best: dict[Shows, Grade] = {}
    for sign in signs:
        known = best.get(sign.shows)
        if known is None or sign.grade > known:
            best[sign.shows] = sign.grade
    return best


def tensor_grade(signs: Signs) -> Grade | None:
    """How certain it is that the value is a tensor; what is an array, or is converted, at the same grade is none."""
    grade = grade_of(signs, Shows.TENSOR)
    if grade is None and grade_of(signs, Shows.SHAPED) is not None:
        # Of what has a shape only a tensor has a method that moves it, and is computed with tensors.
        grade = grade_of(signs, Shows.MOVED) or grade_of(signs, Shows.BESIDE)
    if grade is None or grade_of(signs, Shows.CONVERTED) is not None:
        return None
    array = grade_of(signs, Shows.ARRAY)
    return grade if array is None or array < grade else None


def convention_of(signs: Signs, shows: Shows) -> str:
    """The convention that the evidence rests on; empty where some of it is certain."""
    if shows is Shows.TENSOR and grade_of(signs, shows) is None and tensor_grade(signs) is not None:
        shows = Shows.MOVED if grade_of(signs, Shows.MOVED) is not None else Shows.BESIDE
    if grade_of(signs, shows) is not Grade.CONVENTIONAL:
        return ""
    return min(sign.convention for sign in signs if sign.shows is shows)
