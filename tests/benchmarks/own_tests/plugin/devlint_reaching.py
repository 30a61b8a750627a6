"""A pytest plugin: which statements the tests ran, and which of them in a lifted call; old names for old programs.

It is loaded into the project's own interpreter, and told by a file that ``DEVLINT_REACHING`` names:

    {"watched": {PATH: [lines]}, "names": [..], "absent": [..], "words": [..], "seconds": N, "enough": N, "out": PATH}

``out`` then has ``{"ran": [tests], "lifted": [tests], "broken": [tests], "at": {"PATH:LINE": [N, N]}, "passed": N, ...,
"stopped": WHY}``; broken are those that came to a line and fail by themselves, ``at`` says how many tests came to each
line, and how many in a lifted call. The run is over when ``enough`` tests came to one when lifted,
when a few did and devlint has seen something there, or when the time is up (of the processor: a machine with much else
to do changes nothing); the test that runs then comes to its end.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib.metadata
import importlib.util
import json
import os
import signal
import sys
import time
import types
from collections.abc import Generator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any, ClassVar

import pytest

_LONGEST_TEST = 30.0
"""Seconds that a test may take longer than there is time; then it is interrupted, and what was seen is told."""

_FEW = 3
"""Tests that come to a line at which devlint sees something: more would see the same."""

_VERSION = "99.0.0"
"""What a project that is not installed says of its version."""


class Nobodys(type):
    """Of classes that are not had: whatever is asked of one is another."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _class_of(cls.__module__, name)


def _class_of(module: str, name: str) -> type:
    def refuse(self: Any, *arguments: Any, **named: Any) -> None:
        pytest.skip(f"{module} is not installed")

    return Nobodys(name, (), {"__init__": refuse, "__module__": module})


class Absent(types.ModuleType):
    """A package that is not had: what it holds are classes, of which nobody can make one."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _class_of(self.__name__, name)


class AbsentFinder(MetaPathFinder, Loader):
    """The packages that are not had, also where another one brought them along in a build for another torch."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in self._names:
            return None
        if _is_ready_for_none(sys._getframe(1)):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return Absent(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__version__ = module.version = _VERSION  # type: ignore[attr-defined]


class VersionFinder(AbsentFinder):
    """The module with the version that a build of the project would have made."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        is_version = name.rpartition(".")[2] in ("version", "_version")
        return ModuleSpec(name, self, is_package=True) if is_version else None


def _is_ready_for_none(frame: types.FrameType | None) -> bool:
    """Whether the import that runs stands in a ``try`` that knows what to do without the package."""
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None:
        return False
    return any(start <= frame.f_lineno <= end for start, end in _ready_lines(frame.f_code.co_filename))


@functools.cache
def _ready_lines(file: str) -> tuple[tuple[int, int], ...]:
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()
    tried = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and any(map(_is_for_imports, node.handlers))]
    return tuple((node.lineno, node.handlers[0].lineno - 1) for node in tried)


def _raises(node: ast.AST) -> bool:
    """Whether it raises itself, not in what it defines."""
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    return any(isinstance(n, ast.Raise) or _raises(n) for n in ast.iter_child_nodes(node) if not isinstance(n, defined))


def _is_for_imports(handler: ast.ExceptHandler) -> bool:
    said = "" if handler.type is None else ast.unparse(handler.type)
    return not _raises(handler) and (
        not said or any(name in said for name in ("ImportError", "ModuleNotFoundError", "Exception"))
    )


class Reaching:
    """Told by the program itself when one of its statements runs: a call stands before each when its file is compiled.

    Tracing would tell as well, and take as long as the tests.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self._words: list[str] = told["words"]
        self._enough, self._seconds, self._out = told["enough"], told["seconds"], told["out"]
        self._watched = {
            f"{os.path.realpath(file)}:{line}" for file, lines in told["watched"].items() for line in lines
        }
        self._at: dict[str, tuple[set[str], set[str]]] = {}
        self._test = ""
        self._ran: dict[str, None] = {}
        self._lifted: dict[str, None] = {}
        self._broken: dict[str, None] = {}
        self._states = {"passed": 0, "failed": 0, "skipped": 0}
        self._stopped = ""
        self._start = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        self._test = item.nodeid
        if not self._start:
            self._start = time.process_time()
            signal.signal(signal.SIGPROF, self._interrupt)
            signal.setitimer(signal.ITIMER_PROF, self._seconds + _LONGEST_TEST)
        result = yield
        came = len(self._lifted.keys() - self._broken.keys())  # what fails by itself shows nothing
        if came >= _FEW and self._is_seen(item):
            self._stopped = "it is seen there"
        elif came >= self._enough:
            self._stopped = f"{self._enough} tests came there"
        elif time.process_time() - self._start > self._seconds:
            self._stopped = "the time was up"
        if self._stopped:
            item.session.shouldstop = self._stopped
        return result

    def _is_seen(self, item: pytest.Item) -> bool:
        """Whether devlint has seen something at one of the lines, or of a value that was made there."""
        lifting = item.config.pluginmanager.getplugin("devlint-lifting")
        for observation, _ in lifting._seen.values() if lifting is not None else ():
            spots = [*observation.spots[:1], *(operand.born for operand in observation.operands if operand.born)]
            is_there = any(f"{os.path.realpath(spot.path)}:{spot.line}" in self._watched for spot in spots)
            if is_there and observation.kind != "host-sync":
                return True
        return False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """First the tests that name what has the bug, by their own name or in what they call."""
        items.sort(key=lambda item: -self._rank(item))

    def _rank(self, item: pytest.Item) -> int:
        function = getattr(item, "function", None)
        names = getattr(getattr(function, "__code__", None), "co_names", ())
        own = item.nodeid.rpartition("::")[2].lower()
        return sum(2 * (word in names) + (word.strip("_").lower() in own) for word in self._words)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._states[report.outcome] += 1
        if report.failed and report.nodeid in self._ran:
            self._broken[report.nodeid] = None
        self._write()  # a run that is ended by its time limit has told what it came to

    def pytest_sessionfinish(self) -> None:
        self._write()

    def _write(self) -> None:
        told: dict[str, Any] = {"ran": list(self._ran), "lifted": list(self._lifted), "broken": list(self._broken)}
        told |= {"at": {spot: [len(ran), len(lifted)] for spot, (ran, lifted) in self._at.items()}}
        told |= {"stopped": self._stopped, **self._states}
        Path(self._out).write_text(json.dumps(told), encoding="utf-8")

    def _interrupt(self, number: int, frame: Any) -> None:
        self._stopped = "a test did not end"
        raise KeyboardInterrupt

    def reached(self, spot: str) -> None:
        """A statement that matters is about to run."""
        self._ran[self._test] = None
        ran, lifted = self._at.setdefault(spot, (set(), set()))
        ran.add(self._test)
        import torch

        # Only the simulated machine has a device, and only a lifted call is on it.
        if torch.cuda.is_available() or torch.xpu.is_available() or torch.backends.mps.is_available():
            self._lifted[self._test] = None
            lifted.add(self._test)


class Telling(ast.NodeTransformer):
    """Puts a call before each statement that begins on one of some lines.

    Where such a statement chooses between a value that it makes and one that is there (`zeros(3) if x is None else x`),
    what it makes is what it is reached for, and the call stands there.
    """

    def __init__(self, file: str, lines: frozenset[int]) -> None:
        self._file, self._lines = file, lines

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [each for statement in statements for each in self._with_call(statement)])
        return node

    def _with_call(self, statement: ast.AST) -> list[ast.AST]:
        if not isinstance(statement, ast.stmt) or statement.lineno not in self._lines:
            return [statement]
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            return [statement]
        told = ast.Constant(f"{self._file}:{statement.lineno}")
        arms = Arms(told)
        if not isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef)):
            arms.visit(statement)
        if arms.found:
            return [ast.fix_missing_locations(statement)]
        call = ast.Expr(ast.Call(ast.Name(_TELL, ast.Load()), [told], []))
        ast.copy_location(call, statement)
        return [ast.fix_missing_locations(call), statement]


