"""A tree of files in which some are fixed and not written yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from devlint.source.tree import EarlierTree, Tree


@dataclass(frozen=True, eq=False)
class FixedTree:
    """Another tree with new contents for some files, by their absolute paths."""

    below: Tree
    texts: Mapping[str, bytes]

    def is_file(self, path: str) -> bool:
        return self.below.is_file(path)

    def is_dir(self, path: str) -> bool:
        return self.below.is_dir(path)

    def read(self, path: str) -> bytes:
        """The fixed content of a file, or what it holds. Raises OSError."""
        return self.texts[path] if path in self.texts else self.below.read(path)

    def files_under(self, directory: str) -> Iterator[str]:
        return self.below.files_under(directory)

    @property
    def compared_with(self) -> EarlierTree | None:
        return self.below.compared_with
