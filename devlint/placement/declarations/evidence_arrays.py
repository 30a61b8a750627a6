"""Functions that work with arrays of another library, as numpy's: what has a shape there is no tensor as a rule."""

from __future__ import annotations

from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.declarations.imports import ImportTable
from devlint.placement.declarations.known_classes import OTHER_FRAMEWORKS

_ARRAYS = OTHER_FRAMEWORKS | {"numpy", "sklearn", "PIL", "pandas", "scipy", "cv2", "skimage"}
_ANY_LIBRARY = "xp"
"""What the library of arrays is called, whichever it is (array API standard)."""


def may_work_with_arrays(info: FunctionInfo, imports: ImportTable) -> bool:
    """Whether its file does, and it does itself, or names no torch and is no method of a Module."""
    arrays, torch = _named(info, imports)
    of_module = info.owner is not None and info.owner.is_module
    return arrays or not (torch or of_module or _ARRAYS.isdisjoint(imports.packages))


def works_with_arrays_alone(info: FunctionInfo, imports: ImportTable) -> bool:
    """Whether it does itself, and names no torch."""
    arrays, torch = _named(info, imports)
    return arrays and not torch


def _named(info: FunctionInfo, imports: ImportTable) -> tuple[bool, bool]:
    """Whether it names a library of arrays, and torch. Who works with any library names none."""
    if _ANY_LIBRARY in info.names:
        return True, False
    if _ARRAYS.isdisjoint(imports.packages):
        return False, False
    packages = {imports[name].partition(".")[0] for name in info.names if name in imports}
    return not _ARRAYS.isdisjoint(packages), "torch" in packages
