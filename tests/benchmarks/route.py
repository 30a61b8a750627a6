"""The route of one file through devlint's modules, from ``analyse_file`` to its report.

    python tests/benchmarks/route.py                     a fixture that has findings
    python tests/benchmarks/route.py FILE --root DIR     a file of a project

It tells how many modules the analysis enters, and how often control *climbs*: comes back from a lower layer into a
function of a higher one that then calls another module. A *callback* is a call from a lower layer into a higher one.
Layers are those of the import contract in ``pyproject.toml``. A call that is written once counts once, however often
it runs. Constructors that ``dataclass`` makes are no entry.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from devlint.configuration.codes import all_codes
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.task import FileReport, FileTask, Gate
from devlint.source.modules import package_of
from devlint.source.tree import WorkingTree

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "fixtures" / "projects" / "helpers" / "pkg" / "model.py"


@dataclass(slots=True)
class _Frame:
    """A running function of devlint."""

    code: CodeType
    module: str
    came_from: CodeType | None = None
    """The function of a lower layer that returned here last, if nothing was called since."""


@dataclass(slots=True)
class Route:
    """What was met on the way of one file. ``layers`` are prefixes of module names, the highest first."""

    layers: list[list[str]]
    entered: list[str] = field(default_factory=list)
    """Modules, in the order in which they were entered first."""
    climbs: dict[tuple[CodeType, CodeType], tuple[str, str]] = field(default_factory=dict)
    """Function that returned and function that went on, with their modules."""
    callbacks: dict[tuple[CodeType, CodeType], tuple[str, str]] = field(default_factory=dict)
    """Function of a lower layer and function of a higher one that it called, with their modules."""
    visits: list[str] = field(default_factory=list)
    """The modules of the pipeline one after the other, each time control changes from one to another."""
    _stack: list[_Frame] = field(default_factory=list)
    _rank: dict[str, int] = field(default_factory=dict)

    def rank(self, module: str) -> int:
        """The number of a module's layer, 0 for the highest; modules of no layer stand above all."""
        if module not in self._rank:
            found = [
                (len(prefix), number)
                for number, layer in enumerate(self.layers)
                for prefix in layer
                if f"{module}.".startswith(f"{prefix}.")
            ]
            self._rank[module] = max(found)[1] if found else -1
        return self._rank[module]

    def profile(self, frame: FrameType, event: str, _: Any) -> None:
        """For :func:`sys.setprofile`."""
        module = str(frame.f_globals.get("__name__", ""))
        code = frame.f_code
        if not module.startswith("devlint.") or code.co_filename == "<string>" or code.co_name == "<module>":
            return
        if event == "call":
            self._call(code, module)
        elif event == "return" and self._stack and self._stack[-1].code is code:
            self._return()

    def _call(self, code: CodeType, module: str) -> None:
        if self._stack and (caller := self._stack[-1]).module != module and caller.came_from is not None:
            came_from = caller.came_from
            self.climbs.setdefault((came_from, caller.code), (_module_of(came_from), caller.module))
            caller.came_from = None
        if self._stack and self.rank(module) < self.rank(self._stack[-1].module):
            caller = self._stack[-1]
            self.callbacks.setdefault((caller.code, code), (caller.module, module))
        if module not in self.entered:
            self.entered.append(module)
        self._visit(module)
        self._stack.append(_Frame(code, module))

    def _return(self) -> None:
        left = self._stack.pop()
        if self._stack:
            caller = self._stack[-1]
            self._visit(caller.module)
            if self.rank(left.module) > self.rank(caller.module):
                caller.came_from = left.code

    def _visit(self, module: str) -> None:
        if module.startswith("devlint.pipeline.") and self.visits[-1:] != [module]:
            self.visits.append(module)


def _module_of(code: CodeType) -> str:
    return ".".join(Path(code.co_filename).relative_to(ROOT).with_suffix("").parts)


def layers() -> list[list[str]]:
    """The layers of the import contract, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    contract = next(one for one in contracts if one["type"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def follow(file: Path, root: Path) -> tuple[Route, FileReport]:
    """The route of a file. It is analysed once before, so that no import is on the way."""
    name = file.relative_to(root).as_posix()
    task = FileTask(str(file), name, name, name, Gate(frozenset(all_codes())), cwd=str(root), recorded=True)
    analyse_file(task, WorkingTree())
    tree, route = WorkingTree(), Route(layers())
    sys.setprofile(route.profile)
    try:
        report = analyse_file(task, tree)
    finally:
        sys.setprofile(None)
    return route, report


def lines(route: Route, report: FileReport) -> Iterator[str]:
    """What is printed."""
    yield f"{report.shown_as}: {len(report.findings)} findings"
    by_layer = Counter(".".join(module.split(".")[:2]) for module in route.entered)
    yield f"modules entered: {len(route.entered)}"
    yield from (f"  {layer:24} {count}" for layer, count in by_layer.items())
    into = Counter(".".join(upper.split(".")[:2]) for _, upper in route.climbs.values())
    yield f"climbs: {len(route.climbs)}"
    yield from (f"  into {layer:19} {count}" for layer, count in into.items())
    for lower, upper in dict.fromkeys(pair for pair in route.climbs.values() if "pipeline" in pair[1]):
        yield f"    {lower} -> {upper}"
    yield f"callbacks from a lower layer: {len(route.callbacks)}"
    yield from (f"    {lower} -> {upper}" for lower, upper in dict.fromkeys(route.callbacks.values()))
    yield f"changes between modules of the pipeline: {len(route.visits) - 1}"
    yield "  " + " > ".join(module.removeprefix("devlint.pipeline.") for module in route.visits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=FIXTURE)
    parser.add_argument("--root", type=Path, help="the project's directory (default: that of the package around)")
    arguments = parser.parse_args()
    file = arguments.file.resolve()
    root = arguments.root.resolve() if arguments.root is not None else (package_of(file) or file).parent
    print(*lines(*follow(file, root)), sep="\n")


if __name__ == "__main__":
    main()
