"""What devlint's own analysis holds each parameter and result to be, as an engine of kinds.py.

    python tests/benchmarks/kinds.py --engine devlint --files 25

It is the analysis that the rules read: the value a parameter is bound to when the walk of its definition begins, and
the value that a call of the definition gives. A kind by convention is a claim as well as a certain one; the table has a
second line for the certain ones alone. A value of which nothing but its place is known is none.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from typed.annotation import Kind
from typed.checkers import written
from typed.definitions import Place
from typed.engine import Engine

from devlint.configuration.config import Configuration, Overrides
from devlint.pipeline.deep_stack import deep_stack
from devlint.pipeline.planning import Planner
from devlint.pipeline.stages.parsing import parse
from devlint.pipeline.task import FileTask
from devlint.pipeline.workspaces import Workspaces
from devlint.placement.declarations.index import index_file
from devlint.placement.domain.abstract_values import (
    Constant,
    Container,
    DeviceName,
    Evidence,
    Host,
    Module,
    Opaque,
    Self,
    Tensor,
    Truth,
    Value,
)
from devlint.placement.domain.events import Begun
from devlint.placement.project.module_analysis import ModuleAnalysis
from devlint.source.bare.lazy_parser import BareLazyParser
from devlint.source.bare.nodes import NeedsLayout, reading_bare_nodes
from devlint.source.tree import WorkingTree


class Devlint:
    """The first pass over each file, with the whole release around it."""

    name = "devlint"
    certain: frozenset[Place] = frozenset()
    """The places of the last answer where the claim rests on no convention."""

    def infer(self, files: Mapping[str, str], asked: Collection[str]) -> Mapping[Place, Kind]:
        with tempfile.TemporaryDirectory(prefix="devlint-kinds-") as name:
            directory = Path(name).resolve()
            written(files, directory)
            found = claims(directory, asked)
        self.certain = frozenset(place for place, (_, certain) in found.items() if certain)
        return {place: kind for place, (kind, _) in found.items()}


def engines() -> list[Engine]:
    return [Devlint()]


def claims(directory: Path, asked: Iterable[str]) -> dict[Place, tuple[Kind, bool]]:
    """What the files of a directory hold, by paths relative to it, and whether that is certain."""
    found: dict[Place, tuple[Kind, bool]] = {}

    def walk() -> None:
        planner = Planner(Configuration(Overrides({}, None, isolated=True), directory), directory, ignore_noqa=True)
        tree = WorkingTree()
        for path in sorted(asked):
            task = planner.task(str(directory / path))
            for qualname, name, value in values(task, Workspaces(task, tree, None)):
                kind = kind_of_value(value)
                if kind is not None:
                    found[Place(path, qualname, name)] = kind, is_certain(value)

    with deep_stack(walk) as thread:
        thread.join()
    return found


def values(task: FileTask, workspaces: Workspaces) -> Iterator[tuple[str, str, Value]]:
    """Every parameter and result of a file, with the qualified name of its definition."""
    text = Path(task.path).read_text(encoding="utf-8")
    parsed = parse(text, task.in_project)
    if parsed.tree is None or parsed.outline is None:
        return
    bare = BareLazyParser(text, parsed.tree, parsed.outline, keeps=True)
    index = index_file(bare.skeleton(), parsed.outline, bare.definition)
    try:
        with reading_bare_nodes(), workspaces.open() as project:
            analysis = ModuleAnalysis(bare.skeleton(), task.shown_as, parsed.role, project, Path(task.path), index)
            project.enter(analysis)
            begun = [event for event in analysis.events() if isinstance(event, Begun)]
            for event in begun:
                for name, value in event.arguments:
                    yield event.scope.qualname, name, value
            for info in list(analysis.index.functions.values()):
                result = analysis.summary(info) if info.is_definition else None
                if result is not None:
                    yield info.qualname, "return", result
            analysis.dissolve()
    except NeedsLayout:
        return


def kind_of_value(value: Value | None) -> Kind | None:
    """None where the analysis claims nothing."""
    match value:
        case Tensor():
            return "tensor"
        case Opaque(tensorlike=True):
            return "tensor"
        case Module():
            return "module"
        case Self() if value.info.is_module:
            return "module"
        case DeviceName():
            return "host" if value.is_type else "device"
        case Constant(value=None):
            return None
        case Constant() | Host() | Truth():
            return "host"
        case Container():
            return _of_items([*value.items, *([value.rest] if value.rest is not None else [])])
    return None


def _of_items(items: list[Value]) -> Kind | None:
    kinds = {kind_of_value(item) for item in items if item != Constant(None)}
    if not kinds or None in kinds:
        return None
    if kinds <= {"tensor", "tensors"}:
        return "tensors"
    return "host" if kinds == {"host"} else "mixed"


def is_certain(value: Value | None) -> bool:
    """Whether no convention had a part in what a value is held to be."""
    match value:
        case Tensor():
            return value.evidence is Evidence.CERTAIN
        case Opaque():
            return False
        case Module():
            return not value.assumed and not any(step.note for step in value.provenance or ())
        case Container():
            return all(map(is_certain, [*value.items, *([value.rest] if value.rest is not None else [])]))
    return True
