"""What the analysis of one file holds the expressions of a line to be: plain data, for reports and editors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.finding import Place, TraceStep
from devlint.pipeline.stages.display_paths import display_names
from devlint.pipeline.stages.parsing import parse
from devlint.records import dataclass
from devlint.source.decoding import Unreadable
from devlint.source.gate import Refusal

if TYPE_CHECKING:
    import libcst as cst

    from devlint.pipeline.task import FileTask
    from devlint.placement.domain.scope import Scope
    from devlint.placement.explanation.causes import Reason, Reasons
    from devlint.placement.explanation.recording import Evaluated
    from devlint.placement.syntax.positions import Positions
    from devlint.source.tree import Tree


@dataclass(frozen=True, slots=True)
class WhyUnknown:
    """One link of the chain from an unknown value to what could not be known."""

    cause: str
    """The name of the cause: ``library-function``; ``follows`` for all links but the last."""
    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class Explained:
    """One expression: what it is held to be, how it got to its device, and why no more is known."""

    place: Place
    text: str
    kind: str
    words: str
    device: str | None
    convention: str
    trace: tuple[TraceStep, ...]
    unknown: tuple[WhyUnknown, ...]


class NotExplained(Exception):
    """The file cannot be read, or is no Python."""


@dataclass(frozen=True, slots=True)
class Record:
    """The analysis of one file, while its workspace is open."""

    evaluated: Mapping[cst.BaseExpression, Evaluated]
    assigned: Mapping[cst.BaseExpression, cst.BaseExpression]
    reasons: Reasons
    positions: Positions
    names: Callable[[str], str]
    """Puts paths that people see in the place of symbols."""


def explanations(task: FileTask, tree: Tree, line: int, column: int | None = None) -> tuple[Explained, ...]:
    """The expressions that begin on a line, in source order, the outer before the inner ones.

    With a ``column``, the expressions that it is in, the innermost first. Empty where nothing is evaluated there.
    Raises NotExplained.
    """
    with recorded(task, tree) as record:
        return explained(record, line, column)


def explained(record: Record, line: int, column: int | None = None) -> tuple[Explained, ...]:
    """What :func:`explanations` gives, of an analysis that serves several questions."""
    places = {node: record.positions.place(node) for node in record.evaluated}
    return tuple(
        _one(node, place, record)
        for node, place in _at(places, line, column)
        if _says_something(node, record.evaluated[node])
    )


def placements(record: Record) -> Iterator[tuple[Place, str]]:
    """The names that are bound to tensors and modules whose device is known, and in a word or two where they lie."""
    from devlint.placement.explanation.describing import place_words

    for target, value in record.assigned.items():
        evaluated = record.evaluated.get(value)
        words = place_words(evaluated.value) if evaluated is not None else None
        if words is not None:
            yield record.positions.place(target), words


@contextmanager
def recorded(task: FileTask, tree: Tree) -> Iterator[Record]:
    """The analysis of a file with the value of each of its expressions. Raises NotExplained."""
    from devlint.pipeline.stages.reading import read
    from devlint.pipeline.workspaces import Workspaces
    from devlint.placement.declarations.index import index_file
    from devlint.placement.evaluation.handlers import HANDLERS
    from devlint.placement.explanation.causes import Reasons
    from devlint.placement.explanation.recording import Recorder
    from devlint.placement.project.module_analysis import ModuleAnalysis
    from devlint.placement.syntax.positions import Positions
    from devlint.source.lazy_parser import LazyParser
    from devlint.source.source_file import read_source

    try:
        text = read_source(task.path, read(task, tree)).text
    except Unreadable as error:
        raise NotExplained(error.message) from None
    parsed = parse(text, task.in_project)
    if parsed.blocked and parsed.refusal is not None:
        raise NotExplained(parsed.refusal.message)
    parser = LazyParser(text, None)
    module = parser.skeleton()
    if isinstance(module, Refusal):
        raise NotExplained(module.message)
    recorder, index = Recorder(), index_file(module)
    handlers = recorder.handlers(HANDLERS)
    with Workspaces(task, tree, None).open(bare=False) as project:
        analysis = ModuleAnalysis(
            module, task.shown_as, parsed.role, project, Path(task.path), index, handlers=handlers
        )
        project.enter(analysis)
        for _ in analysis.events():
            pass
        positions = Positions(parser.parsed, task.shown_as, project.parts)
        reasons = Reasons(recorder, analysis)
        yield Record(recorder.evaluated, recorder.assigned, reasons, positions, display_names(task))


def _at(
    places: dict[cst.BaseExpression, Place], line: int, column: int | None
) -> list[tuple[cst.BaseExpression, Place]]:
    if column is None:
        found = [(node, place) for node, place in places.items() if place.line == line]
        return sorted(found, key=lambda one: (one[1].column, -one[1].end_line, -one[1].end_column))
    at = (line, column)
    inside = [
        (node, place)
        for node, place in places.items()
        if (place.line, place.column) <= at < (place.end_line, place.end_column)
    ]
    return sorted(inside, key=lambda one: (-one[1].line, -one[1].column, one[1].end_line, one[1].end_column))


def _says_something(node: cst.BaseExpression, evaluated: Evaluated) -> bool:
    """Whether an expression is worth a line: not what its own text says."""
    import libcst as cst

    from devlint.placement.domain.abstract_values import ClassValue, Constant, Function, ProjectModule, Reference, Self

    if isinstance(evaluated.value, Constant):
        return isinstance(node, (cst.Name, cst.Attribute))
    return not isinstance(evaluated.value, (ClassValue, Function, ProjectModule, Reference, Self))


def _one(node: cst.BaseExpression, place: Place, record: Record) -> Explained:
    from devlint.drafts.trace import draft_step, provenance_of
    from devlint.placement.explanation.describing import described
    from devlint.placement.syntax.nodes import code_of

    evaluated = record.evaluated[node]
    told = described(evaluated.value)
    steps = tuple(reversed(tuple(provenance_of(evaluated.value) or ())))
    trace = (draft_step(step) for step in steps)
    return Explained(
        place,
        code_of(node),
        told.kind,
        told.words,
        told.device,
        told.convention,
        tuple(
            TraceStep(_place(step.node, step.scope, record), step.message, step.device, begins=not step.passes_on)
            for step in trace
        ),
        tuple(_why(reason, evaluated.scope, record) for reason in record.reasons.of(node)),
    )


def _why(reason: Reason, scope: Scope, record: Record) -> WhyUnknown:
    from devlint.placement.syntax.nodes import code_of

    told = f"`{reason.subject}`: {reason.cause.value}"
    if reason.source is not None:
        told = f"`{reason.subject}` comes from `{code_of(reason.source)}`"
    return WhyUnknown(reason.cause.label, told, _place(reason.node, scope, record))


def _place(node: cst.CSTNode, scope: Scope, record: Record) -> Place:
    place = record.positions.place(node, scope.path)
    return replace(place, path=record.names(place.path))