class Arms(ast.NodeTransformer):
    """Puts the call into the arm of a conditional expression that makes a value where the other names one."""

    def __init__(self, told: ast.Constant) -> None:
        self._told = told
        self.found = False

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        made = [
            name for name in ("body", "orelse") if any(isinstance(n, ast.Call) for n in ast.walk(getattr(node, name)))
        ]
        if len(made) == 1:
            self.found = True
            arm = getattr(node, made[0])
            call = ast.Call(ast.Name(_TELL, ast.Load()), [self._told], [])
            pair = ast.Subscript(ast.Tuple([call, arm], ast.Load()), ast.Constant(1), ast.Load())
            setattr(node, made[0], ast.copy_location(pair, arm))
        return node


_TELL = "__devlint_reached__"


def _compile_with_calls(watched: dict[str, list[int]]) -> None:
    """The next import of these files makes them tell of their lines."""
    wanted = {os.path.realpath(file): frozenset(lines) for file, lines in watched.items()}
    for file in watched:
        Path(importlib.util.cache_from_source(file)).unlink(missing_ok=True)
    true = SourceFileLoader.source_to_code

    def source_to_code(self: SourceFileLoader, data: Any, path: Any, **options: Any) -> Any:
        file = os.path.realpath(os.fsdecode(path))
        if isinstance(data, bytes) and file in wanted:
            data = Telling(file, wanted[file]).visit(ast.parse(data))
        return true(self, data, path, **options)

    SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign, assignment]


def _old_names() -> None:
    """Names that old programs use and newer libraries lack, for what stayed what it was."""
    import numpy

    for name, kind in {"bool": bool, "int": int, "float": float, "object": object, "complex": complex}.items():
        if name not in vars(numpy):
            setattr(numpy, name, kind)
    for name, instead in {"in1d": "isin", "product": "prod", "trapz": "trapezoid", "row_stack": "vstack"}.items():
        if not hasattr(numpy, name):
            setattr(numpy, name, getattr(numpy, instead))
    import collections
    import collections.abc

    for name in ("Iterable", "Mapping", "Sequence", "Callable", "OrderedDict", "MutableMapping", "Hashable"):
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))

    import torch.utils.data.dataset as of_torch

    for name in ("T_co", "T"):
        if not hasattr(of_torch, name):
            setattr(of_torch, name, getattr(of_torch, f"_{name}", None))
    if importlib.util.find_spec("torch._six") is None:
        six = sys.modules["torch._six"] = types.ModuleType("torch._six")
        vars(six).update(
            inf=float("inf"),
            nan=float("nan"),
            string_classes=(str, bytes),
            int_classes=int,
            container_abcs=collections.abc,
        )
    with contextlib.suppress(ImportError):
        import sklearn.utils

        if not hasattr(sklearn.utils, "safe_indexing"):
            sklearn.utils.safe_indexing = sklearn.utils._safe_indexing


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
sys.meta_path.insert(0, AbsentFinder(_TOLD["absent"]))
sys.meta_path.append(VersionFinder([]))
_versions_of(_TOLD["names"])
_old_names()


_REACHING = Reaching(_TOLD)
setattr(builtins, _TELL, _REACHING.reached)
_compile_with_calls(_TOLD["watched"])


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_REACHING, "devlint-reaching")
