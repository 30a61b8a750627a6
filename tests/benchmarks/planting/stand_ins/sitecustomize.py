"""Libraries that a release imports and that are not installed: they can be imported, and do nothing.

Python reads this file when it starts with this directory on ``PYTHONPATH``. A class may derive from a stand-in and a
function may be decorated with one; a result of one is a stand-in again, which no computation accepts.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from types import ModuleType
from typing import Any


class _Kind(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        if cls is not StandIn:
            return super().__call__(*arguments, **keywords)
        decorated = len(arguments) == 1 and not keywords and callable(arguments[0])
        return arguments[0] if decorated else StandIn


class StandIn(metaclass=_Kind):
    """Anything of a library that is not there."""


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked last: of packages that nothing else finds. What a package that is there lacks is missing as ever."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        known = sys.modules.get(top)
        if "." in name and not isinstance(known, _Module):
            return None
        if top in sys.stdlib_module_names or top in _ASKED_FOR or top.startswith("_"):
            return None
        # A library that saw a stand-in for the package believes that all of it is there.
        if not isinstance(known, _Module) and _is_asked_by_a_library():
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None


def _is_asked_by_a_library() -> bool:
    """Whether what is installed, or Python itself, asks: for what it can do without."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return "site-packages" in frame.f_code.co_filename or frame.f_code.co_filename.startswith(_LIBRARY)


_LIBRARY = os.path.dirname(os.__file__)
_ASKED_FOR = frozenset("usercustomize numpy scipy torch_xla torch_npu apex triton intel_extension_for_pytorch".split())
"""Libraries that programs ask for to find out whether they are there."""

sys.meta_path.append(Finder())
