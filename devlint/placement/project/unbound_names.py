"""Whether a file binds a name at its module level: one that nothing binds raises a NameError where it is read."""

from __future__ import annotations

import builtins
from pathlib import PurePath

from devlint.placement.declarations.index import FileIndex
from devlint.placement.project.linkage import ModuleLinkage
from devlint.source.outline import BINDERS
from devlint.source.role import Role


def is_unbound(name: str, index: FileIndex, linkage: ModuleLinkage, path: str, role: Role) -> bool:
    """Whether a name is certainly neither a module-level one, nor a builtin, nor of a star import.

    The cells of a notebook have names of their shell, and a package's ``__init__`` those of its imported submodules.
    """
    if name.startswith("_") or hasattr(builtins, name) or index.read_names & BINDERS:
        return False
    if role is Role.NOTEBOOK or PurePath(path).stem == "__init__":
        return False
    if name in index.bound or name in index.imports or name in index.rebound or name in index.defined:
        return False
    classes = (info.qualname.rpartition(".")[2] for info in index.classes.values())
    return name not in classes and linkage.is_in_no_star(name)
