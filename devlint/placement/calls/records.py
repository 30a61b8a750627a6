"""Objects that hold what they are built of: those of classes that declare their fields, and data sets."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.domain.abstract_values import NOTHING, Container, Instance, Opaque, Tensor, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.syntax.nodes import decorator_names

_DECLARING = frozenset({"dataclass", "define", "frozen", "attrs", "s"})
"""Last parts of the decorators of dataclasses and of attrs that make a constructor of the fields."""


BUILT_OF = "built of"
"""What a data set is built of, beside the names of its fields."""


def held_by(info: ClassInfo, site: CallSite) -> tuple[tuple[str, Value], ...]:
    """What the fields of a new object hold, by name; empty for classes that build themselves in another way.

    Of a data set that builds itself only its tensors are known, and not in which field each is.
    """
    if not (is_named_tuple(info) or _is_dataclass(info)):
        parts = tuple(a.value for a in site.arguments if isinstance(a.value, (Tensor, Opaque, Container)))
        return ((BUILT_OF, Container(parts)),) if parts and info.defines("__getitem__", "__iter__") else ()
    held: list[tuple[str, Value]] = []
    for position, name in enumerate(_fields(info)):
        given = site.argument(name, position)
        held.append((name, given.value if given is not None else NOTHING))
    return tuple(held)


def is_named_tuple(info: ClassInfo) -> bool:
    return any(base == "typing.NamedTuple" for one in info.order for base in one.resolved_bases)


def as_sequence(value: Value) -> Value:
    """A named tuple as the tuple that it is."""
    if isinstance(value, Instance) and value.info is not None and value.details and is_named_tuple(value.info):
        return Container(tuple(held for _, held in value.details), None, None, "tuple", value.node)
    return value


def _is_dataclass(info: ClassInfo) -> bool:
    declares = any(name.rsplit(".", 1)[-1] in _DECLARING for name in decorator_names(info.node))
    return declares and info.method("__init__") is None and info.method("__post_init__") is None


def _fields(info: ClassInfo) -> Iterator[str]:
    """Names of the fields, those of base classes first."""
    seen: set[str] = set()
    for one in reversed(info.order):
        for name, annotation in one.annotated_fields:
            if name not in seen and "ClassVar" not in annotation:
                seen.add(name)
                yield name
