"""The layout of what the first pass met: LibCST reads the scopes that drafts have a place in, and its nodes stand for
the bare ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from devlint.records import dataclass
from devlint.source.gate import Refusal

if TYPE_CHECKING:
    import libcst as cst

    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.declarations.index import FileIndex
    from devlint.placement.project.workspace import ParsedFile
    from devlint.placement.syntax.counterparts import Counterparts
    from devlint.source.lazy_parser import LazyParser
    from devlint.source.outline import Outline


@dataclass(frozen=True, slots=True)
class MetScopes:
    """Scopes of one file, as bare trees."""

    text: str
    outline: Outline | None
    skeleton: cst.Module | None
    """The file without the bodies of its definitions; None where all of the scopes are in definitions."""
    definitions: Mapping[int, cst.CSTNode]
    """By their numbers in the outline: the definitions around or inside of the scopes."""

    def lay_out(self, parser: LazyParser, found: Counterparts, *, quoted: bool = False) -> dict[int, cst.FunctionDef]:
        """LibCST's own trees of the scopes: their nodes go to ``found``, the definitions are given by number.

        ``quoted``: see :meth:`Counterparts.add`. Raises NeedsLayout where LibCST does not read what :mod:`ast` has
        read.
        """
        from devlint.source.bare.nodes import NeedsLayout

        if self.outline is None:
            raise NeedsLayout("a file that has no bare tree")
        if self.skeleton is not None:
            tree = parser.skeleton()
            if isinstance(tree, Refusal):
                raise NeedsLayout(tree.message)
            found.add(self.skeleton, tree, quoted=quoted)
        read: dict[int, cst.FunctionDef] = {}
        for number, bare in self.definitions.items():
            definition = parser.definition(number)
            if definition is None:
                raise NeedsLayout("a definition that LibCST refuses")
            found.add(bare, definition, quoted=quoted)
            read[number] = definition
        return read


def met_scopes(file: ParsedFile, names: Collection[str]) -> MetScopes:
    """Those scopes of another file that have these qualified names."""
    numbers = set(definitions_of(file.index, names))
    definitions = {number: info.node for number, info in outlined(file.index) if number in numbers}
    outside = any(is_outside(file.index, name) for name in names)
    return MetScopes(file.text, file.outline, file.tree if outside else None, definitions)


def outlined(index: FileIndex) -> Iterator[tuple[int, FunctionInfo]]:
    """The definitions of a file that stand in no other one, with their numbers."""
    for info in index.functions.values():
        if info.outlined is not None:
            yield info.outlined.number, info


def definitions_of(index: FileIndex, names: Collection[str]) -> Iterator[int]:
    """The numbers of definitions around or inside of the scopes of these names."""
    for number, info in outlined(index):
        if any(_is_in(name, info.qualname) or _is_in(info.qualname, name) for name in names):
            yield number


def is_outside(index: FileIndex, name: str) -> bool:
    """Whether the scope of that name is none of a definition."""
    return not any(_is_in(name, info.qualname) for _, info in outlined(index))


def _is_in(name: str, scope: str) -> bool:
    """Whether ``a.b.c`` is ``a.b`` or inside of it."""
    return f"{name}.".startswith(f"{scope}.")
