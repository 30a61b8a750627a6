"""A pytest plugin: which lines the tests ran, and which of them in a lifted call; old names for old programs.

It is loaded into the project's own interpreter, and told by a file that ``DEVLINT_REACHING`` names:

    {"file": PATH, "lines": [..], "names": [..], "absent": [..], "seconds": N, "enough": N, "out": PATH}

``out`` then has ``{"ran": [tests], "lifted": [tests], "passed": N, "failed": N, "stopped": WHY}``. The run is over when
``enough`` tests came to a line in a lifted call, or when the time is up; the test that runs then comes to its end.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import threading
import time
import types
from collections.abc import Generator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

_VERSION = "99.0.0"
"""What a project that is not installed says of its version."""


class Absent(types.ModuleType):
    """A package that is not had: what it holds are classes, which nobody can make."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def refuse(self: Any, *arguments: Any, **named: Any) -> None:
            pytest.skip(f"{self.__module__} is not installed")

        found = type(name, (), {"__init__": refuse, "__module__": self.__name__})
        setattr(self, name, found)
        return found


class AbsentFinder(MetaPathFinder, Loader):
    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] in self._names:
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return Absent(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__version__ = _VERSION  # type: ignore[attr-defined]


class Reaching:
    """Watches the lines of one file, by ``sys.settrace``, while tests run."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._file = os.path.realpath(told["file"])
        self._lines = frozenset(told["lines"])
        self._enough, self._seconds, self._out = told["enough"], told["seconds"], told["out"]
        self._known: dict[str, bool] = {}
        self._test = ""
        self._ran: dict[str, None] = {}
        self._lifted: dict[str, None] = {}
        self._states = {"passed": 0, "failed": 0, "skipped": 0}
        self._stopped = ""
        self._start = time.monotonic()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        self._test = item.nodeid
        before, threads_before = sys.gettrace(), threading.gettrace()
        threading.settrace(self._on_call)
        sys.settrace(self._on_call)
        try:
            result = yield
        finally:
            sys.settrace(before)
            threading.settrace(threads_before)  # type: ignore[arg-type]
        if len(self._lifted) >= self._enough:
            self._stopped = f"{self._enough} tests came there"
        elif time.monotonic() - self._start > self._seconds:
            self._stopped = "the time was up"
        if self._stopped:
            item.session.shouldstop = self._stopped
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._states[report.outcome] += 1
        self._write()  # a run that is ended by its time limit has told what it came to

    def pytest_sessionfinish(self) -> None:
        self._write()

    def _write(self) -> None:
        told = {"ran": list(self._ran), "lifted": list(self._lifted), "stopped": self._stopped, **self._states}
        Path(self._out).write_text(json.dumps(told), encoding="utf-8")

    def _on_call(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = os.path.realpath(name) == self._file
        return self._on_line if known else None

    def _on_line(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "line" and frame.f_lineno in self._lines:
            self._ran[self._test] = None
            import torch

            # Only the simulated machine has a device, and only a lifted call is on it.
            if torch.cuda.is_available():
                self._lifted[self._test] = None
        return self._on_line


def _old_names() -> None:
    """Names that old programs use and newer libraries lack, for what stayed what it was."""
    import numpy

    for name, kind in {"bool": bool, "int": int, "float": float, "object": object, "complex": complex}.items():
        if name not in vars(numpy):
            setattr(numpy, name, kind)
    import collections
    import collections.abc

    for name in ("Iterable", "Mapping", "Sequence", "Callable", "OrderedDict", "MutableMapping", "Hashable"):
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))


def _versions_of(names: list[str]) -> None:
    """The tree that is tested is nowhere installed, and asks for its version all the same."""
    true = importlib.metadata.version

    def version(name: str) -> str:
        try:
            return true(name)
        except importlib.metadata.PackageNotFoundError:
            if name.replace("_", "-").lower() in names:
                return _VERSION
            raise

    importlib.metadata.version = version


_TOLD: dict[str, Any] = json.loads(Path(os.environ["DEVLINT_REACHING"]).read_text("utf-8"))

# Here and not in a hook, for the project's conftest.py is imported before the first hook runs.
sys.meta_path.append(AbsentFinder(_TOLD["absent"]))
_versions_of(_TOLD["names"])
_old_names()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Reaching(_TOLD), "devlint-reaching")
