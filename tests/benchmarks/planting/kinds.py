"""All kinds of mutants, and the candidates of a release."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from planting import across, creating, moving, state
from planting.mutant import Mutant
from planting.source import File, Scope
from planting.stranded import Flow

OF_FUNCTIONS: tuple[Callable[[File, Scope, Flow], Iterator[Mutant]], ...] = (
    creating.device_dropped,
    creating.index_written,
    creating.accelerator_named,
    creating.map_location_dropped,
    creating.cpu_dropped,
    moving.dropped,
    moving.discarded,
    moving.forgotten,
)
OF_CLASSES: tuple[Callable[[File, Scope, tuple[Scope, ...]], Iterator[Mutant]], ...] = (
    state.unregistered,
    state.plain_list,
)
KINDS = (
    "drop-device", "index", "load", "numpy", "drop-move", "discard", "forget", "label", "unregister", "plain-list",
    "far-cpu", "far-device", "name",
)  # fmt: skip
DRAWN = KINDS[:-1]
"""The kinds of a draw that asks for none: those of the first one, so that a seed draws the same again."""

_INTERESTING = re.compile(rb"\.to\(|\.cuda\(|device|\.cpu\(|torch\.load|register_buffer|ModuleList")
_TEST = re.compile(r"(^|/)(tests?|testing|benchmarks?|examples?)/|(^|/)(test_|conftest)[^/]*$|_test\.py$")


def candidates(release: Path, paths: list[str]) -> list[Mutant]:
    """Every mutant that the files of a release offer; ``paths`` are relative to it. Tests offer none."""
    found: list[Mutant] = []
    helpers: list[across.Helper] = []
    exports: dict[tuple[str, str], tuple[str, str]] = {}
    paths = [path for path in paths if path.endswith(".py") and not _TEST.search(path)]
    for path in paths:
        data = (release / path).read_bytes()
        is_package = path.endswith("__init__.py")
        if b"torch" not in data and not is_package:
            continue
        file = File.of(path, data)
        if file is not None:
            exports |= across.exports(file)
            helpers += across.helpers(file)
            if _INTERESTING.search(data):
                found += of_file(file)
    return found + _far(release, paths, helpers, exports)


def of_file(file: File) -> Iterator[Mutant]:
    """The mutants whose bug the file itself shows."""
    methods: dict[int, list[Scope]] = {}
    scopes = list(file.scopes())
    for scope in scopes:
        if scope.owner is not None:
            methods.setdefault(id(scope.owner), []).append(scope)
    for scope in scopes:
        flow = Flow(file, scope)
        for of_function in OF_FUNCTIONS:
            yield from of_function(file, scope, flow)
        if scope.owner is not None:
            for of_class in OF_CLASSES:
                yield from of_class(file, scope, tuple(methods[id(scope.owner)]))


def _far(
    release: Path, paths: list[str], helpers: list[across.Helper], exports: dict[tuple[str, str], tuple[str, str]]
) -> list[Mutant]:
    by_name: dict[tuple[str, str], list[across.Helper]] = {}
    for helper in helpers:
        by_name.setdefault((helper.path, helper.name), []).append(helper)
    known = across.Known(by_name, exports)
    names = {helper.name.encode() for helper in helpers}
    found: list[Mutant] = []
    for path in paths:
        data = (release / path).read_bytes()
        if names.isdisjoint(re.findall(rb"\w+", data)):
            continue
        file = File.of(path, data)
        if file is not None:
            found += across.callers(file, known)
    return found
